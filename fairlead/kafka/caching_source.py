"""Topics that are read once each, for a command that asks about them again."""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence

from fairlead.kafka.missing_record import RecordPlace, WhyMissing
from fairlead.kafka.topic_source import TopicSource
from fairlead.wire.raw import Partitions, RawRecord
from fairlead.wire.topics import TopicNames

__all__ = ["OneLook"]


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

    def records_at(
        self, places: Collection[RecordPlace]
    ) -> Mapping[RecordPlace, RawRecord | WhyMissing]:
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
