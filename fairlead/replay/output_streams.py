"""Compares what one shard wrote with what its replay writes, record by record."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from fairlead.core.outputs import Cut
from fairlead.engine.context import ShardContext
from fairlead.replay.difference import Difference, difference_of
from fairlead.replay.output_log import (
    Content,
    Outputs,
    Survey,
    Written,
    is_refusal,
    is_shared,
    shard_of,
    told_generation,
    undecided,
)
from fairlead.replay.sequence_match import Block, Matched, Mismatch, SequenceMatcher
from fairlead.replay.shard_replay import Replayed
from fairlead.replay.unordered_match import UnorderedMatch
from fairlead.wire.raw import OutgoingRecord

__all__ = ["Streams"]

_UNTOLD: Final = 0
"""The generation of records without one: deletions and requests."""

_ALL: Final = -1
"""Stands for all generations, if no two of them overlap."""


class _Place(NamedTuple):
    """Records with a common order: of one topic partition, and of one driver if drivers overlap."""

    topic: str
    partition: int
    generation: int


class _Stream(NamedTuple):
    """One sequence of written records of a shard."""

    matcher: SequenceMatcher[Content]
    read: list[Written]
    """The record that the matcher reads."""
    cuts: list[Cut]
    """The cut of each block."""


class Streams:
    """Compares a shard's output with its replay, partition by partition.

    A superseded driver may write on for a while. Then the records of each driver have an order of
    their own, and records without a generation have none.
    """

    def __init__(
        self,
        outputs: Outputs,
        shard: int,
        context: ShardContext,
        surveyed: Survey,
        left: frozenset[int],
    ) -> None:
        self.resent = self.unwritten = self.undecided = self.others = 0
        self._outputs, self._shard, self._context = outputs, shard, context
        self._decided = surveyed.decided
        self._overlapping = shard in surveyed.overlapping or bool(left)
        self._untold = UnorderedMatch()
        places = {
            _Place(topic, partition, generation if self._overlapping else _ALL)
            for (topic, partition, of), seen in surveyed.generations.items()
            for generation in seen
            if of == shard and generation not in left
            if not (self._overlapping and generation == _UNTOLD)
        }
        self._streams = {place: self._open(place) for place in sorted(places)}

    def expect(self, entry: Replayed) -> Difference | None:
        """Compare what a cut writes; return the first difference."""
        blocks: dict[_Place, list[Content]] = {}
        for record in (*entry.silent, *entry.result.records):
            if is_refusal(record, self._context):
                continue
            place = self._place_of(record)
            if place.generation == _UNTOLD:
                self._untold.add(record, interrupted=entry.interrupted)
            else:
                blocks.setdefault(place, []).append(Content(record.key, record.value))
        for place, contents in sorted(blocks.items()):
            stream = self._streams.get(place)
            if stream is None:
                stream = self._streams[place] = _Stream(SequenceMatcher[Content](()), [], [])
            stream.cuts.append(entry.cut)
            mismatch = stream.matcher.expect(Block(contents, entry.interrupted))
            if mismatch is not None:
                return _mismatch(place, stream, mismatch)
        return None

    def finish(self) -> Difference | None:
        """Compare the rest; return the first difference."""
        for place, stream in sorted(self._streams.items()):
            outcome = stream.matcher.finish()
            if isinstance(outcome, Matched):
                self.resent += outcome.resent
                self.unwritten += outcome.unwritten
                self.others += outcome.others
                continue
            if outcome.block < len(stream.cuts) or not stream.read:
                return _mismatch(place, stream, outcome)
            for _ in stream.matcher.rest():
                if not undecided(stream.read[0], self._context, self._decided):
                    return _mismatch(place, stream, outcome)
                self.undecided += 1
        return self._untold.compare(self._written_untold())

    def _place_of(self, record: OutgoingRecord | Written) -> _Place:
        generation = told_generation(record, self._context) if self._overlapping else _ALL
        return _Place(record.topic, record.partition, generation)

    def _written(self, topic: str, partition: int) -> Iterator[Written]:
        for record in self._outputs.records(topic, partition):
            if not is_refusal(record, self._context) and (
                shard_of(record, self._context) == self._shard
            ):
                yield record

    def _written_untold(self) -> Iterator[Written]:
        for topic, partition in self._outputs.places() if self._overlapping else ():
            for record in self._written(topic, partition):
                if self._place_of(record).generation != _UNTOLD:
                    continue
                if self._untold.knows(record):
                    yield record
                elif is_shared(topic, self._context):
                    self.others += 1
                elif not undecided(record, self._context, self._decided):
                    yield record
                else:
                    self.undecided += 1

    def _open(self, place: _Place) -> _Stream:
        read: list[Written] = []

        def contents() -> Iterator[Content]:
            for record in self._written(place.topic, place.partition):
                if self._place_of(record) == place:
                    read[:] = [record]
                    yield Content(record.key, record.value)
            read.clear()

        shared = is_shared(place.topic, self._context)
        return _Stream(SequenceMatcher(contents(), shared=shared), read, [])


def _mismatch(place: _Place, stream: _Stream, where: Mismatch) -> Difference:
    cut = stream.cuts[where.block] if where.block < len(stream.cuts) else None
    expected = stream.matcher.expected(where)
    if stream.read:
        return difference_of(stream.read[0], expected, cut)
    return Difference(place.topic, place.partition, None, expected, None, cut)
