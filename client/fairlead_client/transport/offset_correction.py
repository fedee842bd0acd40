"""Where to go on when an offset is outside of its partition (ADR 0137)."""

from collections.abc import Callable, Mapping

from kafka import KafkaConsumer
from kafka.errors import KafkaError, LogTruncationError, OffsetOutOfRangeError
from kafka.structs import TopicPartition

from fairlead_client.session.session import Granted

ILLEGAL = (OffsetOutOfRangeError, LogTruncationError)
"""What a poll raises for an offset that it will not go on from."""


def illegal_partitions(error: KafkaError) -> list[TopicPartition]:
    """Return the partitions that one of the errors in ILLEGAL is about."""
    if isinstance(error, LogTruncationError):
        return list(error.divergent_offsets)
    return list(error.args[0])


def corrected_offsets(
    consumer: KafkaConsumer,
    offsets: Mapping[TopicPartition, int],
    granted: Callable[[TopicPartition], Granted],
    timeout_ms: int,
) -> dict[TopicPartition, tuple[int, int]]:
    """Return (where to go on, end) of each partition, by its bounds now.

    Below the beginning it is the beginning, beyond the end it is the end: to begin again there
    would read a whole topic twice, because its end was lost. But where the work was to *begin*
    beyond the end, the member before has released a position that it cannot have reached: then it
    is where the engine itself said, so that nothing is passed over.

    Raises:
        KafkaError: the broker did not tell the bounds in time.
    """
    partitions = list(offsets)
    if not partitions:
        return {}
    begins = consumer.beginning_offsets(partitions, timeout_ms=timeout_ms)
    ends = consumer.end_offsets(partitions, timeout_ms=timeout_ms)
    return {
        partition: (
            _within(offset, granted(partition), begins[partition], ends[partition]),
            ends[partition],
        )
        for partition, offset in offsets.items()
    }


def _within(offset: int, granted: Granted, begin: int, end: int) -> int:
    believed = granted.offset
    if offset > end and offset == granted.start and believed is not None and believed <= end:
        offset = believed
    return min(max(offset, begin), end)
