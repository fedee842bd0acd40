"""Topics read to their ends as they are now."""

from collections.abc import Callable, Mapping

from kafka import KafkaConsumer, TopicPartition
from kafka.consumer.fetcher import ConsumerRecord

from tests.kit.awaiting import await_seen

__all__ = ["Polled", "read_to_ends"]

Polled = Mapping[TopicPartition, list[ConsumerRecord]]
_POLL_MS = 200
_ENDS_MS = 60_000
"""A broker that has just started again can be slow; the library asks twice within this."""


def read_to_ends(consumer: KafkaConsumer, take: Callable[[Polled], object]) -> None:
    """Hand over what stands in the partitions of a consumer from where it is on.

    Args:
        consumer: it has its partitions and its place in each.
        take: is given each batch.

    Raises:
        TimeoutError: the broker did not give everything in time; tells what is left.
    """
    ends = consumer.end_offsets(list(consumer.assignment()), timeout_ms=_ENDS_MS)

    def left() -> dict[TopicPartition, tuple[int, int]]:
        places = {place: (consumer.position(place), end) for place, end in ends.items()}
        unread = {place: (at, end) for place, (at, end) in places.items() if at < end}
        if unread:
            take(consumer.poll(timeout_ms=_POLL_MS))
        return unread

    await_seen(left, lambda unread: not unread, what="ends of the partitions", pause=0)
