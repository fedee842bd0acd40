"""Remembers releases that were read, so that a gate which arrives later finds them.

Only a few per queue are kept: what was forgotten costs one more decision of the engine (it repeats
the add with a shorter list), never safety.
"""

from fairlead_client.model import Holder, Position, Queue
from fairlead_client.session.records import Release

PER_QUEUE_MAX = 8
RELEASES_MAX = 40_000
"""Of all queues together: twice as many as a great group has queues. Whoever may write handovers
may invent both, and 40,000 of the longest names are some 40 MB."""


class SeenReleases:
    """Releases by queue and holder. A release is a permanent fact, whoever reads it whenever."""

    def __init__(self) -> None:
        self._queues: dict[Queue, dict[Holder, Position | None]] = {}
        self._releases = 0

    def remember(self, release: Release) -> None:
        """Keep the release; of two for one holder the greater position, any over None."""
        holders = self._queues.pop(release.queue, {})
        self._releases -= len(holders)
        known = holders.pop(release.holder, None)
        position = release.position
        if known is not None and (position is None or known > position):
            position = known
        holders[release.holder] = position
        if len(holders) > PER_QUEUE_MAX:
            del holders[next(iter(holders))]
        # Taken out and put back: the order of the dict is the order of the last release read.
        self._queues[release.queue] = holders
        self._releases += len(holders)
        while self._releases > RELEASES_MAX:
            self._releases -= len(self._queues.pop(next(iter(self._queues))))

    def find(self, queue: Queue, holder: Holder) -> tuple[bool, Position | None]:
        """Whether a release of exactly this queue, incarnation and epoch was read, and where."""
        holders = self._queues.get(queue, {})
        return (holder in holders, holders.get(holder))
