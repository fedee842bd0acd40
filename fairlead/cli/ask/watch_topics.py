"""The records of one group as they come, for `fairlead watch`."""

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from fairlead.kafka.connection import REQUEST_TIMEOUT_MS
from fairlead.kafka.partition_reading import partition_counts
from fairlead.kafka.reading_position import position_of
from fairlead.kafka.topic_reader import consumer_of, unreadable
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import Partitions, RawRecord, raw_record
from fairlead.wire.topics import TopicNames

if TYPE_CHECKING:
    from fairlead.settings import KafkaSettings

__all__ = ["GroupTopics", "Polled"]

_WINDOWS_MS: Final = {
    "control": None,
    "routes": None,
    "offsets": None,
    "generations": None,
    "assignments": None,
    "heartbeats": 120_000,
    "releases": 600_000,
}
"""How far back each topic is read; None: from its first record."""
_POLL_MS: Final = 250
_OF_SHARD: Final = frozenset(("control", "heartbeats", "releases"))


class Polled(NamedTuple):
    """The records of one poll.

    ``caught_up``: the reader has passed the ends of the topics at its start.
    """

    rows: list[RawRecord]
    caught_up: bool


class GroupTopics:
    """Follows the partitions with records of a group; commits nothing."""

    def __init__(self, kafka: "KafkaSettings", group: str, history_ms: int) -> None:
        """Ask the cluster how many partitions the topics have.

        Args:
            kafka: the cluster.
            group: its name.
            history_ms: how far back decisions are read.

        Raises:
            EnvironmentMissingError: the cluster does not answer, or lacks a topic.
        """
        self._kafka = kafka
        self.names = TopicNames(kafka.topic_prefix)
        self._windows = {**_WINDOWS_MS, "decisions": history_ms}
        counts = partition_counts(kafka, [self.names.name(each) for each in self._windows])
        self._counts = {suffix: counts[self.names.name(suffix)] for suffix in self._windows}
        self.partitions = Partitions(self._counts["heartbeats"], self._counts["assignments"])
        self._shard = partition_of_group(group, self.partitions.shards)

    def follow(self) -> Iterator[Polled]:
        """Yield records as they come, and an empty poll now and then, without end.

        Raises:
            EnvironmentMissingError: the topics cannot be read.
        """
        try:
            with contextlib.closing(consumer_of(self._kafka, "watch")) as consumer:
                yield from self._follow(consumer)
        except KafkaError as error:
            raise unreadable(self._kafka, "Fairlead's topics", error) from error

    def _follow(self, consumer: KafkaConsumer) -> Iterator[Polled]:
        places = {
            TopicPartition(self.names.name(suffix), partition): window_ms
            for suffix, window_ms in self._windows.items()
            for partition in self._partitions_of(suffix)
        }
        consumer.assign([*places])
        ends = consumer.end_offsets([*places], timeout_ms=REQUEST_TIMEOUT_MS)
        now_ms = time.time_ns() // 1_000_000
        windowed = {each: now_ms - ms for each, ms in places.items() if ms is not None}
        starts = consumer.offsets_for_times(windowed)
        consumer.seek_to_beginning(*(each for each in places if each not in windowed))
        for place in windowed:
            at = starts.get(place)
            consumer.seek(place, ends[place] if at is None else at.offset)
        open_places = set(places)
        while True:
            polled = consumer.poll(timeout_ms=_POLL_MS)
            open_places = {each for each in open_places if position_of(consumer, each) < ends[each]}
            rows = [raw_record(record) for records in polled.values() for record in records]
            yield Polled(rows, not open_places)

    def _partitions_of(self, suffix: str) -> list[int]:
        return [self._shard] if suffix in _OF_SHARD else [*range(self._counts[suffix])]
