"""Reads the decisions of one group, no more of the topic than is needed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from fairlead.planning.decision_log import hides_newer
from fairlead.sources.topic_source import TopicSource
from fairlead.wire.decision_records import DecisionRecord, whole_decisions
from fairlead.wire.raw import RawRecord

__all__ = ["Decisions", "Reading", "reaching_back", "read_decisions"]

Reading = Callable[[str, int], None]
"""Is told which topic is being read, and how many of its records were."""

_HOUR_MS: Final = 3_600_000
_REACHES_MS: Final = (_HOUR_MS, 24 * _HOUR_MS, 7 * 24 * _HOUR_MS)
_TOLD_EVERY: Final = 1_000
_BESIDE_MS: Final = 60_000
"""Decisions are stamped by their writer: they are read from so long before the time asked for."""


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
    found = _read(
        source, group, since_ms, None if since_ms is None else since_ms - _BESIDE_MS, reading
    )
    newest = max((each.cut.generation for each in found.audits), default=None)
    if found.is_whole or newest is None or not hides_newer(source, newest):
        return found
    return _read(source, group, since_ms, None, reading)


def _read(
    source: TopicSource, group: str, since_ms: int | None, from_ms: int | None, reading: Reading
) -> Decisions:
    found = Decisions(since_ms)

    def unread(row: RawRecord, why: str) -> None:
        found.unread.append(f"{row.topic}/{row.partition}@{row.offset} {why}")

    rows = _rows(source, group, found, from_ms, reading)
    found.audits.extend(whole_decisions(rows, source.partitions.shards, unread))
    return found


def _rows(
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
