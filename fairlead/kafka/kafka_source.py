"""Read-only access to Fairlead's topics on a live cluster."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from fairlead.kafka.missing_record import RecordPlace, WhyMissing, why_missing
from fairlead.kafka.partition_reading import follow
from fairlead.kafka.topic_reader import TopicReader
from fairlead.settings import KafkaSettings
from fairlead.wire.raw import Partitions, RawRecord, raw_record
from fairlead.wire.topics import ALL_TOPICS, TopicNames

__all__ = ["KafkaSource"]

_READ: Final = ("heartbeats", "releases", "control", "routes", "assignments")
"""Suffixes of the topics that every question needs."""


class KafkaSource:
    """A source of records (``fairlead.kafka.topic_source``) on a cluster; uses one connection."""

    tick_ms = None

    def __init__(self, kafka: KafkaSettings) -> None:
        """Ask the cluster for the topics' partitions.

        Raises:
            EnvironmentMissingError: it does not answer, or a topic does not exist.
        """
        self._kafka = kafka
        self.names = TopicNames(kafka.topic_prefix)
        self.reader = TopicReader(kafka)
        self._counts = self.reader.partition_counts(
            [self.names.name(each) for each in _READ],
            also=[self.names.name(each) for each in ALL_TOPICS if each not in _READ],
        )
        self.partitions = Partitions(
            shards=self._counts[self.names.name("heartbeats")],
            assignments=self._counts[self.names.name("assignments")],
        )

    @property
    def place(self) -> str:
        """The cluster and the topics' prefix."""
        return f"at {self._kafka.bootstrap}, topics {self._kafka.topic_prefix}…"

    def now_ms(self) -> int:
        """Return the time of this machine."""
        return time.time_ns() // 1_000_000

    def partitions_of(self, suffix: str) -> range:
        """Return the partitions of a topic.

        Raises:
            EnvironmentMissingError: it does not exist.
        """
        topic = self.names.name(suffix)
        if topic not in self._counts:
            self._counts |= self.reader.partition_counts([topic])
        return range(self._counts[topic])

    def rows(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> Iterator[RawRecord]:
        """Yield what stands in some partitions of a topic, in order within each.

        Raises:
            EnvironmentMissingError: it does not exist, or cannot be read.
        """
        for record in self.reader.read_to_end(self._there(suffix), partitions, since_ms):
            yield raw_record(record)

    def read(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> list[RawRecord]:
        """Return what `rows` yields."""
        return list(self.rows(suffix, partitions, since_ms))

    def newest_ms(self, suffix: str, partition: int) -> int | None:
        """Return the append time of a partition's newest record; None if there is none."""
        record = self.reader.newest(self._there(suffix), partition)
        return None if record is None else record.timestamp

    def records_at(
        self, places: Collection[RecordPlace]
    ) -> Mapping[RecordPlace, RawRecord | WhyMissing]:
        """Return the record at each place, or why there is none."""
        ours = {place for place in places if self._has(place)}
        bounds = self.reader.bounds({(topic, number) for topic, number, _ in ours})
        records = self.reader.records_at(ours, bounds)
        return {
            place: raw_record(records[place])
            if place in records
            else why_missing(self.names.suffix(place[0]), place[2], bounds.get(place[:2]))
            for place in places
        }

    def ends_of(self, suffix: str) -> Mapping[int, int]:
        """Return where each partition of a topic ends now."""
        topic = self.names.name(suffix)
        places = [(topic, number) for number in self.partitions_of(suffix)]
        bounds = self.reader.bounds(places)
        return {number: end for (_, number), (_, end) in bounds.items()}

    def follow(self, suffix: str, begins: Mapping[int, int]) -> Iterator[list[RawRecord]]:
        """Yield a topic's records from some offsets on, poll by poll, forever."""
        for records in follow(self._kafka, self.names.name(suffix), begins):
            yield [raw_record(record) for record in records]

    def _there(self, suffix: str) -> str:
        """Return the name of an existing topic; reading another one would wait, or create it."""
        self.partitions_of(suffix)
        return self.names.name(suffix)

    def _has(self, place: RecordPlace) -> bool:
        suffix = self.names.suffix(place[0])
        return suffix is not None and place[1] in self.partitions_of(suffix)
