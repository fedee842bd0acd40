"""What a topic holds, read from its first record kept to its end as it is now."""

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
        topic: its name.
        partitions: the numbers of all its partitions, those without records too.
        records: every record; those of one partition are in the order of their offsets.
    """

    topic: str
    partitions: tuple[int, ...]
    records: tuple[RawRecord, ...]


def read_to_end(bootstrap: str, topic: str) -> TopicContent:
    """Return what the topic holds, up to the end of each partition when this is called.

    Raises:
        EnvironmentMissingError: there is no such topic, or the brokers fell silent.
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
                remedy="Check the bootstrap servers and the topic prefix.",
            )
        partitions = [TopicPartition(topic, number) for number in sorted(numbers)]
        return TopicContent(topic, tuple(sorted(numbers)), tuple(_read(consumer, partitions)))


def _read(consumer: KafkaConsumer, partitions: list[TopicPartition]) -> list[RawRecord]:
    consumer.assign(partitions)
    ends = consumer.end_offsets(partitions)
    consumer.seek_to_beginning(*partitions)
    found: list[RawRecord] = []
    heard = time.monotonic()
    while waiting := [p for p in partitions if position_of(consumer, p) < ends[p]]:
        for partition, records in consumer.poll(timeout_ms=_POLL_MS).items():
            heard = time.monotonic()
            found += [raw_record(r) for r in records if r.offset < ends[partition]]
        if time.monotonic() > heard + _SILENCE_SECONDS_MAX:
            names = ", ".join(f"{p.topic}/{p.partition}" for p in waiting)
            raise EnvironmentMissingError(
                f"kafka: nothing came from {names} for {_SILENCE_SECONDS_MAX:.0f} s.",
                remedy="Look at the brokers' logs.",
            )
    return found
