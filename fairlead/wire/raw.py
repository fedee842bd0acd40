"""Records as Kafka carries them: bytes with a position in the log."""

from typing import Any, Final, NamedTuple

__all__ = ["LOG_APPEND_TIME", "OutgoingRecord", "Partitions", "RawRecord", "raw_record"]

LOG_APPEND_TIME: Final = 1
"""Kafka's number for a timestamp that the broker has set at the append."""


class RawRecord(NamedTuple):
    """A record as it was read.

    ``append_ms`` is its timestamp. ``append_time_is_log``: the broker has set the timestamp when it
    appended the record (LogAppendTime).
    """

    topic: str
    partition: int
    offset: int
    append_ms: int
    append_time_is_log: bool
    key: bytes | None
    value: bytes | None


def raw_record(record: Any) -> RawRecord:
    """Convert a ConsumerRecord of kafka-python."""
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
    """The partition counts of the topics with several partitions.

    ``shards`` is the number for heartbeats, releases and control.
    """

    shards: int
    assignments: int
