"""What a job wrote against what a replay of its recording writes, byte for byte.

What decisions carry is compared in order, per topic partition and shard, since one task writes a
shard's records in order while shards interleave freely. A batch that is written twice (a task is
tried again) is found and counted; of the batch in which a driver died, any beginning may have been
written. Dead letters and the notices that go with them depend on the refused row alone: they are
compared as sets.

Shards are run one after the other, and what was written is read as the replay comes to it: nothing
is held of a long recording but its cuts, its refusals and the states that later cuts start from.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from fairlead.codec.stored import StoredShard
from fairlead.core.outputs import Cut
from fairlead.engine.alignment import Aligned, Aligner, Block, Mismatch
from fairlead.engine.context import ShardContext
from fairlead.engine.recorded_log import RecordedLog
from fairlead.engine.replay import Contexts, Replayed, replay_shard, run_rest
from fairlead.engine.written import (
    Content,
    Outputs,
    Survey,
    Written,
    WrittenInMemory,
    generation_of,
    is_refusal,
    masked,
    shard_of,
    survey,
    undecided,
)
from fairlead.wire.raw import OutgoingRecord

__all__ = ["Comparison", "Content", "Difference", "Written", "compare", "compare_outputs"]

_UNTOLD: Final = 0
"""The generation of records that tell none: deletions and requests."""

_ALL: Final = -1
"""Of every generation: no two of them overlap."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where the job and the replay differ.

    ``offset`` None: the job wrote less. ``expected`` and ``got`` None: nothing. ``cut`` is the
    replay's at that place, if it is one of decisions.
    """

    topic: str
    partition: int
    offset: int | None
    expected: Content | None
    got: Content | None
    cut: Cut | None = None

    def __str__(self) -> str:
        where = f"{self.topic}, partition {self.partition}, offset {self.offset}"
        if self.cut is not None:
            where += f", shard {self.cut.shard}, generation {self.cut.generation}"
            where += f", step {self.cut.step}"
        return f"{where}: expected {self.expected!r}, got {self.got!r}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared, and the first difference if there is one.

    ``cuts`` and ``generations`` are those recorded, ``records`` those read back. ``resent``
    records were written more than once, ``unwritten`` ones died with their driver, ``undecided``
    ones are the last of their partition, of a batch whose decision was not read.
    """

    cuts: int
    generations: int
    records: int
    resent: int = 0
    unwritten: int = 0
    undecided: int = 0
    difference: Difference | None = None

    @property
    def same(self) -> bool:
        """Whether the job wrote what the replay writes."""
        return self.difference is None


Watch = Callable[[Replayed], None]
"""Is shown each cut after it was run again."""


def compare(recording: RecordedLog, written: Iterable[Written], contexts: Contexts) -> Comparison:
    """Replay a recording by the decisions among what was written, and compare all of it.

    Args:
        recording: everything that stood in the input topics.
        written: everything that stood in the output topics.
        contexts: what each shard was run under by each generation.

    Raises:
        ReplayError: rows or decisions are missing.
    """
    outputs = WrittenInMemory(written)
    return compare_outputs(recording, outputs, contexts, survey(outputs, contexts(0, 1)))


def compare_outputs(
    recording: RecordedLog,
    outputs: Outputs,
    contexts: Contexts,
    found: Survey,
    *,
    watch: Watch = lambda _: None,
    running: bool = False,
) -> Comparison:
    """Replay a recording and compare it with what was written.

    Args:
        recording: the input topics.
        outputs: the output topics.
        contexts: what each shard was run under by each generation.
        found: what a pass over the outputs found.
        watch: is shown each cut.
        running: the engine ran while the topics were read, so the last cut of each shard may have
            been on its way.

    Raises:
        ReplayError: rows or decisions are missing.
    """
    context = contexts(0, 1)
    generations = len({cut.generation for cut in found.cuts.values()})
    result = Comparison(len(found.cuts), generations, found.records)
    if found.foreign is not None:
        return replace(result, difference=_difference(found.foreign, None))
    refused = _AnyOrder()
    for shard in range(context.partitions.shards):
        streams = _Streams(outputs, shard, contexts(shard, 1), found)
        kept: Replayed | None = None
        cuts = found.cuts_of(shard)
        for replayed in replay_shard(recording, cuts, contexts, sorted(found.drivers)):
            watch(replayed)
            kept = replayed if replayed.kept else kept
            on_its_way = running and replayed.cut is cuts[-1]
            entry = replace(replayed, interrupted=True) if on_its_way else replayed
            refused.take(entry, context)
            difference = streams.expect(entry)
            if difference is not None:
                return replace(result, difference=difference)
        _take_rest(refused, recording, kept, contexts(shard, 1), contexts)
        difference = streams.finish()
        if difference is not None:
            return replace(result, difference=difference)
        result = replace(
            result,
            resent=result.resent + streams.resent,
            unwritten=result.unwritten + streams.unwritten,
            undecided=result.undecided + streams.undecided,
        )
    return replace(result, difference=refused.compare(found.refusals))


