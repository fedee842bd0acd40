"""Corrects an offset that is outside of its partition (ADR 0137)."""

import logging
from collections.abc import Callable, Mapping

from kafka import KafkaConsumer
from kafka.errors import KafkaError, LogTruncationError, OffsetOutOfRangeError
from kafka.structs import TopicPartition

from fairlead_client.model import Epoch, Queue
from fairlead_client.session.observer import Observer
from fairlead_client.session.session import Granted

logger = logging.getLogger(__name__)

ILLEGAL = (OffsetOutOfRangeError, LogTruncationError)
"""The errors of a poll for an offset outside of its partition."""


def illegal_partitions(error: KafkaError) -> list[TopicPartition]:
    """Return the partitions of an error of ILLEGAL."""
    if isinstance(error, LogTruncationError):
        return list(error.divergent_offsets)
    return list(error.args[0])


def corrected_offsets(
    consumer: KafkaConsumer,
    offsets: Mapping[TopicPartition, int],
    granted: Callable[[TopicPartition], Granted],
    timeout_ms: int,
) -> dict[TopicPartition, tuple[int, int]]:
    """Return (corrected offset, end) of each partition, by its present bounds.

    An offset below the beginning becomes the beginning. An offset beyond the end becomes the end,
    because a restart at the beginning could read a whole topic twice. If the work should *begin*
    beyond the end, the former member released a position that it cannot have reached: then the
    engine's own position counts, so that no message is skipped.

    Raises:
        KafkaError: the broker did not return the bounds in time.
    """
    partitions = list(offsets)
    if not partitions:
        return {}
    begins = consumer.beginning_offsets(partitions, timeout_ms=timeout_ms)
    ends = consumer.end_offsets(partitions, timeout_ms=timeout_ms)
    return {
        partition: (
            within(offset, granted(partition), begins[partition], ends[partition]),
            ends[partition],
        )
        for partition, offset in offsets.items()
    }


def report_correction(
    observer: Observer, queue: Queue, epoch: Epoch, offset: int, corrected: int
) -> None:
    """Log a corrected offset, and report it to the observer."""
    logger.warning("offset %d of %s is out of range; continuing at %d", offset, queue, corrected)
    observer.offset_corrected(queue, epoch, offset, corrected)


def within(offset: int, granted: Granted, begin: int, end: int) -> int:
    """Return the offset to go on at, by the rule of `corrected_offsets`."""
    believed = granted.offset
    if offset > end and offset == granted.start and believed is not None and believed <= end:
        offset = believed
    return min(max(offset, begin), end)
