"""Recorded input topics for a replay: in memory, or in a folder of files."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fairlead.wire.raw import RawRecord
from fairlead.wire.topics import TopicNames

__all__ = ["Places", "RecordedLog", "Recording"]

Places = Mapping[str, Mapping[int, int]]
"""topic -> partition -> an offset."""


class RecordedLog(Protocol):
    """Input topics from which a replay reads a shard's batches."""

    def between(self, begin: Places, end: Places) -> list[RawRecord]:
        """Return the rows from one cut's positions up to another's."""
        ...

    def ends(self, names: TopicNames, shard: int) -> Places:
        """Return the ends of the topics that a shard reads."""
        ...

    def holds_all_below(self, topic: str, partition: int, stop: int, begin: int = 0) -> bool:
        """Tell whether every offset of a partition from ``begin`` to below ``stop`` is there."""
        ...


@dataclass(frozen=True, slots=True)
class Recording:
    """Input topics in memory: (topic, partition) -> rows by offset."""

    logs: Mapping[tuple[str, int], Sequence[RawRecord]]

    @classmethod
    def of(cls, rows: Iterable[RawRecord]) -> "Recording":
        """Return the recording of rows that come in any order."""
        logs: dict[tuple[str, int], list[RawRecord]] = {}
        for row in rows:
            logs.setdefault((row.topic, row.partition), []).append(row)
        return cls({place: sorted(log, key=_offset) for place, log in logs.items()})

    def between(self, begin: Places, end: Places) -> list[RawRecord]:
        """Return the rows from one cut's positions up to another's."""
        rows: list[RawRecord] = []
        for topic in sorted(end):
            for partition, stop in sorted(end[topic].items()):
                log = self.logs.get((topic, partition), ())
                start = begin.get(topic, {}).get(partition, 0)
                first = bisect_left(log, start, key=_offset)
                rows += log[first : bisect_left(log, stop, key=_offset)]
        return rows

    def ends(self, names: TopicNames, shard: int) -> Places:
        """Return the ends of the topics that a shard reads."""
        ends: dict[str, dict[int, int]] = {}
        for (topic, partition), log in self.logs.items():
            shared = names.suffix(topic) in {"routes", "offsets"}
            if log and (shared or partition == shard):
                ends.setdefault(topic, {})[partition] = log[-1].offset + 1
        return ends

    def holds_all_below(self, topic: str, partition: int, stop: int, begin: int = 0) -> bool:
        """Tell whether every offset of a partition from ``begin`` to below ``stop`` is there."""
        log = self.logs.get((topic, partition), ())
        first, end = (bisect_left(log, offset, key=_offset) for offset in (begin, stop))
        return end - first >= stop - begin


def _offset(row: RawRecord) -> int:
    return row.offset
