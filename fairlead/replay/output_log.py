"""The records that a job wrote, and a survey of them in one pass."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, NamedTuple, Protocol

import orjson

from fairlead.core.outputs import Cut
from fairlead.engine.context import ShardContext
from fairlead.engine.reading import FOREIGN_TICK
from fairlead.replay.shard_replay import ReplayError
from fairlead.wire.decision_records import check_shard, read_cut
from fairlead.wire.engine_shapes import check_decision
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import OutgoingRecord

__all__ = [
    "Content",
    "Outputs",
    "Survey",
    "Written",
    "WrittenInMemory",
    "generation_of",
    "group_of",
    "is_foreign_tick",
    "is_refusal",
    "is_shared",
    "masked",
    "shard_of",
    "survey",
    "told_generation",
    "undecided",
]

_REFUSALS: Final = frozenset({"wrong_partition", "rejected", "unsupported"})
"""Codes of the notices that go with a dead letter."""

_REASON_BYTES: Final = 100
"""A dead letter has its reason within its first bytes."""

_GENERATION = re.compile(rb'"generation":([0-9]+)')


class Written(NamedTuple):
    """A record of an output topic."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


class RecordOrder(NamedTuple):
    """The order of one driver's records about one group: by epoch, then by time."""

    epoch: list[int]
    at_ms: int


class Content(NamedTuple):
    """The key and the value of a record."""

    key: bytes | None
    value: bytes | None


class Outputs(Protocol):
    """The output topics, which can be read repeatedly."""

    def places(self) -> Sequence[tuple[str, int]]:
        """Return every topic and partition, sorted."""
        ...

    def records(self, topic: str, partition: int) -> Iterator[Written]:
        """Yield the records of a partition by offset."""
        ...


class WrittenInMemory:
    """Output topics in memory; records come in any order."""

    def __init__(self, written: Iterable[Written]) -> None:
        self._logs: dict[tuple[str, int], list[Written]] = {}
        for record in sorted(written, key=lambda record: record[:3]):
            self._logs.setdefault((record.topic, record.partition), []).append(record)

    def places(self) -> Sequence[tuple[str, int]]:
        """Return every topic and partition, sorted."""
        return list(self._logs)

    def records(self, topic: str, partition: int) -> Iterator[Written]:
        """Yield the records of a partition by offset."""
        return iter(self._logs[topic, partition])


@dataclass(slots=True)
class Survey:
    """The result of one pass over the output topics.

    Attributes:
        cuts: of all decisions, by shard, generation and step.
        drivers: the generations that wrote assignments or notices.
        decided: per group and generation, the epoch and the time of its newest decision.
        overlapping: shards to which a driver wrote after a newer one, or whose driver began before
            decisions of another.
        generations: by partition and shard, the generations that wrote there.
        refusals: dead letters and their notices.
        foreign: the first record that names no group.
        records: the number of records.
    """

    cuts: dict[tuple[int, int, int], Cut] = field(default_factory=dict)
    drivers: set[int] = field(default_factory=set)
    decided: dict[tuple[str, int], RecordOrder] = field(default_factory=dict)
    overlapping: set[int] = field(default_factory=set)
    generations: dict[tuple[str, int, int], set[int]] = field(default_factory=dict)
    refusals: list[Written] = field(default_factory=list)
    foreign: Written | None = None
    records: int = 0

    def cuts_of(self, shard: int) -> list[Cut]:
        """Return the cuts of one shard by generation and step."""
        return [self.cuts[place] for place in sorted(self.cuts) if place[0] == shard]


def survey(outputs: Outputs, context: ShardContext) -> Survey:
    """Read every record once.

    Raises:
        ReplayError: a decision cannot be read, or two of one cut name different positions.
    """
    surveyed = Survey()
    for topic, partition in outputs.places():
        suffix = context.topics.suffix(topic)
        for record in outputs.records(topic, partition):
            surveyed.records += 1
            if is_refusal(record, context):
                surveyed.refusals.append(record)
                continue
            shard = shard_of(record, context)
            if shard is None:
                if not is_shared(topic, context):
                    surveyed.foreign = surveyed.foreign or record
                continue
            _note_generation(surveyed, record, shard, context)
            if suffix == "decisions" and record.value is not None:
                _note_decision(surveyed, record, context.partitions.shards)
            elif suffix == "assignments" and (generation := generation_of(record.value)):
                surveyed.drivers.add(generation)
    for before, after in pairwise(surveyed.cuts[place] for place in sorted(surveyed.cuts)):
        if before.shard == after.shard and before.generation < after.generation:
            other = before.origin != after.origin
            if other or after.step <= before.step:
                surveyed.overlapping.add(after.shard)
    return surveyed


