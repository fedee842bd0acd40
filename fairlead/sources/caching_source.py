"""Topics that are read once each: for one group that is asked about again, or for many groups."""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from fairlead.core.records import ALL_GROUPS, OffsetsKnown
from fairlead.sources.missing_record import Place, WhyMissing
from fairlead.sources.topic_source import TopicSource
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.member_records import LEASE_MS_MAX
from fairlead.wire.raw import Partitions, RawRecord
from fairlead.wire.record_keys import group_named
from fairlead.wire.topics import TopicNames

__all__ = ["GroupSource", "OneLook", "SharedSource"]

_WINDOW_MS: Final = 2 * LEASE_MS_MAX
"""Heartbeats and releases are read for so long at least, so that groups seldom ask for more."""
_WINDOWED: Final = ("heartbeats", "releases", "decisions")


def _tells_offsets(row: RawRecord, limits: WireLimits) -> bool:
    """Tell whether a bridge says in a record how far a group is."""
    if row.value is None:
        return False
    try:
        record = decode("offsets", row, limits)
    except WireError:
        return False
    return isinstance(record, OffsetsKnown) and bool(record.queues)


@dataclass(slots=True)
class _Read:
    """What was read of a topic: from when on, and whose in which partition."""

    since_ms: int | None
    of_group: dict[tuple[str, int], list[RawRecord]] = field(default_factory=dict)


