"""Matches a sequence of written records with the blocks that a replay writes.

A block is what one cut writes to one topic partition. These sequences match: each block in order;
any beginning of a block repeatedly, since a retried batch is written from its start; and of a block
in which a driver died, any beginning or nothing.

Where others write too, a record that does not fit may be theirs.

The matcher follows all readings at once, each with its cost: the records that it counts as resent,
as unwritten, and as those of others. The cheapest one that reaches the end is the answer. Blocks
come one after the other, and the matcher forgets those that no reading can come back to.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

__all__ = ["Block", "Matched", "Mismatch", "SequenceMatcher"]

_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class Block(Generic[_Record]):
    """What one cut writes, in order. ``interrupted``: its driver died, so it may lack its end."""

    records: Sequence[_Record]
    interrupted: bool


class Matched(NamedTuple):
    """The records match; counts of resent ones, ones lost with their driver, and others'."""

    resent: int
    unwritten: int
    others: int = 0


class Mismatch(NamedTuple):
    """The records do not match: ``at`` is the first such record, or their number if some lack.

    ``block`` and ``record`` are the place of the expected record; ``block`` is the number of blocks
    if there is none.
    """

    at: int
    block: int
    record: int


class _Place(NamedTuple):
    block: int
    record: int


_Readings = dict[_Place, Matched]
_ENDED: Final = object()
_BEHIND_MAX: Final = 16
"""Where others write too, a reading so many blocks behind the furthest is given up."""


class SequenceMatcher(Generic[_Record]):
    """Matches written records with blocks that become known one after the other.

    It reads a record only when every block is known that the record may belong to.

    Args:
        written: the records.
        shared: whether others write there, too.
    """

    def __init__(self, written: Iterable[_Record], *, shared: bool = False) -> None:
        self._shared = shared
        self._written: Iterator[_Record] = iter(written)
        self._next: _Record | object = next(self._written, _ENDED)
        self._at = 0
        self._blocks: dict[int, Block[_Record]] = {}
        self._known = 0
        self._readings: _Readings = {_Place(0, 0): Matched(0, 0)}

    def expect(self, block: Block[_Record]) -> Mismatch | None:
        """Add the next block, and read on; return the first mismatch, if there is one."""
        self._blocks[self._known] = block
        self._known += 1
        self._readings = self._closed(self._readings)
        while self._next is not _ENDED and _Place(self._known, 0) not in self._readings:
            if not self._read():
                return self._mismatch()
        self._forget()
        return None

    def finish(self) -> Matched | Mismatch:
        """Read the rest: there is no further block."""
        while self._next is not _ENDED:
            if not self._read():
                return self._mismatch()
        complete = self._readings.get(_Place(self._known, 0))
        return self._mismatch() if complete is None else complete

    def rest(self) -> Iterator[_Record]:
        """Yield the unread records, from the mismatch on."""
        if self._next is not _ENDED:
            yield self._next  # type: ignore[misc]  # it is a record, since it is not the mark
            yield from self._written

    def expected(self, where: Mismatch) -> _Record | None:
        """Return the expected record at a place; None: there is none."""
        block = self._blocks.get(where.block)
        return None if block is None else block.records[where.record]

    def _read(self) -> bool:
        following: _Readings = {}
        for place, cost in self._readings.items():
            block = self._blocks.get(place.block)
            if block is not None and block.records[place.record] == self._next:
                _offer(following, _Place(place.block, place.record + 1), cost)
            elif self._shared:
                _offer(following, place, cost._replace(others=cost.others + 1))
        if not following:
            return False
        if self._shared:
            furthest = max(following).block
            following = {
                place: cost
                for place, cost in following.items()
                if place.block >= furthest - _BEHIND_MAX
            }
        self._readings = self._closed(following)
        self._next = next(self._written, _ENDED)
        self._at += 1
        return True

    def _mismatch(self) -> Mismatch:
        return Mismatch(self._at, *max(self._readings))

    def _forget(self) -> None:
        oldest = min(self._readings).block
        for number in [number for number in self._blocks if number < oldest]:
            del self._blocks[number]

    def _closed(self, readings: _Readings) -> _Readings:
        """Return every place that a reading can reach from these without another record."""
        waiting = sorted(readings)
        closed = dict(readings)
        while waiting:
            place = waiting.pop()
            block = self._blocks.get(place.block)
            if block is None:
                continue
            waiting += [
                reached
                for reached, price in _onward(place, block, closed[place])
                if _offer(closed, reached, price)
            ]
        # Where a block is complete the next record begins another one, or the same one again.
        return {
            place: cost
            for place, cost in closed.items()
            if (block := self._blocks.get(place.block)) is None or place.record < len(block.records)
        }


def _onward(
    place: _Place, block: Block[_Record], cost: Matched
) -> Iterator[tuple[_Place, Matched]]:
    """Yield the places where a reading may go on without another record, and the costs."""
    size = len(block.records)
    if place.record > 0:
        yield _Place(place.block, 0), cost._replace(resent=cost.resent + place.record)
    if place.record == size:
        yield _Place(place.block + 1, 0), cost
    elif block.interrupted:
        lost = cost._replace(unwritten=cost.unwritten + size - place.record)
        yield _Place(place.block + 1, 0), lost


def _offer(readings: _Readings, place: _Place, cost: Matched) -> bool:
    known = readings.get(place)
    if known is not None and (sum(known), known.others) <= (sum(cost), cost.others):
        return False
    readings[place] = cost
    return True
