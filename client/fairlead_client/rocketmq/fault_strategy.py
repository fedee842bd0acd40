"""RocketMQ's selection with latency fault tolerance, line by line (MQFaultStrategy).

Unlike RocketMQ's it changes no queue of its list: 4.3 and early 4.9 write the chosen broker into
the shared queue; here only the result has it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from fairlead_client.model import Queue
from fairlead_client.produce.java_number import as_int
from fairlead_client.produce.queue_selection import (
    Selection,
    next_index_4_3,
    next_queue,
    next_queue_4_3,
    probe,
    queue_at,
    shown,
)
from fairlead_client.rocketmq.latency_tolerance import LatencyTolerance, LatencyTolerance4
from fairlead_client.routes.topic_route import PERM_WRITE, QueueData


class WorstSelection(NamedTuple):
    """A selection of line 4: the queue, and both indexes after it."""

    queue: Queue
    index_after: int
    worst_index: int


@dataclass(frozen=True, slots=True)
class Candidates:
    """The choice of line 4: the publish info's queues, and the route's share of each broker."""

    queues: Sequence[Queue]
    queue_datas: Sequence[QueueData] = ()

    def write_queue_nums(self, broker: str, *, writable_only: bool) -> int:
        """Return the number of queues in the broker's first share, -1 if it has none.

        TopicPublishInfo#getQueueIdByBroker; 4.9.8 skips shares without the write bit.
        """
        for data in self.queue_datas:
            if data.broker_name == broker and (data.perm & PERM_WRITE or not writable_only):
                return data.write_queue_nums
        return -1


@dataclass(frozen=True, slots=True)
class _Line:
    """How a version counts, and which share of a broker it uses."""

    step: Callable[[int], int]
    shown: Callable[[int], int]
    next_queue: Callable[[Sequence[Queue], int], Selection]
    writable_only: bool


_LINE_4_9: Final = _Line(lambda index: as_int(index + 1), shown, next_queue, writable_only=True)
_LINE_4_3: Final = _Line(next_index_4_3, lambda index: index, next_queue_4_3, writable_only=False)


def select_with_latency_4_9(
    candidates: Candidates,
    index: int,
    tolerance: LatencyTolerance4,
    *,
    worst_index: int,
    now_ms: int,
) -> WorstSelection:
    """Return the next queue of an available broker, whichever broker failed last (4.9.8).

    If none is available, choose a queue, by its number alone, of a broker of the better half. If
    that broker has no writable queues, forget it and return the next queue.

    Args:
        candidates: the queues and the shares.
        index: `sendWhichQueue` after the last selection.
        tolerance: the state of the brokers.
        worst_index: `whichItemWorst` after the last selection.
        now_ms: the present time.

    Raises:
        NoQueueError: there are no queues.
    """
    queues = candidates.queues
    index = as_int(index + 1)
    for step in range(len(queues)):
        queue = queue_at(queues, shown(index) + step)
        if tolerance.is_available(queue.broker_name, now_ms):
            return WorstSelection(queue, index, worst_index)
    return _least_bad(
        candidates, index, tolerance, _LINE_4_9, worst_index=worst_index, now_ms=now_ms
    )


def select_with_latency_4_3(
    candidates: Candidates,
    index: int,
    last_broker: str | None,
    tolerance: LatencyTolerance4,
    *,
    worst_index: int,
    now_ms: int,
) -> WorstSelection:
    """Return the next queue as 4.3 to 4.7.1 do: a repeated attempt takes only the *failed* broker.

    This is a pitfall of RocketMQ, kept to show it. If two brokers rank equally, RocketMQ chooses
    at random; here the order of its table decides. The arguments are those of
    `select_with_latency_4_9`; `last_broker` is where the last attempt failed, None at the first.
    """
    queues = candidates.queues
    index = next_index_4_3(index)
    for step in range(len(queues)):
        queue = queue_at(queues, index + step)
        if tolerance.is_available(queue.broker_name, now_ms) and last_broker in (
            None,
            queue.broker_name,
        ):
            return WorstSelection(queue, index, worst_index)
    return _least_bad(
        candidates, index, tolerance, _LINE_4_3, worst_index=worst_index, now_ms=now_ms
    )


def select_with_latency_5(
    queues: Sequence[Queue],
    index: int,
    last_broker: str | None,
    tolerance: LatencyTolerance,
    *,
    reset_to: int | None = None,
    now_ms: int,
) -> Selection:
    """Return the next queue of an available, else of a reachable broker, never of the last one.

    If there is no such broker, return the next queue.

    Args:
        queues: the writable queues, in the order of the publish info.
        index: `sendWhichQueue` after the last selection.
        last_broker: where the last attempt failed; None at the first.
        tolerance: the state of the brokers.
        reset_to: a random index, 0 to 2^31 - 1, where a repeated attempt starts (resetIndex);
            None: start at `index`.
        now_ms: the present time.

    Raises:
        NoQueueError: there are no queues.
    """
    if reset_to is not None:
        index = reset_to
    queue, index = probe(
        queues,
        index,
        lambda queue: tolerance.is_available(queue.broker_name, now_ms),
        lambda queue: queue.broker_name != last_broker,
    )
    if queue is None:
        queue, index = probe(
            queues,
            index,
            lambda queue: tolerance.is_reachable(queue.broker_name),
            lambda queue: queue.broker_name != last_broker,
        )
    return next_queue(queues, index) if queue is None else Selection(queue, index)


def _least_bad(
    candidates: Candidates,
    index: int,
    tolerance: LatencyTolerance4,
    line: _Line,
    *,
    worst_index: int,
    now_ms: int,
) -> WorstSelection:
    """Return a queue of a broker of the better half, because no broker is available."""
    queues = candidates.queues
    if len(tolerance.items()) > 1:
        worst_index = line.step(worst_index)
    broker = tolerance.pick_one_at_least(line.shown(worst_index), now_ms)
    if broker is not None:
        count = candidates.write_queue_nums(broker, writable_only=line.writable_only)
        if count > 0:
            selected = line.next_queue(queues, index)
            index = line.step(selected.index_after)
            queue = Queue(selected.queue.topic, broker, line.shown(index) % count)
            return WorstSelection(queue, index, worst_index)
        tolerance.remove(broker)
    return WorstSelection(*line.next_queue(queues, index), worst_index)
