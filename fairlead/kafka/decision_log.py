"""The decisions of one group in the log, read no farther back than is needed.

Decides from where on the topic must be read: a busy one holds days of every group's decisions, and
what is asked for mostly stands near its end.
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
"""Is told which topic is being read, and how many of its records were."""

_EMPTY: Final = "empty"
_LOOKS_BACK_MS: Final = (60_000, 3_600_000, None)
"""So long before the newest decision of all groups the topic is read from; None: from its begin."""
_HOUR_MS: Final = 3_600_000
_REACHES_MS: Final = (_HOUR_MS, 24 * _HOUR_MS, 7 * 24 * _HOUR_MS)
_TOLD_EVERY: Final = 1_000
_BESIDE_MS: Final = 60_000
"""Decisions are stamped by their writer: they are read from so long before the time asked for."""


def newest_epoch(source: TopicSource, group: str) -> Epoch | None:
    """Return the epoch of a group's newest decision; None: none is there, or any more.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    newest_ms = source.newest_ms("decisions", 0)
    if newest_ms is None:
        return None
    for back_ms in _LOOKS_BACK_MS:
        found = _read(source, group, newest_ms, back_ms)
        if found and not (back_ms and hides_newer(source, found[-1].generation)):
            return found[-1].epoch
    return None


def hides_newer(source: TopicSource, generation: int) -> bool:
    """Tell whether a newer engine may have decided before the window that was read.

    An engine that was superseded may write last, and what it wrote counts for nobody. Only a
    decision of the newer engine tells so, and that may be older than the window.

    Args:
        source: the topics.
        generation: the greatest of the decisions in the window.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    return claimed_generation(source) > generation


def claimed_generation(source: TopicSource) -> int:
    """Return the newest generation that a driver has claimed; 0: none is there.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    return max((row.offset + 1 for row in source.rows("generations", [0])), default=0)


def decisions_after(source: TopicSource, group: str, epoch: Epoch | None) -> list[DecisionRecord]:
    """Return a group's decisions of greater epochs than this one, the oldest first.

    None: every decision that is there.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    newest_ms = source.newest_ms("decisions", 0)
    if newest_ms is None:
        return []
    found: list[DecisionRecord] = []
    for back_ms in _LOOKS_BACK_MS:
        found = _read(source, group, newest_ms, back_ms)
        if back_ms and found and hides_newer(source, found[-1].generation):
            continue
        if epoch is not None and any(each.epoch <= epoch for each in found):
            break
    return [each for each in found if epoch is None or each.epoch > epoch]


def last_life(source: TopicSource, group: str) -> list[DecisionRecord]:
    """Return a group's decisions since it was last without members, and those that emptied it.

    None of them: no decision is there, or any more.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    newest_ms = source.newest_ms("decisions", 0)
    if newest_ms is None:
        return []
    life: list[DecisionRecord] = []
    for back_ms in _LOOKS_BACK_MS:
        found = _read(source, group, newest_ms, back_ms)
        begins = [
            number
            for number, (before, each) in enumerate(pairwise(found), 1)
            if before.phase == _EMPTY and each.phase != _EMPTY
        ]
        life = found[begins[-1] :] if begins else found
        if begins and not (back_ms and hides_newer(source, found[-1].generation)):
            break
    return life


def _read(
    source: TopicSource, group: str, newest_ms: int, back_ms: int | None
) -> list[DecisionRecord]:
    since_ms = None if back_ms is None else max(newest_ms - back_ms, 0)
    return [*decisions_of(group, source.rows("decisions", [0], since_ms))]


@dataclass(slots=True)
class Decisions:
    """The decisions of a group that were read.

    Attributes:
        since_ms: from when on; None: all that the topic holds.
        audits: whole, in their order.
        groups: every group that has a record among what was read.
        records: how many records of the group were read.
        unread: what is no decision, and why.
        from_first: reading began with the first record that the topic ever had.
        kept_since_ms: when the oldest record was written that the topic keeps, of any group, if
            that is later than it was asked for; None: nothing that was asked for is gone.
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
        """Whether nothing older of the group stands in the topic."""
        return self.since_ms is None or self.from_first


def read_decisions(
    source: TopicSource, group: str, since_ms: int | None, reading: Reading
) -> Decisions:
    """Return the decisions of a group from a time on, and some from shortly before it.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    found = _read_since(
        source, group, since_ms, None if since_ms is None else since_ms - _BESIDE_MS, reading
    )
    newest = max((each.cut.generation for each in found.audits), default=None)
    if found.is_whole or newest is None or not hides_newer(source, newest):
        return found
    return _read_since(source, group, since_ms, None, reading)


def _read_since(
    source: TopicSource, group: str, since_ms: int | None, from_ms: int | None, reading: Reading
) -> Decisions:
    found = Decisions(since_ms)

    def unread(row: RawRecord, why: str) -> None:
        found.unread.append(f"{row.topic}/{row.partition}@{row.offset} {why}")

    rows = _rows_of(source, group, found, from_ms, reading)
    found.audits.extend(whole_decisions(rows, source.partitions.shards, unread))
    return found


def _rows_of(
    source: TopicSource, group: str, found: Decisions, since_ms: int | None, reading: Reading
) -> Iterator[RawRecord]:
    key = group.encode()
    rows = source.rows("decisions", source.partitions_of("decisions"), since_ms)
    for number, row in enumerate(rows, 1):
        if number % _TOLD_EVERY == 0:
            reading(row.topic, number)
        found.from_first |= row.offset == 0
        if number == 1 and row.offset > 0:
            before = (row.topic, row.partition, row.offset - 1)
            if source.records_at([before])[before] == "retention":
                found.kept_since_ms = row.append_ms
        if row.key is not None:
            found.groups.add(row.key.decode(errors="replace"))
        if row.key == key:
            found.records += 1
            yield row


def reaching_back(now_ms: int) -> Iterator[int | None]:
    """Yield since when to read, further back each time: an hour, a day, a week, everything.

    What is asked about is mostly new, and a topic may hold months of every group.
    """
    yield from (now_ms - each for each in _REACHES_MS)
    yield None
