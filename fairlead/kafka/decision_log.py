"""Reads the decisions of one group from the log, no farther back than needed.

It chooses where to begin: a busy topic holds days of all groups' decisions, and the wanted ones are
mostly near its end.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from fairlead.core.model import Epoch
from fairlead.kafka.topic_source import TopicSource
from fairlead.wire.decision_records import DecisionRecord, decisions_of, whole_decisions
from fairlead.wire.raw import RawRecord

__all__ = [
    "Decisions",
    "Reading",
    "claimed_generation",
    "decisions_after",
    "hides_newer",
    "last_life",
    "newest_epoch",
    "reaching_back",
    "read_decisions",
]

Reading = Callable[[str, int], None]
"""Called with the topic being read and the number of records read so far."""

_EMPTY: Final = "empty"
_LOOKS_BACK_MS: Final = (60_000, 3_600_000, None)
"""How far before the newest decision of any group to begin, in turn; None: at the topic's start."""
_HOUR_MS: Final = 3_600_000
_REACHES_MS: Final = (_HOUR_MS, 24 * _HOUR_MS, 7 * 24 * _HOUR_MS)
_TOLD_EVERY: Final = 1_000
_BESIDE_MS: Final = 60_000
"""Reading begins this long before the requested time, since writers set the decisions' times."""


def newest_epoch(source: TopicSource, group: str) -> Epoch | None:
    """Return the epoch of a group's newest decision; None if the topic has none (any more).

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    newest_ms = source.newest_ms("decisions", 0)
    if newest_ms is None:
        return None
    for back_ms in _LOOKS_BACK_MS:
        decisions = _read(source, group, newest_ms, back_ms)
        if decisions and not (back_ms and hides_newer(source, decisions[-1].generation)):
            return decisions[-1].epoch
    return None


def hides_newer(source: TopicSource, generation: int) -> bool:
    """Tell whether a newer engine may have decided before the window that was read.

    A superseded engine may write last, and its decisions do not count. Only a decision of the newer
    engine shows that, and it may be older than the window.

    Args:
        source: the topics.
        generation: the newest generation of the decisions in the window.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    return claimed_generation(source) > generation


def claimed_generation(source: TopicSource) -> int:
    """Return the newest claimed generation; 0 if there is none.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    return max((row.offset + 1 for row in source.rows("generations", [0])), default=0)


def decisions_after(source: TopicSource, group: str, epoch: Epoch | None) -> list[DecisionRecord]:
    """Return a group's decisions of later epochs than this one, oldest first.

    With None, return all decisions in the topic.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    newest_ms = source.newest_ms("decisions", 0)
    if newest_ms is None:
        return []
    decisions: list[DecisionRecord] = []
    for back_ms in _LOOKS_BACK_MS:
        decisions = _read(source, group, newest_ms, back_ms)
        if back_ms and decisions and hides_newer(source, decisions[-1].generation):
            continue
        if epoch is not None and any(each.epoch <= epoch for each in decisions):
            break
    return [each for each in decisions if epoch is None or each.epoch > epoch]


def last_life(source: TopicSource, group: str) -> list[DecisionRecord]:
    """Return a group's decisions since it last had no members, including those that emptied it.

    The list is empty if the topic has none (any more).

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    newest_ms = source.newest_ms("decisions", 0)
    if newest_ms is None:
        return []
    life: list[DecisionRecord] = []
    for back_ms in _LOOKS_BACK_MS:
        decisions = _read(source, group, newest_ms, back_ms)
        begins = [
            number
            for number, (before, each) in enumerate(pairwise(decisions), 1)
            if before.phase == _EMPTY and each.phase != _EMPTY
        ]
        life = decisions[begins[-1] :] if begins else decisions
        if begins and not (back_ms and hides_newer(source, decisions[-1].generation)):
            break
    return life


def _read(
    source: TopicSource, group: str, newest_ms: int, back_ms: int | None
) -> list[DecisionRecord]:
    since_ms = None if back_ms is None else max(newest_ms - back_ms, 0)
    return [*decisions_of(group, source.rows("decisions", [0], since_ms))]


@dataclass(slots=True)
class Decisions:
    """The decisions of a group, as far as they were read.

    Attributes:
        since_ms: the requested start; None: all of the topic.
        audits: whole decisions, in order.
        groups: every group with a record in the part that was read.
        records: the number of the group's records that were read.
        unread: records that are no decisions, with the reason.
        from_first: reading began with the first record that the topic ever had.
        kept_since_ms: the write time of the oldest record that the topic keeps, if it is later than
            the requested start; None: nothing requested is gone.
    """

    since_ms: int | None
    audits: list[DecisionRecord] = field(default_factory=list)
    groups: set[str] = field(default_factory=set)
    records: int = 0
    unread: list[str] = field(default_factory=list)
    from_first: bool = False
    kept_since_ms: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the topic holds nothing older of the group."""
        return self.since_ms is None or self.from_first


def read_decisions(
    source: TopicSource, group: str, since_ms: int | None, reading: Reading
) -> Decisions:
    """Return the decisions of a group since a time, and some from shortly before.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    decisions = _read_since(
        source, group, since_ms, None if since_ms is None else since_ms - _BESIDE_MS, reading
    )
    newest = max((each.cut.generation for each in decisions.audits), default=None)
    if decisions.is_whole or newest is None or not hides_newer(source, newest):
        return decisions
    return _read_since(source, group, since_ms, None, reading)


def _read_since(
    source: TopicSource, group: str, since_ms: int | None, from_ms: int | None, reading: Reading
) -> Decisions:
    decisions = Decisions(since_ms)

    def unread(row: RawRecord, why: str) -> None:
        decisions.unread.append(f"{row.topic}/{row.partition}@{row.offset} {why}")

    rows = _rows_of(source, group, decisions, from_ms, reading)
    decisions.audits.extend(whole_decisions(rows, source.partitions.shards, unread))
    return decisions


def _rows_of(
    source: TopicSource, group: str, decisions: Decisions, since_ms: int | None, reading: Reading
) -> Iterator[RawRecord]:
    key = group.encode()
    rows = source.rows("decisions", source.partitions_of("decisions"), since_ms)
    for number, row in enumerate(rows, 1):
        if number % _TOLD_EVERY == 0:
            reading(row.topic, number)
        decisions.from_first |= row.offset == 0
        if number == 1 and row.offset > 0:
            before = (row.topic, row.partition, row.offset - 1)
            if source.records_at([before])[before] == "retention":
                decisions.kept_since_ms = row.append_ms
        if row.key is not None:
            decisions.groups.add(row.key.decode(errors="replace"))
        if row.key == key:
            decisions.records += 1
            yield row


def reaching_back(now_ms: int) -> Iterator[int | None]:
    """Yield start times, further back each time: an hour, a day, a week, everything.

    Questions are mostly about recent events, and a topic may hold months of all groups.
    """
    yield from (now_ms - each for each in _REACHES_MS)
    yield None
