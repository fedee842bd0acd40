"""A consumer's position, as a number even while its broker does not report where to begin."""

from typing import Final

from kafka import KafkaConsumer, TopicPartition

__all__ = ["UNKNOWN_POSITION", "position_of"]

UNKNOWN_POSITION: Final = -1
"""Below every offset, so that no reader takes it for the end."""


def position_of(consumer: KafkaConsumer, partition: TopicPartition) -> int:
    """Return the offset of the next record to read, or UNKNOWN_POSITION.

    After `seek_to_beginning`, or after retention has removed unread records, kafka-python has no
    position until the partition's leader answers. While the leader restarts, `position` is None.
    """
    position: int | None = consumer.position(partition)
    return UNKNOWN_POSITION if position is None else position
