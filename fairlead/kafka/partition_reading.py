"""Reads a topic's current records, and its first and end offsets.

Each function asks one question and closes its connection; `TopicReader` asks many through one.
"""

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from kafka import TopicPartition
from kafka.consumer.fetcher import ConsumerRecord
from kafka.errors import KafkaError

from fairlead.kafka.topic_reader import TopicReader, consumer_of, unreadable
from fairlead.settings import KafkaSettings

_POLL_MS: Final = 200


def read_to_end(
    kafka: KafkaSettings, topic: str, partitions: Sequence[int], since_ms: int | None = None
) -> Iterator[ConsumerRecord]:
    """Yield the records of `TopicReader.read_to_end`."""
    with TopicReader(kafka) as reader:
        yield from reader.read_to_end(topic, partitions, since_ms)


def partitions_of(kafka: KafkaSettings, topic: str) -> int:
    """Return a topic's number of partitions; raises like `TopicReader.partition_counts`."""
    return partition_counts(kafka, [topic])[topic]


def partition_counts(kafka: KafkaSettings, topics: Sequence[str]) -> dict[str, int]:
    """Return the result of `TopicReader.partition_counts`."""
    with TopicReader(kafka) as reader:
        return reader.partition_counts(topics)


def read_bounds(
    kafka: KafkaSettings, places: Collection[tuple[str, int]]
) -> dict[tuple[str, int], tuple[int, int]]:
    """Return the result of `TopicReader.bounds`."""
    with TopicReader(kafka) as reader:
        return reader.bounds(places)


def first_since(
    kafka: KafkaSettings, since_ms: Mapping[tuple[str, int], int]
) -> dict[tuple[str, int], int]:
    """Return the result of `TopicReader.first_since`."""
    with TopicReader(kafka) as reader:
        return reader.first_since(since_ms)


def follow(
    kafka: KafkaSettings, topic: str, begins: Mapping[int, int]
) -> Iterator[list[ConsumerRecord]]:
    """Yield a topic's records from some offsets on (partition -> offset), poll by poll, forever.

    A poll without records yields an empty list.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    try:
        with contextlib.closing(consumer_of(kafka, "follower")) as consumer:
            consumer.assign([TopicPartition(topic, partition) for partition in begins])
            for partition, offset in begins.items():
                consumer.seek(TopicPartition(topic, partition), offset)
            while True:
                batches = consumer.poll(timeout_ms=_POLL_MS)
                yield [record for records in batches.values() for record in records]
    except KafkaError as error:
        raise unreadable(kafka, topic, error) from error
