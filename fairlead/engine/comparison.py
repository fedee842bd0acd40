"""What a job wrote against what a replay of its recording writes, byte for byte.

What decisions carry is compared in order, per topic partition and shard, since one task writes a
shard's records in order while shards interleave freely. A batch that is written twice (a task is
tried again) is found and counted; of the batch in which a driver died, any beginning may have been
written. Dead letters and the notices that go with them depend on the refused row alone: they are
compared as sets.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import orjson

from fairlead.codec.shard import open_shard
from fairlead.codec.stored import StoredShard
from fairlead.core.outputs import Cut
from fairlead.engine.alignment import Block, Mismatch, align
from fairlead.engine.context import ShardContext
from fairlead.engine.errors import HigherGenerationError
from fairlead.engine.replay import Contexts, Recording, Replayed, cuts_of, replay_shard
from fairlead.engine.shard import run_shard
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import OutgoingRecord

__all__ = ["Comparison", "Difference", "Written", "compare"]

_REFUSALS = frozenset({"wrong_partition", "rejected", "unsupported"})
"""Codes of the notices that go with a dead letter."""

_GENERATION = re.compile(rb'"generation":([0-9]+)')


class Written(NamedTuple):
    """A record of an output topic, as it was read back."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


class Content(NamedTuple):
    """The key and the value of a record."""

    key: bytes | None
    value: bytes | None


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
    records were written more than once, ``unwritten`` ones died with their driver.
    """

    cuts: int
    generations: int
    records: int
    resent: int = 0
    unwritten: int = 0
    difference: Difference | None = None

    @property
    def same(self) -> bool:
        """Whether the job wrote what the replay writes."""
        return self.difference is None


class _Stream(NamedTuple):
    """Records of one shard in one topic partition: they have an order."""

    topic: str
    partition: int
    shard: int


@dataclass(slots=True)
class _Expected:
    """What the replay writes: blocks per stream of decisions, and the refusals as sets."""

    streams: dict[_Stream, list[tuple[Cut, Block[Content]]]] = field(default_factory=dict)
    refusals: dict[tuple[str, int], set[Content]] = field(default_factory=dict)
    allowed: dict[tuple[str, int], set[Content]] = field(default_factory=dict)


def compare(recording: Recording, written: Iterable[Written], contexts: Contexts) -> Comparison:
    """Replay a recording by the decisions among what was written, and compare all of it.

    Args:
        recording: everything that stood in the input topics.
        written: everything that stood in the output topics.
        contexts: what each shard was run under by each generation.

    Raises:
        ReplayError: rows or decisions are missing.
    """
    context = contexts(0, 1)
    records = sorted(written)
    decisions = context.topics.name("decisions")
    cuts = cuts_of(record.value for record in records if record.topic == decisions and record.value)
    drivers = _drivers(records, context)
    expected = _Expected()
    for shard in range(context.partitions.shards):
        own = [cut for cut in cuts if cut.shard == shard]
        replayed = list(replay_shard(recording, own, contexts, drivers))
        _expect_all(recording, replayed, shard, contexts, expected)
    generations = len({cut.generation for cut in cuts})
    figures = len(cuts), generations, len(records)
    streams, refusals, foreign = _sorted_out(records, context)
    difference = foreign or _compare_refusals(refusals, expected)
    if difference is not None:
        return Comparison(*figures, difference=difference)
    return _compare_streams(figures, streams, expected)


def _drivers(records: Sequence[Written], context: ShardContext) -> list[int]:
    """Return the generations that wrote assignments or notices."""
    topic = context.topics.name("assignments")
    values = [record.value for record in records if record.topic == topic and record.value]
    found = {match[1] for value in values if (match := _GENERATION.search(value)) is not None}
    return sorted(int(generation) for generation in found)


def _expect_all(
    recording: Recording,
    replayed: Sequence[Replayed],
    shard: int,
    contexts: Contexts,
    expected: _Expected,
) -> None:
    stored: StoredShard | None = None
    generation = 1
    for entry in replayed:
        _expect(entry, contexts(shard, entry.cut.generation), expected)
        if entry.kept:
            stored, generation = entry.result.stored, entry.cut.generation
    for place, content in _tail(recording, stored, shard, generation, contexts):
        expected.allowed.setdefault(place, set()).add(content)


def _expect(entry: Replayed, context: ShardContext, expected: _Expected) -> None:
    blocks: dict[_Stream, list[Content]] = {}
    silent = entry.silent.records if entry.silent is not None else ()
    for record in (*silent, *entry.result.records):
        content = Content(record.key, record.value)
        if _is_refusal(record, context):
            place = (record.topic, record.partition)
            target = expected.allowed if entry.interrupted else expected.refusals
            target.setdefault(place, set()).add(_masked(content))
        else:
            stream = _Stream(record.topic, record.partition, context.shard)
            blocks.setdefault(stream, []).append(content)
    for stream, contents in blocks.items():
        block = Block(contents, entry.interrupted)
        expected.streams.setdefault(stream, []).append((entry.cut, block))


def _tail(
    recording: Recording,
    stored: StoredShard | None,
    shard: int,
    generation: int,
    contexts: Contexts,
) -> Iterator[tuple[tuple[str, int], Content]]:
    """Yield the refusals of rows that were read after the last decision, or never."""
    begin = open_shard(stored).header.positions if stored is not None else {}
    while True:
        context = replace(contexts(shard, generation), first_run=stored is None)
        rows = recording.rest(context, begin)
        try:
            result = run_shard(stored, rows, context)
            break
        except HigherGenerationError as error:
            generation = error.generation
    for record in result.records:
        if _is_refusal(record, context):
            content = Content(record.key, record.value)
            yield (record.topic, record.partition), _masked(content)


def _is_refusal(record: OutgoingRecord | Written, context: ShardContext) -> bool:
    suffix = context.topics.suffix(record.topic)
    if suffix != "assignments" or record.value is None or b'"kind":"notice"' not in record.value:
        return suffix == "rejects"
    return orjson.loads(record.value)["code"] in _REFUSALS


def _masked(content: Content) -> Content:
    """Leave out which driver told a refusal: it depends on where its batch ended."""
    value = content.value
    return content._replace(value=value and _GENERATION.sub(b'"generation":0', value, count=1))


def _shard_of(record: Written, context: ShardContext) -> int | None:
    """Return the shard whose group a record speaks of, None if it names none."""
    try:
        if context.topics.suffix(record.topic) == "assignments":
            group = orjson.loads(record.key or b"")[0]
        else:
            group = (record.key or b"").decode()
        return partition_of_group(group, context.partitions.shards)
    except (orjson.JSONDecodeError, UnicodeDecodeError, AttributeError, LookupError, TypeError):
        return None


def _sorted_out(
    records: Sequence[Written], context: ShardContext
) -> tuple[dict[_Stream, list[Written]], list[Written], Difference | None]:
    """Return records by stream, the refusals, and the first that is of no group, if there is."""
    streams: dict[_Stream, list[Written]] = {}
    refusals: list[Written] = []
    foreign: Difference | None = None
    for record in records:
        if _is_refusal(record, context):
            refusals.append(record)
            continue
        shard = _shard_of(record, context)
        if shard is None:
            foreign = foreign or _difference(record, None)
            continue
        streams.setdefault(_Stream(record.topic, record.partition, shard), []).append(record)
    return streams, refusals, foreign


def _difference(got: Written, expected: Content | None, cut: Cut | None = None) -> Difference:
    content = Content(got.key, got.value)
    return Difference(got.topic, got.partition, got.offset, expected, content, cut)


def _compare_refusals(refusals: Sequence[Written], expected: _Expected) -> Difference | None:
    missing = {place: set(contents) for place, contents in expected.refusals.items()}
    for record in refusals:
        place = (record.topic, record.partition)
        content = _masked(Content(record.key, record.value))
        known = expected.refusals.get(place, set()) | expected.allowed.get(place, set())
        if content not in known:
            return _difference(record, None)
        missing.get(place, set()).discard(content)
    for (topic, partition), contents in sorted(missing.items()):
        for content in sorted(contents, key=repr):
            return Difference(topic, partition, None, content, None)
    return None


def _compare_streams(
    figures: tuple[int, int, int],
    streams: Mapping[_Stream, Sequence[Written]],
    expected: _Expected,
) -> Comparison:
    resent = unwritten = 0
    for stream in sorted({*streams, *expected.streams}):
        records = streams.get(stream, ())
        cuts = expected.streams.get(stream, [])
        contents = [Content(record.key, record.value) for record in records]
        read = align([block for _, block in cuts], contents)
        if isinstance(read, Mismatch):
            return Comparison(*figures, difference=_mismatch(stream, records, cuts, read))
        resent += read.resent
        unwritten += read.unwritten
    return Comparison(*figures, resent, unwritten)


def _mismatch(
    stream: _Stream,
    records: Sequence[Written],
    cuts: Sequence[tuple[Cut, Block[Content]]],
    where: Mismatch,
) -> Difference:
    cut, expected = None, None
    if where.block < len(cuts):
        cut, block = cuts[where.block]
        expected = block.records[where.record]
    if where.at < len(records):
        return _difference(records[where.at], expected, cut)
    return Difference(stream.topic, stream.partition, None, expected, None, cut)
