"""RocketMQ's own round robin over the queues of a topic, exactly, line by line of its versions.

For whoever wants to change over without a difference: a Producer chooses so with `selection`
(`rocketmq_selector`); its default is `fair_selection`. The index is an argument and a
result: RocketMQ keeps one per thread and topic.
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
"""Whether a queue may be taken (TopicPublishInfo.QueueFilter)."""


class Selection(NamedTuple):
    """A queue, and the index as the selection leaves it (the value that ThreadLocalIndex holds)."""

    queue: Queue
    index_after: int


class NoQueueError(FairleadClientError):
    """There is no queue to choose; RocketMQ throws ArithmeticException, dividing by zero.

    Attributes:
        index: the index as the failed selection leaves it.
    """

    def __init__(self, index: int) -> None:
        super().__init__("the topic has no queue to write to; look at its route")
        self.index = index


def select_queue(
    version: Version, queues: Sequence[Queue], index: int, last_broker: str | None
) -> Selection:
    """Return the next queue of another broker than the last; of the last when it has them all.

    TopicPublishInfo#selectOneMessageQueue, in line 5 as MQFaultStrategy calls it when latency fault
    tolerance is off.

    Args:
        version: the line of RocketMQ.
        queues: the writable queues, in the order of the publish info.
        index: what the selection before left; any int.
        last_broker: where the attempt before failed; None at the first.

    Raises:
        NoQueueError: there are no queues.
        SettingsError: an unknown version.
    """
    if version == "4.3":
        return _select_4_3(queues, index, last_broker)
    if version not in VERSIONS:
        raise SettingsError("version", f"{version!r} is unknown", f"one of {', '.join(VERSIONS)}")
    found, index = probe(queues, index, lambda queue: queue.broker_name != last_broker)
    return next_queue(queues, index) if found is None else Selection(found, index)


def next_queue(queues: Sequence[Queue], index: int) -> Selection:
    """Return the next queue whoever has it (4.9 and 5: TopicPublishInfo#selectOneMessageQueue).

    Raises:
        NoQueueError: there are no queues; the index has moved on all the same.
    """
    index = as_int(index + 1)
    if not queues:
        raise NoQueueError(index)
    return Selection(queues[shown(index) % len(queues)], index)


def probe(queues: Sequence[Queue], index: int, *filters: Filter) -> tuple[Queue | None, int]:
    """Return the next queue that passes every filter, each look moving the index on (4.9 and 5).

    Without queues nothing is looked at; when none passes the index has gone once around.
    """
    count = len(queues)
    for _ in range(count):
        index = as_int(index + 1)
        queue = queues[shown(index) % count]
        if all(passes(queue) for passes in filters):
            return queue, index
    return None, index


def shown(index: int) -> int:
    """Return what incrementAndGet tells of an index: without the sign's bit."""
    return index & INT_MAX


def next_index_4_3(index: int) -> int:
    """Return the index after ThreadLocalIndex#getAndIncrement of 4.3, which tells it too."""
    return max(absolute(as_int(index + 1)), 0)


def next_queue_4_3(queues: Sequence[Queue], index: int) -> Selection:
    """Return the next queue whoever has it, as 4.3 does.

    Raises:
        NoQueueError: there are no queues; the index has moved on all the same.
    """
    index = next_index_4_3(index)
    if not queues:
        raise NoQueueError(index)
    return Selection(queues[index % len(queues)], index)


def queue_at(queues: Sequence[Queue], index: int) -> Queue:
    """Return the queue at a local index, which may have run over: Math.abs, and 0 if negative."""
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
