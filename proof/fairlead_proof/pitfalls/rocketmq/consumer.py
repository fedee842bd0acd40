"""A push consumer of RocketMQ: it computes its own share from what it sees itself.

Source: RebalanceService, RebalanceImpl, RebalancePushImpl, MQClientInstance. It knows nothing of
other consumers: everything comes from the broker that it asks and from its own route.
"""

from dataclasses import dataclass, field
from typing import Protocol

from fairlead.core.allocation import AllocationError
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order
from fairlead_proof.pitfalls.ledger import Ledger
from fairlead_proof.pitfalls.rocketmq.times import Times
from fairlead_proof.pitfalls.scene import Scene
from fairlead_proof.pitfalls.tenure import Tenure
from strategies.registry import ROCKETMQ

__all__ = ["Calls", "Consumer"]


class Calls(Protocol):
    """The calls of a consumer to the brokers."""

    @property
    def now_ms(self) -> int:
        """The present."""

    def look_up(self, consumer: "Consumer") -> list[str] | None:
        """Return the consumer ids as one broker knows them; None: the call failed."""

    def lock(self, consumer: "Consumer", queue: MessageQueue) -> bool:
        """Ask for the lock of a queue."""

    def unlock(self, consumer: "Consumer", queue: MessageQueue) -> None:
        """Give a lock back."""

    def persist(self, consumer: "Consumer", queue: MessageQueue, offset: int) -> None:
        """Send an offset, without waiting for an answer."""

    def stored(self, consumer: "Consumer", queue: MessageQueue) -> None:
        """Ask for the stored offset of a queue; the answer comes to :meth:`Consumer.pull`."""


@dataclass(slots=True)
class Consumer:
    """One process.

    ``table``: the queues that it owns by its own view, each with its tenure; None while it asks for
    the stored offset. ``routes``: topic -> its number of queues, as this process last saw it.
    """

    process: str
    client_id: str
    topics: list[str]
    scene: Scene
    times: Times
    ledger: Ledger
    calls: Calls
    routes: dict[str, int] = field(default_factory=dict)
    table: dict[MessageQueue, Tenure | None] = field(default_factory=dict)
    alive: bool = True
    frozen_until_ms: int = 0
    runs: int = 0

    def rebalance(self) -> int:
        """Share every topic again; return the milliseconds until the next time.

        Source: RebalanceImpl#doRebalance, #rebalanceByTopic.
        """
        self.runs += 1
        again_ms = self.times.tick_ms
        for topic in list(self.topics):
            client_ids = self.calls.look_up(self)
            if client_ids is None:
                # RocketMQ counts it as a successful run: the next try is the next tick.
                continue
            try:
                retry_ms = self._apply(topic, self._share(topic, client_ids))
            except AllocationError:
                retry_ms = self.times.retry_ms
            if retry_ms is not None:
                again_ms = min(again_ms, retry_ms)
        self._truncate()
        return again_ms

    def _share(self, topic: str, client_ids: list[str]) -> list[MessageQueue]:
        """Return this consumer's share of a topic.

        Raises:
            AllocationError: the strategy refuses; nothing may change.
        """
        queues = self.scene.queues_of(topic, self.routes[topic])
        ordered_ids = sorted(client_ids, key=java_order)
        dealing = ROCKETMQ[self.scene.strategy].deal(queues, ordered_ids, self.scene.options)
        return list(dealing(self.client_id))

    def _apply(self, topic: str, target: list[MessageQueue]) -> int | None:
        """Drop lost queues, take new ones; return when to try a refused lock again.

        Source: RebalanceImpl#updateProcessQueueTableInRebalance.
        """
        for queue in [queue for queue in self.table if queue.topic == topic]:
            if queue not in target:
                self._drop(queue)
        failed = False
        for queue in target:
            if queue in self.table:
                continue
            if self.scene.ordered and not self.calls.lock(self, queue):
                failed = True
                continue
            self.table[queue] = None
            self.calls.stored(self, queue)
        return self.times.lock_retry_ms if failed else None

    def _drop(self, queue: MessageQueue) -> None:
        """Stop, and send the offset; the next owner reads the messages in hand again.

        Source: RebalancePushImpl#removeUnnecessaryMessageQueue.
        """
        tenure = self._end(queue)
        if tenure is not None:
            self.calls.persist(self, queue, tenure.processed(self.calls.now_ms))
        if self.scene.ordered:
            self.calls.unlock(self, queue)

    def _truncate(self) -> None:
        """Drop queues of unsubscribed topics, without sending offsets or giving locks back.

        Source: RebalanceImpl#truncateMessageQueueNotMyTopic.
        """
        for queue in [queue for queue in self.table if queue.topic not in self.topics]:
            self._end(queue)

    def _end(self, queue: MessageQueue) -> Tenure | None:
        tenure = self.table.pop(queue)
        if tenure is not None and tenure.end_ms is None:
            self.ledger.close(tenure, self.calls.now_ms)
            self.ledger.add_line(
                self.calls.now_ms,
                f"{self.process} stops {self.scene.name_of(queue)} at "
                f"{tenure.processed(self.calls.now_ms)}",
            )
        return tenure

    def pull(self, queue: MessageQueue, offset: int) -> None:
        """Begin to pull a queue at its stored offset, unless the consumer has dropped it."""
        if self.table.get(queue, 0) is not None:
            return
        now_ms = self.calls.now_ms
        begins_ms = now_ms + self.times.first_pull_ms
        self.table[queue] = self.ledger.begin(queue, self.process, offset, now_ms, begins_ms)
        name = self.scene.name_of(queue)
        self.ledger.add_line(now_ms, f"{self.process} starts {name} at {offset}")

    def flush(self) -> None:
        """Send the offsets of all queues (MQClientInstance#persistAllConsumerOffset)."""
        for queue, tenure in self.table.items():
            if tenure is not None:
                self.calls.persist(self, queue, tenure.processed(self.calls.now_ms))

    def renew(self) -> None:
        """Renew the locks of all queues (RebalanceImpl#lockAll)."""
        for queue in self.table:
            self.calls.lock(self, queue)

    def stand_still(self) -> None:
        """Freeze: nothing runs from now on, and messages in hand stay in hand."""
        for tenure in self.table.values():
            if tenure is not None:
                self.ledger.close(tenure, self.calls.now_ms)

    def go_on(self) -> None:
        """Resume with the same queues, as if nothing had happened."""
        for queue, tenure in self.table.items():
            if tenure is not None:
                now_ms, offset = self.calls.now_ms, tenure.begun(self.calls.now_ms)
                self.table[queue] = self.ledger.begin(queue, self.process, offset, now_ms, now_ms)

    def shut_down(self) -> None:
        """Stop everything and send every offset (DefaultMQPushConsumerImpl#shutdown)."""
        for queue in list(self.table):
            self._drop(queue)
        self.alive = False

    def die(self) -> None:
        """Stop everything, and send nothing."""
        for queue in list(self.table):
            self._end(queue)
        self.alive = False