def _take_rest(
    refused: "_AnyOrder",
    recording: RecordedLog,
    kept: Replayed | None,
    context: ShardContext,
    contexts: Contexts,
) -> None:
    stored: StoredShard | None = None
    if kept is not None:
        stored = kept.result.stored
        context = contexts(context.shard, kept.cut.generation)
    for record in run_rest(recording, stored, context, contexts):
        if is_refusal(record, context):
            refused.add(record, interrupted=True)


@dataclass(slots=True)
class _AnyOrder:
    """Records that the replay writes, as sets: those that must be there, and may be."""

    expected: dict[tuple[str, int], set[Content]] = field(default_factory=dict)
    allowed: dict[tuple[str, int], set[Content]] = field(default_factory=dict)

    def take(self, entry: Replayed, context: ShardContext) -> None:
        for record in (*entry.silent, *entry.result.records):
            if is_refusal(record, context):
                self.add(record, interrupted=entry.interrupted)

    def add(self, record: OutgoingRecord, *, interrupted: bool) -> None:
        target = self.allowed if interrupted else self.expected
        content = masked(Content(record.key, record.value))
        target.setdefault((record.topic, record.partition), set()).add(content)

    def compare(self, written: Iterable[Written]) -> Difference | None:
        missing = {place: set(contents) for place, contents in self.expected.items()}
        for record in written:
            place = (record.topic, record.partition)
            content = masked(Content(record.key, record.value))
            known = content in self.expected.get(place, ()) or content in self.allowed.get(
                place, ()
            )
            if not known:
                return _difference(record, None)
            missing.get(place, set()).discard(content)
        for (topic, partition), contents in sorted(missing.items()):
            for content in sorted(contents, key=repr):
                return Difference(topic, partition, None, content, None)
        return None


class _Place(NamedTuple):
    """Records that have an order: of one topic partition, and of one driver if drivers overlap."""

    topic: str
    partition: int
    generation: int


class _Stream(NamedTuple):
    """One sequence of written records of a shard."""

    aligner: Aligner[Content]
    read: list[Written]
    """The record that the aligner looks at."""
    cuts: list[Cut]
    """Of each block in turn."""


class _Streams:
    """What one shard wrote, and what its replay writes, partition by partition.

    A driver that was superseded may write on for a while: then the records of each driver have an
    order of their own, and those that tell no driver have none.
    """

    def __init__(self, outputs: Outputs, shard: int, context: ShardContext, found: Survey) -> None:
        self.resent = self.unwritten = self.undecided = 0
        self._outputs, self._shard, self._context = outputs, shard, context
        self._decided = found.decided
        self._overlapping = shard in found.overlapping
        self._untold = _AnyOrder()
        places = {
            _Place(topic, partition, generation if self._overlapping else _ALL)
            for (topic, partition, of), seen in found.generations.items()
            for generation in seen
            if of == shard and not (self._overlapping and generation == _UNTOLD)
        }
        self._streams = {place: self._open(place) for place in sorted(places)}

    def expect(self, entry: Replayed) -> Difference | None:
        """Take what a cut writes."""
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
                stream = self._streams[place] = _Stream(Aligner(()), [], [])
            stream.cuts.append(entry.cut)
            mismatch = stream.aligner.expect(Block(contents, entry.interrupted))
            if mismatch is not None:
                return _mismatch(place, stream, mismatch)
        return None

    def finish(self) -> Difference | None:
        """Read what is left; return the first record that differs."""
        for place, stream in sorted(self._streams.items()):
            outcome = stream.aligner.finish()
            if isinstance(outcome, Aligned):
                self.resent += outcome.resent
                self.unwritten += outcome.unwritten
                continue
            if outcome.block < len(stream.cuts) or not stream.read:
                return _mismatch(place, stream, outcome)
            for _ in stream.aligner.rest():
                if not undecided(stream.read[0], self._context, self._decided):
                    return _mismatch(place, stream, outcome)
                self.undecided += 1
        return self._untold.compare(self._written_untold())

    def _place_of(self, record: OutgoingRecord | Written) -> _Place:
        generation = generation_of(record.value) if self._overlapping else _ALL
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
                if self._place_of(record).generation == _UNTOLD:
                    yield record

    def _open(self, place: _Place) -> _Stream:
        read: list[Written] = []

        def contents() -> Iterator[Content]:
            for record in self._written(place.topic, place.partition):
                if self._place_of(record) == place:
                    read[:] = [record]
                    yield Content(record.key, record.value)
            read.clear()

        return _Stream(Aligner(contents()), read, [])


def _difference(got: Written, expected: Content | None, cut: Cut | None = None) -> Difference:
    content = Content(got.key, got.value)
    return Difference(got.topic, got.partition, got.offset, expected, content, cut)


def _mismatch(place: _Place, stream: _Stream, where: Mismatch) -> Difference:
    cut = stream.cuts[where.block] if where.block < len(stream.cuts) else None
    expected = stream.aligner.expected(where)
    if stream.read:
        return _difference(stream.read[0], expected, cut)
    return Difference(place.topic, place.partition, None, expected, None, cut)