def generation_of(value: bytes | None) -> int:
    """Return the generation in a record; 0: it has none."""
    match = None if value is None else _GENERATION.search(value)
    return 0 if match is None else int(match[1])


def is_shared(topic: str, context: ShardContext) -> bool:
    """Tell whether others write to a topic, too: members, producers and operators."""
    return context.topics.suffix(topic) == "requests"


def told_generation(record: OutgoingRecord | Written, context: ShardContext) -> int:
    """Return the generation of an engine's record; 0: it has none, or others may write there."""
    return 0 if is_shared(record.topic, context) else generation_of(record.value)


def _note_generation(surveyed: Survey, record: Written, shard: int, context: ShardContext) -> None:
    generation = told_generation(record, context)
    seen = surveyed.generations.setdefault((record.topic, record.partition, shard), set())
    if 0 < generation < max(seen, default=0):
        surveyed.overlapping.add(shard)
    seen.add(generation)


def _note_decision(surveyed: Survey, record: Written, shards: int) -> None:
    try:
        body = orjson.loads(record.value or b"")
        check_decision(body)
        cut = read_cut(body["cut"])
        check_shard(cut, shards)
        order = RecordOrder([*map(int, body["epoch"])], int(body["at_ms"]))
        group = str(body["group"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReplayError(
            f"{record.topic}, partition {record.partition}, offset {record.offset}: no decision "
            f"can be read here ({type(error).__name__}: {error})"
        ) from error
    place = (cut.shard, cut.generation, cut.step)
    if surveyed.cuts.setdefault(place, cut) != cut:
        raise ReplayError(f"two decisions of shard, generation and step {place} differ")
    decided = (group, cut.generation)
    surveyed.decided[decided] = max(surveyed.decided.get(decided, order), order)


def is_refusal(record: OutgoingRecord | Written, context: ShardContext) -> bool:
    """Tell whether a record is a dead letter or its notice: it depends on a refused row alone."""
    suffix = context.topics.suffix(record.topic)
    if suffix != "assignments" or record.value is None or b'"kind":"notice"' not in record.value:
        return suffix == "rejects"
    try:
        return orjson.loads(record.value)["code"] in _REFUSALS
    except (ValueError, KeyError, TypeError):
        return False


def is_foreign_tick(record: OutgoingRecord | Written) -> bool:
    """Tell whether a record refuses a tick: no cut shows which engine has read that tick.

    A superseded driver may still read a tick of the one that takes over.
    """
    reason = b'"reason":"%s"' % FOREIGN_TICK.encode()
    return record.value is not None and reason in record.value[:_REASON_BYTES]


def masked(content: Content) -> Content:
    """Return a refusal without its generation, which depends on the cut of batches."""
    value = content.value
    return content._replace(value=value and _GENERATION.sub(b'"generation":0', value, count=1))


def shard_of(record: Written, context: ShardContext) -> int | None:
    """Return the shard of a record's group; None: it names no group."""
    group = group_of(record.topic, record.key, context.topics.name("assignments"))
    return None if group is None else partition_of_group(group, context.partitions.shards)


@lru_cache(maxsize=65_536)
def group_of(topic: str, key: bytes | None, assignments: str) -> str | None:
    """Return the group of a record of an output topic, by its key."""
    try:
        if topic != assignments:
            return (key or b"").decode()
        parts: Any = orjson.loads(key or b"")
        group = parts[0]
    except (ValueError, LookupError, TypeError):
        return None
    return group if isinstance(group, str) else None


def undecided(
    record: Written, context: ShardContext, decided: Mapping[tuple[str, int], RecordOrder]
) -> bool:
    """Tell whether a record may belong to a batch whose decision is missing."""
    suffix = context.topics.suffix(record.topic)
    if record.value is None:
        return suffix == "assignments"
    try:
        body = orjson.loads(record.value)
        kind, group = body["kind"], body["group"]
        if (suffix, kind) == ("assignments", "assignment"):
            newest = decided.get((group, body["generation"]), RecordOrder([], 0))
            return RecordOrder(body["epoch"], body["at_ms"]) > newest
        known = (suffix, kind) in (("assignments", "notice"), ("requests", "request"))
        return known and group == group_of(
            record.topic, record.key, context.topics.name("assignments")
        )
    except (ValueError, KeyError, TypeError):
        return False
