"""A source that reads each topic once, for commands that ask about it again."""

import itertools
from collections.abc import Iterator, Sequence

from fairlead.kafka.forwarding_source import ForwardingSource
from fairlead.kafka.topic_source import TopicSource
from fairlead.wire.raw import RawRecord

__all__ = ["CachingSource"]


class CachingSource(ForwardingSource):
    """A source that remembers what it has read.

    Its records are as old as the first reading of their partition, so use it for one command only.
    """

    def __init__(self, source: TopicSource) -> None:
        """Read from this source."""
        super().__init__(source)
        self._read: dict[tuple[str, int], tuple[int | None, list[RawRecord]]] = {}
        self._newest: dict[tuple[str, int], int | None] = {}

    def rows(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> Iterator[RawRecord]:
        """Yield what stands in some partitions of a topic, in order within each."""
        unread = [each for each in partitions if not self._reaches(suffix, each, since_ms)]
        if unread:
            fetched: dict[int, list[RawRecord]] = {each: [] for each in unread}
            for row in self._source.rows(suffix, unread, since_ms):
                fetched[row.partition].append(row)
            for partition, rows in fetched.items():
                self._read[suffix, partition] = since_ms, rows
        for partition in partitions:
            rows = self._read[suffix, partition][1]
            if since_ms is None:
                yield from rows
            else:
                yield from itertools.dropwhile(lambda row: row.append_ms < since_ms, rows)

    def newest_ms(self, suffix: str, partition: int) -> int | None:
        """Return the append time of a partition's newest record; None if there is none."""
        place = (suffix, partition)
        if place not in self._newest:
            self._newest[place] = self._source.newest_ms(suffix, partition)
        return self._newest[place]

    def _reaches(self, suffix: str, partition: int, since_ms: int | None) -> bool:
        """Tell whether the partition was read from this time or an earlier one."""
        if (suffix, partition) not in self._read:
            return False
        begin_ms = self._read[suffix, partition][0]
        return begin_ms is None or (since_ms is not None and begin_ms <= since_ms)
