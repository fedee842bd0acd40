"""Where to go on when an offset is outside of its partition."""

from collections.abc import Mapping

from kafka import KafkaConsumer
from kafka.errors import KafkaError, LogTruncationError, OffsetOutOfRangeError
from kafka.structs import TopicPartition

ILLEGAL = (OffsetOutOfRangeError, LogTruncationError)
"""What a poll raises for an offset that it will not go on from."""


def illegal_partitions(error: KafkaError) -> list[TopicPartition]:
    """Return the partitions that one of the errors in ILLEGAL is about."""
    if isinstance(error, LogTruncationError):
        return list(error.divergent_offsets)
    return list(error.args[0])


def corrected(
    consumer: KafkaConsumer, offsets: Mapping[TopicPartition, int], timeout_ms: int
) -> dict[TopicPartition, tuple[int, int]]:
    """Return (where to go on, end) of each partition, by its bounds now.

    Below the beginning it is the beginning, beyond the end it is the end: to begin again there
    would read a whole topic twice, because its end was lost.

    Raises:
        KafkaError: the broker did not tell the bounds in time.
    """
    partitions = list(offsets)
    if not partitions:
        return {}
    begins = consumer.beginning_offsets(partitions, timeout_ms=timeout_ms)
    ends = consumer.end_offsets(partitions, timeout_ms=timeout_ms)
    return {
        partition: (min(max(offset, begins[partition]), ends[partition]), ends[partition])
        for partition, offset in offsets.items()
    }
