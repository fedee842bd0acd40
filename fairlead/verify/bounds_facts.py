"""What is known of where a queue begins and ends, by bridges and by those who read it."""

from dataclasses import dataclass, field
from typing import Final

from fairlead.core.records import QueueOffsets
from fairlead.wire.raw import RawRecord

__all__ = ["BoundsFacts"]

_TOLD_MAX: Final = 200
"""So many different offsets of a queue are remembered."""


@dataclass(slots=True)
class BoundsFacts:
    """The bounds of one queue.

    Attributes:
        row: the newest record of a bridge; None: only clients told.
        told: every offset that a bridge told: bounds, what was committed, what a time has.
        first: the first offset that is kept, by the newest record; messages before it are gone.
        end: the greatest end that anybody told.
        told_ms: when that was told last, by append time; the queue may have grown since.
    """

    row: RawRecord | None = None
    told: set[int] = field(default_factory=set)
    first: int = 0
    end: int | None = None
    told_ms: int = 0

    def tell(self, entry: QueueOffsets, row: RawRecord) -> None:
        """Take in what a bridge says."""
        self.row, self.first = row, max(self.first, entry.min_offset)
        self.grow(entry.max_offset, row)
        if len(self.told) < _TOLD_MAX:
            self.told |= {entry.min_offset, entry.max_offset}
            self.told |= {entry.committed.offset} if entry.committed is not None else set()
            self.told |= {entry.for_time[1]} if entry.for_time is not None else set()

    def grow(self, end: int, row: RawRecord) -> None:
        """Somebody says that the queue reaches up to here."""
        self.told_ms = max(self.told_ms, row.append_ms)
        self.end = end if self.end is None else max(self.end, end)
