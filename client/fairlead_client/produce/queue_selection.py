"""RocketMQ's own round robin over the queues of a topic, exactly as its versions do it.

A Producer uses it with `selection="rocketmq-4"` or `"rocketmq-5"`; by default it uses
`fair_selection`. The index is an argument and a result: RocketMQ keeps one per thread and topic.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple, get_args

from fairlead_client.errors import FairleadClientError, SettingsError
from fairlead_client.model import Queue
from fairlead_client.produce.java_number import INT_MAX, absolute, as_int

Version = Literal["4.3", "4.9", "5"]
"""A line of RocketMQ: 4.3 to 4.8, 4.9 as 4.9.8 has it, and 5 from 5.1.4 on."""
VERSIONS: Final[tuple[Version, ...]] = get_args(Version)
Filter = Callable[[Queue], bool]
"""Returns whether a queue is allowed (TopicPublishInfo.QueueFilter)."""


def check_version(version: str) -> None:
    """Check that this is a line of RocketMQ.

    Raises:
        SettingsError: the line is unknown.
    """
    if version not in VERSIONS:
        known = ", ".join(VERSIONS)
        raise SettingsError("version", f"{version!r} is unknown", f"give one of {known}")


class Selection(NamedTuple):
    """A queue, and the index after the selection (the value of ThreadLocalIndex)."""

    queue: Queue
    index_after: int


class NoQueueError(FairleadClientError):
    """The topic has no queue to choose; RocketMQ throws ArithmeticException (division by zero).

    Attributes:
        index: the index after the failed selection.
    """

    def __init__(self, index: int) -> None:
        super().__init__("the topic has no queue to write to; check its route")
        self.index = index


def select_queue(
    version: Version, queues: Sequence[Queue], index: int, last_broker: str | None
) -> Selection:
    """Return the next queue of another broker than the last, or any if that broker has them all.

    Source: TopicPublishInfo#selectOneMessageQueue; in line 5 as MQFaultStrategy calls it without
    latency fault tolerance.

    Args:
        version: the line of RocketMQ.
        queues: the writable queues, in the order of the publish info.
        index: the index after the last selection; any int.
        last_broker: where the last attempt failed; None at the first.

    Raises:
        NoQueueError: there are no queues.
        SettingsError: an unknown version.
    """
    if version == "4.3":
        return _select_4_3(queues, index, last_broker)
    check_version(version)
    queue, index = probe(queues, index, lambda queue: queue.broker_name != last_broker)
    return next_queue(queues, index) if queue is None else Selection(queue, index)


def next_queue(queues: Sequence[Queue], index: int) -> Selection:
    """Return the next queue of any broker (4.9 and 5: TopicPublishInfo#selectOneMessageQueue).

    Raises:
        NoQueueError: there are no queues; the index has still moved on.
    """
    index = as_int(index + 1)
    if not queues:
        raise NoQueueError(index)
    return Selection(queues[shown(index) % len(queues)], index)


def probe(queues: Sequence[Queue], index: int, *filters: Filter) -> tuple[Queue | None, int]:
    """Return the next queue that passes every filter; each test moves the index (4.9 and 5).

    If no queue passes, the index has gone once around.
    """
    count = len(queues)
    for _ in range(count):
        index = as_int(index + 1)
        queue = queues[shown(index) % count]
        if all(passes(queue) for passes in filters):
            return queue, index
    return None, index


def shown(index: int) -> int:
    """Return an index as incrementAndGet returns it, without the sign's bit."""
    return index & INT_MAX


def next_index_4_3(index: int) -> int:
    """Return the index after ThreadLocalIndex#getAndIncrement of 4.3, which also returns it."""
    return max(absolute(as_int(index + 1)), 0)


def next_queue_4_3(queues: Sequence[Queue], index: int) -> Selection:
    """Return the next queue of any broker, as 4.3 does.

    Raises:
        NoQueueError: there are no queues; the index has still moved on.
    """
    index = next_index_4_3(index)
    if not queues:
        raise NoQueueError(index)
    return Selection(queues[index % len(queues)], index)


def queue_at(queues: Sequence[Queue], index: int) -> Queue:
    """Return the queue at a local index that may overflow: Math.abs, and 0 if negative."""
    at = absolute(as_int(index))
    return queues[at % len(queues) if at >= 0 else 0]


def _select_4_3(queues: Sequence[Queue], index: int, last_broker: str | None) -> Selection:
    if last_broker is not None:
        index = next_index_4_3(index)
        for step in range(len(queues)):
            queue = queue_at(queues, index + step)
            if queue.broker_name != last_broker:
                return Selection(queue, index)
    return next_queue_4_3(queues, index)
