"""RocketMQ's choice of queues for a producer: the selections and tables of 4.9 and 5.

On Kafka a partition's leader counts as the broker, and its queues are numbered in the order of the
route. A queue without a leader is chosen only if there is no other. A topic has one index, where
RocketMQ has one for each thread, so a producer of one thread behaves exactly as RocketMQ's.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final, Literal
from weakref import WeakKeyDictionary

from fairlead_client.model import Queue
from fairlead_client.produce.broker_health import BrokerState
from fairlead_client.produce.fair_selection import FairRoundRobin
from fairlead_client.produce.java_number import as_int
from fairlead_client.produce.latency_table import LatencyTable
from fairlead_client.produce.queue_selection import Version, select_queue
from fairlead_client.produce.target import Target
from fairlead_client.rocketmq.fault_strategy import (
    Candidates,
    select_with_latency_4_9,
    select_with_latency_5,
)
from fairlead_client.rocketmq.latency_tolerance import LatencyTolerance4, LatencyTolerance5
from fairlead_client.routes.topic_route import QueueData

_READ_WRITE: Final = 6
Line = Literal["4.9", "5"]


class _View:
    """A topic's queues as a selection numbers them, and its index."""

    __slots__ = ("candidates", "index", "targets")

    def __init__(self, targets: Sequence[Target], start: int) -> None:
        led = [target for target in targets if target.broker is not None] or targets
        counts = Counter[str]()
        self.targets: dict[Queue, Target] = {}
        for target in led:
            broker = target.broker or target.queue.broker_name
            self.targets[Queue(target.queue.topic, broker, counts[broker])] = target
            counts[broker] += 1
        shares = tuple(QueueData(name, count, count, _READ_WRITE) for name, count in counts.items())
        self.candidates = Candidates(tuple(self.targets), shares)
        self.index = as_int(start)


class RocketMQSelector:
    """Chooses and learns as one line of RocketMQ does; several threads may use it.

    In line 4 a fast success frees a broker at once; line 5 never shortens a time of avoidance. Line
    5's detector is off, as by default: a broker without an answer stays reachable, and a broker
    that answers with an error is unreachable until a sending succeeds.

    Args:
        line: the line of RocketMQ.
        table: for how long a latency makes the producer avoid a broker.
        random: returns a random number from 0 to 2^31 - 1.
        avoid: whether latency and failures of earlier messages count (sendLatencyFaultEnable).
    """

    def __init__(
        self, line: Line, table: LatencyTable, random: Callable[[], int], *, avoid: bool = True
    ) -> None:
        self._line: Version = line
        self._table = table
        self._random = random
        self._avoid = avoid
        self._tolerance_4 = LatencyTolerance4()
        self._tolerance_5 = LatencyTolerance5()
        self._worst_index = random()
        self._views: WeakKeyDictionary[FairRoundRobin, _View] = WeakKeyDictionary()
        self._lock = Lock()

    def select(self, turns: FairRoundRobin, tried: Sequence[str], now_ms: int) -> Target:
        """Return the topic's next queue for a message that failed at these brokers.

        Raises:
            NoQueueError: there are no queues.
        """
        with self._lock:
            view = self._views.get(turns)
            if view is None:
                view = self._views[turns] = _View(turns.targets, self._random())
            last = tried[-1] if tried else None
            return view.targets[self._next(view, last, now_ms)]

    def succeeded(self, broker: str, latency_ms: int, *, now_ms: int) -> int:
        """Note an acknowledged message; return for how many ms the broker is avoided."""
        with self._lock:
            return self._learn(broker, latency_ms, now_ms, isolation=False, reachable=True)

    def failed(self, broker: str, latency_ms: int, *, reachable: bool, now_ms: int) -> int:
        """Note a failed sending; return for how many ms the broker is avoided."""
        with self._lock:
            # Without a detector, the broker's own error makes it unreachable (5.x).
            without_answer = not reachable
            return self._learn(broker, latency_ms, now_ms, isolation=True, reachable=without_answer)

    def forget_except(self, brokers: frozenset[str]) -> None:
        """Forget every broker but these."""
        with self._lock:
            for tolerance in (self._tolerance_4, self._tolerance_5):
                for item in tolerance.items():
                    if item.broker not in brokers:
                        tolerance.remove(item.broker)

    def states(self) -> dict[str, BrokerState]:
        """Return the state of each broker."""
        with self._lock:
            tolerance = self._tolerance_5 if self._line == "5" else self._tolerance_4
            return {
                item.broker: BrokerState(item.latency_ms, item.start_ms, item.reachable)
                for item in tolerance.items()
            }

    def _next(self, view: _View, last: str | None, now_ms: int) -> Queue:
        queues = view.candidates.queues
        if not self._avoid:
            queue, view.index = select_queue(self._line, queues, view.index, last)
        elif self._line == "5":
            queue, view.index = select_with_latency_5(
                queues,
                view.index,
                last,
                self._tolerance_5,
                reset_to=None if last is None else self._random(),
                now_ms=now_ms,
            )
        else:
            queue, view.index, self._worst_index = select_with_latency_4_9(
                view.candidates,
                view.index,
                self._tolerance_4,
                worst_index=self._worst_index,
                now_ms=now_ms,
            )
        return queue

    def _learn(
        self, broker: str, latency_ms: int, now_ms: int, *, isolation: bool, reachable: bool
    ) -> int:
        if not self._avoid:
            return 0
        avoided_ms = self._table.not_available_ms(latency_ms, isolation=isolation)
        if self._line != "5":
            self._tolerance_4.update(broker, latency_ms, avoided_ms, now_ms=now_ms)
            return avoided_ms
        self._tolerance_5.update(broker, latency_ms, avoided_ms, reachable=reachable, now_ms=now_ms)
        item = next(item for item in self._tolerance_5.items() if item.broker == broker)
        return max(0, item.start_ms - now_ms)
