"""Whether a sequence of written records is what a list of blocks allows.

A block is what one cut writes to one topic partition. Allowed is: each block in order; any
beginning of a block again and again, since a batch that is tried again is written from its start;
and of a block in which a driver died, any beginning or nothing at all.

All readings are followed at once, each with what it costs: how many records it takes for written
again and how many for unwritten. The cheapest one that reaches the end is the answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

__all__ = ["Aligned", "Block", "Mismatch", "align"]

_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class Block(Generic[_Record]):
    """What one cut writes, in order. ``interrupted``: its driver died, it may lack its end."""

    records: Sequence[_Record]
    interrupted: bool


class Aligned(NamedTuple):
    """The records fit: so many were written again, so many died with their driver."""

    resent: int
    unwritten: int


class Mismatch(NamedTuple):
    """The records do not fit: the first that does not (their number if they end too early).

    ``block`` and ``record`` say where in the blocks another one is expected; ``block`` is the
    number of blocks if none is.
    """

    at: int
    block: int
    record: int


class _Place(NamedTuple):
    block: int
    record: int


_Readings = dict[_Place, Aligned]


def align(blocks: Sequence[Block[_Record]], written: Sequence[_Record]) -> Aligned | Mismatch:
    """Return how the written records are read as the blocks, or where they cannot be."""
    readings = _closed(blocks, {_Place(0, 0): Aligned(0, 0)})
    for at, record in enumerate(written):
        following: _Readings = {}
        for place, cost in readings.items():
            if place.block < len(blocks) and blocks[place.block].records[place.record] == record:
                _offer(following, _Place(place.block, place.record + 1), cost)
        if not following:
            return _mismatch(at, readings)
        readings = _closed(blocks, following)
    end = _Place(len(blocks), 0)
    return readings[end] if end in readings else _mismatch(len(written), readings)


def _mismatch(at: int, readings: _Readings) -> Mismatch:
    return Mismatch(at, *max(readings))


def _offer(readings: _Readings, place: _Place, cost: Aligned) -> bool:
    known = readings.get(place)
    if known is not None and sum(known) <= sum(cost):
        return False
    readings[place] = cost
    return True


def _closed(blocks: Sequence[Block[_Record]], readings: _Readings) -> _Readings:
    """Return every place that can be reached from these without another record."""
    waiting = sorted(readings)
    closed = dict(readings)
    while waiting:
        place = waiting.pop()
        if place.block == len(blocks):
            continue
        block, cost = blocks[place.block], closed[place]
        size = len(block.records)
        following = []
        if place.record > 0:
            again = Aligned(cost.resent + place.record, cost.unwritten)
            following.append((_Place(place.block, 0), again))
        if place.record == size:
            following.append((_Place(place.block + 1, 0), cost))
        elif block.interrupted:
            lost = Aligned(cost.resent, cost.unwritten + size - place.record)
            following.append((_Place(place.block + 1, 0), lost))
        waiting += [reached for reached, price in following if _offer(closed, reached, price)]
    # Where a block is complete the next record begins another one, or the same one again.
    return {
        place: cost
        for place, cost in closed.items()
        if place.block == len(blocks) or place.record < len(blocks[place.block].records)
    }
