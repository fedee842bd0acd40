"""The topics of one test: appends records, and waits for records to appear."""

import itertools
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Final, Self

import orjson
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.consumer.fetcher import ConsumerRecord

from fairlead.settings import KafkaSettings
from fairlead.wire.partition import partition_of_group
from fairlead.wire.topics import TopicNames
from tests.kit.awaiting import LONGEST_SECONDS, await_seen
from tests.kit.topic_reading import read_to_ends

WAIT_SECONDS_MAX: Final = LONGEST_SECONDS

SHARDS: Final = 4
"""Partitions of heartbeats, as conf/ says."""


class Log(AbstractContextManager["Log"]):
    """Reads every topic from its first record, and remembers what it has read."""

    def __init__(self, kafka: KafkaSettings) -> None:
        self.names = TopicNames(kafka.topic_prefix)
        self.check: Callable[[], None] = lambda: None
        """Called while a record is awaited: raises if nobody is left who could write it."""
        self._bootstrap = kafka.bootstrap
        self._producer = KafkaProducer(bootstrap_servers=kafka.bootstrap, acks="all")
        self._consumers: dict[str, KafkaConsumer] = {}
        self._read: dict[str, list[ConsumerRecord]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._producer.close()
        for consumer in self._consumers.values():
            consumer.close()

    def append(
        self, suffix: str, value: bytes | None, key: bytes | None = None, partition: int = 0
    ) -> int:
        """Append a record and return its offset, once it is in the log."""
        topic = self.names.name(suffix)
        sent = self._producer.send(topic, value=value, key=key, partition=partition)
        offset: int = sent.get(timeout=30).offset
        return offset

    def append_of(self, suffix: str, group: str, value: Mapping[str, Any] | bytes) -> None:
        """Append a record of a group to its partition, under the group's key."""
        if isinstance(value, Mapping):
            value = orjson.dumps({"v": 1, **value})
        partition = partition_of_group(group, SHARDS)
        topic = self.names.name(suffix)
        self._producer.send(topic, value=value, key=group.encode(), partition=partition).get(30)

    def records(self, suffix: str) -> list[ConsumerRecord]:
        """Return everything in a topic by now; in order within each partition."""
        read_to_ends(self._consumer(suffix), partial(self._take, suffix))
        return list(self._read[suffix])

    def await_record(
        self,
        suffix: str,
        wanted: Callable[[ConsumerRecord], bool],
        seconds_max: float = WAIT_SECONDS_MAX,
    ) -> ConsumerRecord:
        """Return the first record of a topic that is wanted, waiting for it if it must.

        Raises:
            TimeoutError: it did not appear; says what did.
        """
        consumer = self._consumer(suffix)
        found: list[ConsumerRecord] = []
        looked = 0

        def look() -> list[ConsumerRecord]:
            nonlocal looked
            read = self._read[suffix]
            found.extend(itertools.islice(filter(wanted, read[looked:]), 1))
            looked = len(read)
            if not found:
                self.check()
                self._take(suffix, consumer.poll(timeout_ms=200))
            return read

        await_seen(
            look, lambda _: found, what=f"such record of {suffix}", seconds=seconds_max, pause=0
        )
        return found[0]

    def bodies(self, suffix: str) -> list[Any]:
        """Return everything in a topic by now, parsed; deletions are left out."""
        return [orjson.loads(each.value) for each in self.records(suffix) if each.value is not None]

    def _take(self, suffix: str, polled: Mapping[TopicPartition, list[ConsumerRecord]]) -> None:
        for records in polled.values():
            self._read[suffix] += records

    def _consumer(self, suffix: str) -> KafkaConsumer:
        if suffix not in self._consumers:
            topic = self.names.name(suffix)
            consumer = KafkaConsumer(bootstrap_servers=self._bootstrap)
            numbers = consumer.partitions_for_topic(topic)
            consumer.assign([TopicPartition(topic, number) for number in sorted(numbers)])
            consumer.seek_to_beginning()
            self._consumers[suffix], self._read[suffix] = consumer, []
        return self._consumers[suffix]


def body_of(record: ConsumerRecord) -> dict[str, Any]:
    """Return a record's value, parsed; a deletion is empty."""
    body: dict[str, Any] = orjson.loads(record.value) if record.value is not None else {}
    return body
