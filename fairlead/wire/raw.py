"""Records as Kafka carries them: bytes with a place in the log.

Nothing here knows what the bytes mean.
"""

from typing import Any, Final, NamedTuple

__all__ = ["LOG_APPEND_TIME", "OutgoingRecord", "Partitions", "RawRecord", "raw_record"]

LOG_APPEND_TIME: Final = 1
"""Kafka's number for a timestamp that the broker set at the append."""


class RawRecord(NamedTuple):
    """A record as it was read. ``append_ms`` is its timestamp; ``append_time_is_log`` says whose.

    True means that the broker set it when it appended the record (LogAppendTime).
    """

    topic: str
    partition: int
    offset: int
    append_ms: int
    append_time_is_log: bool
    key: bytes | None
    value: bytes | None


def raw_record(record: Any) -> RawRecord:
    """Return what kafka-python read (its ConsumerRecord) as the engine reads it."""
    return RawRecord(
        record.topic,
        record.partition,
        record.offset,
        record.timestamp,
        record.timestamp_type == LOG_APPEND_TIME,
        record.key,
        record.value,
    )


class OutgoingRecord(NamedTuple):
    """A record to be written. A ``value`` of None deletes what the key held."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None


class Partitions(NamedTuple):
    """How many partitions the topics have that have more than one.

    ``shards`` holds for heartbeats, releases and control alike.
    """

    shards: int
    assignments: int
