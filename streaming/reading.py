"""Reads what a topic holds at this moment, from its first record to its end, and where both are."""

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from kafka import KafkaConsumer, TopicPartition
from kafka.consumer.fetcher import ConsumerRecord
from kafka.errors import KafkaError

from fairlead.errors import EnvironmentMissingError
from fairlead.settings import KafkaSettings
from fairlead.topics import require_reachable
from streaming.connection import REQUEST_TIMEOUT_MS, client_options

_POLL_MS: Final = 200
_IDLE_POLLS_MAX: Final = 150
"""Half a minute without anything: the broker has gone away."""


def consumer_of(kafka: KafkaSettings, name: str, **options: Any) -> KafkaConsumer:
    """Return a consumer that reads and does nothing else: no topic made, no offset committed.

    ``name`` is what it is called in the broker's log; ``options`` are its own besides.
    """
    return KafkaConsumer(
        **client_options(kafka, name),
        allow_auto_create_topics=False,
        enable_auto_commit=False,
        **options,
    )


def read_to_end(
    kafka: KafkaSettings, topic: str, partitions: Sequence[int], since_ms: int | None = None
) -> Iterator[ConsumerRecord]:
    """Yield the records of some partitions up to their ends of now, in order within each.

    Nothing is written by it: no topic is made and no offset committed.

    Args:
        kafka: the cluster.
        topic: a topic that exists.
        partitions: which of its partitions.
        since_ms: begin with the first record of each that has this timestamp or a later one;
            None: with the first.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    assigned = [TopicPartition(topic, partition) for partition in partitions]
    consumer = consumer_of(kafka, "reader")
    try:
        consumer.assign(assigned)
        consumer.seek_to_beginning()
        ends = consumer.end_offsets(assigned, timeout_ms=REQUEST_TIMEOUT_MS)
        if since_ms is not None:
            found = consumer.offsets_for_times(dict.fromkeys(assigned, since_ms))
            for partition in assigned:
                first = found.get(partition)
                consumer.seek(partition, ends[partition] if first is None else first.offset)
        idle = 0
        # By position and not by record: the last offsets of a compacted topic may be empty.
        while any(consumer.position(partition) < end for partition, end in ends.items()):
            batches = consumer.poll(timeout_ms=_POLL_MS)
            idle = 0 if batches else idle + 1
            if idle > _IDLE_POLLS_MAX:
                raise _unreadable(topic, "it stopped to answer")
            for records in batches.values():
                yield from records
    except KafkaError as error:
        raise _unreadable(topic, str(error)) from error
    finally:
        consumer.close()


def partitions_of(kafka: KafkaSettings, topic: str) -> int:
    """Return how many partitions a topic has; `partition_counts` has what it raises."""
    return partition_counts(kafka, [topic])[topic]


def partition_counts(kafka: KafkaSettings, topics: Sequence[str]) -> dict[str, int]:
    """Return how many partitions each of some topics has.

    Raises:
        EnvironmentMissingError: one is not there, or the cluster does not answer.
    """
    require_reachable(kafka.bootstrap)
    try:
        with contextlib.closing(consumer_of(kafka, "partitions")) as consumer:
            numbers = {topic: consumer.partitions_for_topic(topic) or () for topic in topics}
    except KafkaError as error:
        raise _unreadable(", ".join(topics), str(error)) from error
    missing = [topic for topic in topics if not numbers[topic]]
    if missing:
        raise EnvironmentMissingError(
            f"topics: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing at "
            f"{kafka.bootstrap}.",
            remedy="Check kafka.bootstrap and kafka.topic_prefix; an engine makes the topics.",
        )
    return {topic: len(found) for topic, found in numbers.items()}


def read_bounds(
    kafka: KafkaSettings, places: Collection[tuple[str, int]]
) -> dict[tuple[str, int], tuple[int, int]]:
    """Return the first offset that is there and the end of each partition (topic and number).

    Raises:
        EnvironmentMissingError: the log cannot be asked.
    """
    partitions = [TopicPartition(*place) for place in places]
    try:
        consumer = consumer_of(kafka, "bounds")
        try:
            firsts = consumer.beginning_offsets(partitions, timeout_ms=REQUEST_TIMEOUT_MS)
            ends = consumer.end_offsets(partitions, timeout_ms=REQUEST_TIMEOUT_MS)
        finally:
            consumer.close()
    except KafkaError as error:
        topics = ", ".join(sorted({topic for topic, _ in places}))
        raise _unreadable(topics, str(error)) from error
    return {(each.topic, each.partition): (firsts[each], ends[each]) for each in partitions}


def first_since(
    kafka: KafkaSettings, since_ms: Mapping[tuple[str, int], int]
) -> dict[tuple[str, int], int]:
    """Return the first offset of each partition whose record has this timestamp or a later one.

    Where there is none, the partition's end.

    Raises:
        EnvironmentMissingError: the log cannot be asked.
    """
    wanted = {TopicPartition(*place): max(since, 0) for place, since in since_ms.items()}
    try:
        with contextlib.closing(consumer_of(kafka, "bounds")) as consumer:
            ends = consumer.end_offsets([*wanted], timeout_ms=REQUEST_TIMEOUT_MS)
            found = consumer.offsets_for_times(wanted)
    except KafkaError as error:
        topics = ", ".join(sorted({topic for topic, _ in since_ms}))
        raise _unreadable(topics, str(error)) from error
    return {
        (each.topic, each.partition): ends[each] if found.get(each) is None else found[each].offset
        for each in wanted
    }


def read_newest(kafka: KafkaSettings, topic: str, partition: int) -> ConsumerRecord | None:
    """Return the newest record of a partition of a topic that is not compacted; None: it is empty.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    first, end = read_bounds(kafka, [(topic, partition)])[topic, partition]
    if first == end:
        return None
    newest = TopicPartition(topic, partition)
    consumer = consumer_of(kafka, "reader")
    try:
        consumer.assign([newest])
        consumer.seek(newest, end - 1)
        for _ in range(_IDLE_POLLS_MAX):
            for records in consumer.poll(timeout_ms=_POLL_MS).values():
                return records[0]
    except KafkaError as error:
        raise _unreadable(topic, str(error)) from error
    finally:
        consumer.close()
    raise _unreadable(topic, "it stopped to answer")


