"""Fairlead's topics on a live cluster, read and nothing else."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence

from fairlead.settings import KafkaSettings
from fairlead.sources.missing_record import Place, WhyMissing, why_missing
from fairlead.wire.raw import Partitions, RawRecord, raw_record
from fairlead.wire.topics import TopicNames
from streaming.reading import (
    follow,
    partition_counts,
    read_bounds,
    read_newest,
    read_places,
    read_to_end,
)

__all__ = ["KafkaSource"]

_READ = ("heartbeats", "releases", "control", "routes", "assignments")


class KafkaSource:
    """A source of records (``fairlead.sources.topic_source``) on a cluster."""

    tick_ms = None

    def __init__(self, kafka: KafkaSettings) -> None:
        """Ask the cluster how many partitions the topics have.

        Raises:
            EnvironmentMissingError: it does not answer, or a topic is not there.
        """
        self._kafka = kafka
        self.names = TopicNames(kafka.topic_prefix)
        self._counts = partition_counts(kafka, [self.names.name(topic) for topic in _READ])
        self.partitions = Partitions(
            shards=self._counts[self.names.name("heartbeats")],
            assignments=self._counts[self.names.name("assignments")],
        )

    @property
    def place(self) -> str:
        """The cluster, and how its topics begin."""
        return f"at {self._kafka.bootstrap}, topics {self._kafka.topic_prefix}…"

    def now_ms(self) -> int:
        """Return the time of this machine."""
        return time.time_ns() // 1_000_000

    def partitions_of(self, suffix: str) -> range:
        """Return the partitions of a topic.

        Raises:
            EnvironmentMissingError: it is not there.
        """
        topic = self.names.name(suffix)
        if topic not in self._counts:
            self._counts |= partition_counts(self._kafka, [topic])
        return range(self._counts[topic])

    def rows(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> Iterator[RawRecord]:
        """Yield what stands in some partitions of a topic, in order within each."""
        for record in read_to_end(self._kafka, self.names.name(suffix), partitions, since_ms):
            yield raw_record(record)

    def read(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> list[RawRecord]:
        """Return what `rows` yields."""
        return list(self.rows(suffix, partitions, since_ms))

    def newest_ms(self, suffix: str, partition: int) -> int | None:
        """Return when the newest record of a partition was appended; None: there is none."""
        record = read_newest(self._kafka, self.names.name(suffix), partition)
        return None if record is None else record.timestamp

    def records_at(self, places: Collection[Place]) -> Mapping[Place, RawRecord | WhyMissing]:
        """Return the record at each place, or why there is none."""
        ours = {place for place in places if self._has(place)}
        bounds = read_bounds(self._kafka, {(topic, number) for topic, number, _ in ours})
        found = read_places(self._kafka, ours, bounds)
        return {
            place: raw_record(found[place])
            if place in found
            else why_missing(self.names.suffix(place[0]), place[2], bounds.get(place[:2]))
            for place in places
        }

    def ends_of(self, suffix: str) -> Mapping[int, int]:
        """Return where each partition of a topic ends now."""
        topic = self.names.name(suffix)
        places = [(topic, number) for number in self.partitions_of(suffix)]
        bounds = read_bounds(self._kafka, places)
        return {number: end for (_, number), (_, end) in bounds.items()}

    def follow(self, suffix: str, begins: Mapping[int, int]) -> Iterator[list[RawRecord]]:
        """Yield what a topic gets from some offsets on, poll by poll, for ever."""
        for records in follow(self._kafka, self.names.name(suffix), begins):
            yield [raw_record(record) for record in records]

    def _has(self, place: Place) -> bool:
        suffix = self.names.suffix(place[0])
        return suffix is not None and place[1] in self.partitions_of(suffix)
