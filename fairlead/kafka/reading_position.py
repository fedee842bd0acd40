"""Where a consumer reads on: a number also while its broker does not say where to begin."""

from typing import Final

from kafka import KafkaConsumer, TopicPartition

__all__ = ["UNKNOWN_POSITION", "position_of"]

UNKNOWN_POSITION: Final = -1
"""Below every offset, so that whoever reads up to an end is not there yet."""


def position_of(consumer: KafkaConsumer, partition: TopicPartition) -> int:
    """Return the offset of the record that is read next, or UNKNOWN_POSITION.

    kafka-python has no position from `seek_to_beginning`, or from records that retention removed
    before they were read, until the partition's leader has told where to begin. While that leader
    is restarted its `position` is None.
    """
    position: int | None = consumer.position(partition)
    return UNKNOWN_POSITION if position is None else position
