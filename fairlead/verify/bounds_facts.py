"""Where a queue begins and ends, as bridges and its readers report it."""

from dataclasses import dataclass, field
from typing import Final

from fairlead.core.records import QueueOffsets
from fairlead.wire.raw import RawRecord

__all__ = ["BoundsFacts"]

_TOLD_MAX: Final = 200
"""The judge remembers this many different offsets of a queue."""


@dataclass(slots=True)
class BoundsFacts:
    """The bounds of one queue.

    Attributes:
        row: the newest record of a bridge; None: only clients reported bounds.
        told: every offset that a bridge reported: bounds, the commit, the offset of a time.
        first: the first offset that the topic still holds, by the newest record.
        end: the greatest end that anybody reported.
        told_ms: the append time of the newest report; the queue may have grown since.
    """

    row: RawRecord | None = None
    told: set[int] = field(default_factory=set)
    first: int = 0
    end: int | None = None
    told_ms: int = 0

    def learn(self, entry: QueueOffsets, row: RawRecord) -> None:
        """Add what a bridge reports."""
        self.row, self.first = row, max(self.first, entry.min_offset)
        self.grow(entry.max_offset, row)
        if len(self.told) < _TOLD_MAX:
            self.told |= {entry.min_offset, entry.max_offset}
            self.told |= {entry.committed.offset} if entry.committed is not None else set()
            self.told |= {entry.for_time[1]} if entry.for_time is not None else set()

    def grow(self, end: int, row: RawRecord) -> None:
        """Raise the known end of the queue to what a report says."""
        self.told_ms = max(self.told_ms, row.append_ms)
        self.end = end if self.end is None else max(self.end, end)
