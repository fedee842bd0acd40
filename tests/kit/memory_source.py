"""The topics of an engine in memory, as a plan reads them."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from fairlead.kafka.missing_record import RecordPlace, WhyMissing, why_missing
from fairlead.wire.raw import RawRecord
from tests.kit.memory_topics import NAMES, PARTITIONS, Topics


class MemorySource:
    """Reads what clients, bridges and the engine wrote; compacted topics are compacted."""

    names = NAMES
    partitions = PARTITIONS
    place = "in memory"
    tick_ms = None

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self.reads: list[tuple[str, int | None]] = []
        """Topic and begin of each read."""

    def now_ms(self) -> int:
        """Return the time of the world."""
        return self._topics.now_ms

    def partitions_of(self, suffix: str) -> range:
        """Return the partitions of a topic."""
        shards, assignments = PARTITIONS
        counts = dict.fromkeys(("heartbeats", "releases", "control"), shards)
        return range({**counts, "assignments": assignments}.get(suffix, 1))

    def records_at(
        self, places: Collection[RecordPlace]
    ) -> Mapping[RecordPlace, RawRecord | WhyMissing]:
        """Return the record at each place."""
        return {place: self._record_at(*place) for place in places}

    def _record_at(self, topic: str, partition: int, offset: int) -> RawRecord | WhyMissing:
        suffix = self.names.suffix(topic)
        log = self._log(suffix, partition) if suffix is not None else []
        found = [row for row in log if row.offset == offset]
        end = log[-1].offset + 1 if log else 0
        return found[0] if found else why_missing(suffix, offset, (0, end))

    def rows(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> Iterator[RawRecord]:
        """Yield what stands in some partitions."""
        yield from self.read(suffix, partitions, since_ms)

    def read(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> list[RawRecord]:
        """Return what stands in some partitions."""
        self.reads.append((suffix, since_ms))
        return [
            row
            for partition in partitions
            for row in self._log(suffix, partition)
            if since_ms is None or row.append_ms >= since_ms
        ]

    def newest_ms(self, suffix: str, partition: int) -> int | None:
        """Return when the newest record was appended."""
        log = self._log(suffix, partition)
        return log[-1].append_ms if log else None

    def _log(self, suffix: str, partition: int) -> list[RawRecord]:
        log = self._topics.log(self.names.name(suffix), partition)
        if suffix not in ("control", "routes", "assignments"):
            return log
        newest = {row.key: row for row in log}
        return sorted(newest.values(), key=lambda row: row.offset)
