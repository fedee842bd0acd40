"""Reads a whole topic, from its first record to its current end."""

import contextlib
import time
from dataclasses import dataclass
from typing import Final

from kafka import KafkaConsumer, TopicPartition

from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.reading_position import position_of
from fairlead.wire.raw import RawRecord, raw_record

_POLL_MS: Final = 500
_SILENCE_SECONDS_MAX: Final = 30.0


@dataclass(frozen=True, slots=True)
class TopicContent:
    """A whole topic.

    Attributes:
        topic: the topic's name.
        partitions: the numbers of all its partitions, even without records.
        records: all records; those of one partition are in order.
    """

    topic: str
    partitions: tuple[int, ...]
    records: tuple[RawRecord, ...]


def read_to_end(bootstrap: str, topic: str) -> TopicContent:
    """Return the topic's content, up to the current end of each partition.

    Raises:
        EnvironmentMissingError: there is no such topic, or the brokers stopped answering.
    """
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap,
        enable_auto_commit=False,
        fetch_max_wait_ms=100,
        max_poll_records=5_000,
    )
    with contextlib.closing(consumer):
        numbers = consumer.partitions_for_topic(topic)
        if not numbers:
            raise EnvironmentMissingError(
                f"topic {topic}: it does not exist at {bootstrap}.",
                remedy="Check kafka.bootstrap and kafka.topic_prefix.",
            )
        partitions = [TopicPartition(topic, number) for number in sorted(numbers)]
        return TopicContent(topic, tuple(sorted(numbers)), tuple(_read(consumer, partitions)))


def _read(consumer: KafkaConsumer, partitions: list[TopicPartition]) -> list[RawRecord]:
    consumer.assign(partitions)
    ends = consumer.end_offsets(partitions)
    consumer.seek_to_beginning(*partitions)
    content: list[RawRecord] = []
    heard = time.monotonic()
    while waiting := [p for p in partitions if position_of(consumer, p) < ends[p]]:
        for partition, records in consumer.poll(timeout_ms=_POLL_MS).items():
            heard = time.monotonic()
            content += [raw_record(r) for r in records if r.offset < ends[partition]]
        if time.monotonic() > heard + _SILENCE_SECONDS_MAX:
            names = ", ".join(f"{p.topic}/{p.partition}" for p in waiting)
            raise EnvironmentMissingError(
                f"kafka: no records from {names} for {_SILENCE_SECONDS_MAX:.0f} s.",
                remedy="Check the brokers' logs.",
            )
    return content
