"""Remembers releases, so that a gate finds those that were read before it.

It keeps only a few per queue. A forgotten release costs no safety, only one more decision of the
engine, which repeats the add with a shorter list.
"""

from fairlead_client.model import Holder, Position, Queue
from fairlead_client.session.records import Release

PER_QUEUE_MAX = 8
RELEASES_MAX = 40_000
"""For all queues together, twice the queues of a large group. Others may write handovers with any
names, and 40,000 of the longest names take about 40 MB."""


class SeenReleases:
    """Releases by queue and holder. A release stays true for ever."""

    def __init__(self) -> None:
        self._queues: dict[Queue, dict[Holder, Position | None]] = {}
        self._releases = 0

    def remember(self, release: Release) -> None:
        """Keep the release; of two for one holder, keep the greater position."""
        holders = self._queues.pop(release.queue, {})
        self._releases -= len(holders)
        known = holders.pop(release.holder, None)
        position = release.position
        if known is not None and (position is None or known > position):
            position = known
        holders[release.holder] = position
        if len(holders) > PER_QUEUE_MAX:
            del holders[next(iter(holders))]
        # This moves the queue to the end: the dict is in the order of the last releases.
        self._queues[release.queue] = holders
        self._releases += len(holders)
        while self._releases > RELEASES_MAX:
            self._releases -= len(self._queues.pop(next(iter(self._queues))))

    def find(self, queue: Queue, holder: Holder) -> tuple[bool, Position | None]:
        """Return whether the client has read this holder's release, and its position."""
        holders = self._queues.get(queue, {})
        return (holder in holders, holders.get(holder))