class _Source:
    """What every source tells of the one behind it."""

    def __init__(self, source: TopicSource) -> None:
        self._source = source

    @property
    def names(self) -> TopicNames:
        """What the topics are called."""
        return self._source.names

    @property
    def partitions(self) -> Partitions:
        """How many partitions they have."""
        return self._source.partitions

    @property
    def place(self) -> str:
        """Where the topics are."""
        return self._source.place

    @property
    def tick_ms(self) -> int | None:
        """The period of the engine's ticks; None: as conf/ says."""
        return self._source.tick_ms

    def now_ms(self) -> int:
        """Return the time."""
        return self._source.now_ms()

    def partitions_of(self, suffix: str) -> range:
        """Return the partitions of a topic."""
        return self._source.partitions_of(suffix)

    def rows(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> Iterator[RawRecord]:
        """Yield what stands in some partitions of a topic, in order within each."""
        raise NotImplementedError

    def read(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> list[RawRecord]:
        """Return what `rows` yields."""
        return list(self.rows(suffix, partitions, since_ms))

    def records_at(self, places: Collection[Place]) -> Mapping[Place, RawRecord | WhyMissing]:
        """Return the record at each place, or why there is none."""
        return self._source.records_at(places)


class OneLook(_Source):
    """A source that remembers what it has read, for a command that comes back to it.

    What it hands out is as old as its first reading of that partition: it is for one look.
    """

    def __init__(self, source: TopicSource) -> None:
        """Look at this source."""
        super().__init__(source)
        self._read: dict[tuple[str, int], tuple[int | None, list[RawRecord]]] = {}
        self._newest: dict[tuple[str, int], int | None] = {}

    def rows(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> Iterator[RawRecord]:
        """Yield what stands in some partitions of a topic, in order within each."""
        unread = [each for each in partitions if not self._reaches(suffix, each, since_ms)]
        if unread:
            found: dict[int, list[RawRecord]] = {each: [] for each in unread}
            for row in self._source.rows(suffix, unread, since_ms):
                found[row.partition].append(row)
            for partition, rows in found.items():
                self._read[suffix, partition] = since_ms, rows
        for partition in partitions:
            rows = self._read[suffix, partition][1]
            if since_ms is None:
                yield from rows
            else:
                yield from itertools.dropwhile(lambda row: row.append_ms < since_ms, rows)

    def newest_ms(self, suffix: str, partition: int) -> int | None:
        """Return when the newest record of a partition was appended; None: there is none."""
        place = (suffix, partition)
        if place not in self._newest:
            self._newest[place] = self._source.newest_ms(suffix, partition)
        return self._newest[place]

    def _reaches(self, suffix: str, partition: int, since_ms: int | None) -> bool:
        """Tell whether a partition was read from at least so far back."""
        if (suffix, partition) not in self._read:
            return False
        begin_ms = self._read[suffix, partition][0]
        return begin_ms is None or (since_ms is not None and begin_ms <= since_ms)


class SharedSource:
    """Reads each topic once, and keeps its records by group.

    What it hands out is as old as its first reading: it is for one look at many groups.
    """

    def __init__(self, source: TopicSource) -> None:
        self._source = source
        self._read: dict[str, _Read] = {}
        self._newest: dict[tuple[str, int], int | None] = {}

    def groups(self) -> list[str]:
        """Return the groups that any record names, sorted.

        Not who was told that a topic is absent and nothing else: producers ask for routes too, and
        such an answer stands until the topic comes, also where nobody is called so any more.
        """
        found = {
            group
            for suffix in ("assignments", "control", "heartbeats")
            for (group, _), rows in self._rows(suffix, None).of_group.items()
            if any(row.value is not None for row in rows)
        }
        limits = WireLimits(self._source.partitions.shards)
        for (group, _), rows in self._rows("offsets", None).of_group.items():
            if group not in found and any(_tells_offsets(row, limits) for row in rows):
                found.add(group)
        return sorted(found - {"", ALL_GROUPS})

    def of(self, group: str) -> "GroupSource":
        """Return the source of one group."""
        return GroupSource(self, self._source, group)

    def rows_of(
        self, group: str, suffix: str, partition: int, since_ms: int | None
    ) -> Iterator[RawRecord]:
        """Yield the records of a group, and those for everybody, in their order."""
        read = self._rows(suffix, since_ms)
        found = [
            row
            for name in dict.fromkeys((group, "", ALL_GROUPS))
            for row in read.of_group.get((name, partition), ())
            if since_ms is None or row.append_ms >= since_ms
        ]
        yield from sorted(found, key=lambda row: row.offset)

    def newest_ms(self, suffix: str, partition: int) -> int | None:
        """Return when the newest record of a partition was appended; None: there is none."""
        place = (suffix, partition)
        if place not in self._newest:
            self._newest[place] = self._source.newest_ms(suffix, partition)
        return self._newest[place]

    def _rows(self, suffix: str, asked_ms: int | None) -> _Read:
        """Return what was read of a topic, from at least as far back as is asked for."""
        known = self._read.get(suffix)
        if known is not None and (
            known.since_ms is None or asked_ms is None or known.since_ms <= asked_ms
        ):
            return known
        partitions = self._source.partitions_of(suffix)
        since_ms = None
        if suffix in _WINDOWED:
            newest = [self.newest_ms(suffix, partition) for partition in partitions]
            since_ms = min((each for each in newest if each is not None), default=0) - _WINDOW_MS
            since_ms = max(since_ms if asked_ms is None else min(since_ms, asked_ms), 0)
        read = self._read[suffix] = _Read(since_ms)
        for row in self._source.rows(suffix, partitions, since_ms):
            named = group_named(suffix, row.key)
            read.of_group.setdefault((named, row.partition), []).append(row)
        return read


class GroupSource(_Source):
    """A source that has the records of one group alone, and those for everybody."""

    def __init__(self, shared: SharedSource, source: TopicSource, group: str) -> None:
        super().__init__(source)
        self._shared, self._group = shared, group

    def rows(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> Iterator[RawRecord]:
        """Yield the group's records in some partitions, and those for everybody."""
        for partition in partitions:
            yield from self._shared.rows_of(self._group, suffix, partition, since_ms)

    def newest_ms(self, suffix: str, partition: int) -> int | None:
        """Return when the newest record of a partition was appended, of whichever group."""
        return self._shared.newest_ms(suffix, partition)
