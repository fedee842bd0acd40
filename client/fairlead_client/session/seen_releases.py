"""Remembers releases that were read, so that a gate which arrives later finds them.

Only a few per queue are kept: what was forgotten costs one more decision of the engine (it repeats
the add with a shorter list), never safety.
"""

from fairlead_client.model import Holder, Position, Queue
from fairlead_client.records import Release

PER_QUEUE_MAX = 8
QUEUES_MAX = 20_000


class SeenReleases:
    """Releases by queue and holder. A release is a permanent fact, whoever reads it whenever."""

    def __init__(self) -> None:
        self._queues: dict[Queue, dict[Holder, Position | None]] = {}

    def remember(self, release: Release) -> None:
        """Keep the release; of two for one holder the greater position, any over None."""
        holders = self._queues.pop(release.queue, {})
        known = holders.pop(release.holder, None)
        position = release.position
        if known is not None and (position is None or known > position):
            position = known
        holders[release.holder] = position
        if len(holders) > PER_QUEUE_MAX:
            del holders[next(iter(holders))]
        # Taken out and put back: the order of the dict is the order of the last release read.
        self._queues[release.queue] = holders
        if len(self._queues) > QUEUES_MAX:
            del self._queues[next(iter(self._queues))]

    def find(self, queue: Queue, holder: Holder) -> tuple[bool, Position | None]:
        """Whether a release of exactly this queue, incarnation and epoch was read, and where."""
        holders = self._queues.get(queue, {})
        return (holder in holders, holders.get(holder))