def read_places(
    kafka: KafkaSettings,
    places: Collection[tuple[str, int, int]],
    bounds: Mapping[tuple[str, int], tuple[int, int]],
) -> dict[tuple[str, int, int], ConsumerRecord]:
    """Return the records at some places (topic, partition, offset), where there is one.

    Args:
        kafka: the cluster.
        places: the places.
        bounds: what `read_bounds` says of their partitions.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
    """
    wanted: dict[TopicPartition, list[int]] = {}
    for topic, partition, offset in sorted(places):
        first, end = bounds[topic, partition]
        if first <= offset < end:
            wanted.setdefault(TopicPartition(topic, partition), []).append(offset)
    found: dict[tuple[str, int, int], ConsumerRecord] = {}
    if not wanted:
        return found
    topics = ", ".join(sorted({each.topic for each in wanted}))
    try:
        with contextlib.closing(consumer_of(kafka, "reader")) as consumer:
            for partition, offsets in wanted.items():
                for record in _read_offsets(consumer, partition, offsets):
                    found[record.topic, record.partition, record.offset] = record
    except KafkaError as error:
        raise _unreadable(topics, str(error)) from error
    return found


def _read_offsets(
    consumer: KafkaConsumer, partition: TopicPartition, offsets: Sequence[int]
) -> Iterator[ConsumerRecord]:
    """Yield the records of a partition at some offsets, ascending and below its end."""
    consumer.assign([partition])
    wanted, left, idle = frozenset(offsets), list(offsets), 0
    while left:
        if idle == 0:
            consumer.seek(partition, left[0])
        records = consumer.poll(timeout_ms=_POLL_MS).get(partition, ())
        yield from (record for record in records if record.offset in wanted)
        # By position and not by record: an offset of a compacted topic may be empty.
        reached = consumer.position(partition)
        idle = 0 if reached > left[0] else idle + 1
        if idle > _IDLE_POLLS_MAX:
            raise _unreadable(partition.topic, "it stopped to answer")
        left = [offset for offset in left if offset >= reached]


def follow(
    kafka: KafkaSettings, topic: str, begins: Mapping[int, int]
) -> Iterator[list[ConsumerRecord]]:
    """Yield what a topic gets from some offsets on (partition -> offset), poll by poll, for ever.

    A poll that brings nothing is an empty list.

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
        raise _unreadable(topic, str(error)) from error


def _unreadable(topic: str, reason: str) -> EnvironmentMissingError:
    return EnvironmentMissingError(
        f"kafka.bootstrap: {topic} cannot be read ({reason}).",
        remedy="Start the broker, and allow the engine to read that topic.",
    )
