"""A group under RocketMQ: brokers, consumers and their calls, in virtual time."""

from collections.abc import Callable
from functools import partial

from fairlead.core.model import MessageQueue
from fairlead_proof.pitfalls.history import (
    Event,
    Freezes,
    Grows,
    Joins,
    Killed,
    Leaves,
    Unsubscribes,
    event_text,
)
from fairlead_proof.pitfalls.rocketmq.broker import Broker
from fairlead_proof.pitfalls.rocketmq.consumer import Consumer
from fairlead_proof.pitfalls.rocketmq.network import TRIP_MS, UNTROUBLED, Network
from fairlead_proof.pitfalls.rocketmq.times import RELEASE_4_9, Times
from fairlead_proof.pitfalls.scene import Scene
from fairlead_proof.pitfalls.world import PitfallWorld

__all__ = ["RocketmqWorld"]


class RocketmqWorld(PitfallWorld):
    """Runs a history as RocketMQ would, and writes the ledger.

    Attributes:
        brokers: by name.
        consumers: by process.
    """

    def __init__(
        self, scene: Scene, network: Network = UNTROUBLED, times: Times = RELEASE_4_9
    ) -> None:
        super().__init__(scene)
        self.network = network
        self.times = times
        self.brokers = {name: Broker(name, times, self._notify) for name in scene.brokers}
        self.consumers: dict[str, Consumer] = {}
        self._next_run_ms: dict[str, int] = {}
        self._last_run_ms: dict[str, int] = {}
        for broker in self.brokers.values():
            self._every(times.scan_ms, times.scan_ms, partial(self._scan, broker))

    # What happens to the group.
    def _happen(self, event: Event) -> None:
        self.ledger.add_line(self.now_ms, event_text(event))
        match event:
            case Joins():
                self._join(event)
            case Leaves():
                consumer = self.consumers[event.process]
                consumer.shut_down()
                self._close(consumer)
            case Killed():
                consumer = self.consumers[event.process]
                consumer.die()
                self._close(consumer)
            case Freezes():
                consumer = self.consumers[event.process]
                consumer.stand_still()
                consumer.frozen_until_ms = self.now_ms + event.for_ms
                self.timeline.at(consumer.frozen_until_ms, consumer.go_on)
            case Unsubscribes():
                # MQConsumerInner#unsubscribe only edits the client's own map.
                self.consumers[event.process].topics.remove(event.topic)
            case Grows():
                self._routes[event.topic] = event.queues

    def _join(self, event: Joins) -> None:
        consumer = Consumer(
            event.process,
            event.client_id or event.process,
            list(event.topics),
            self.scene,
            self.times,
            self.ledger,
            self,
            dict(self._routes),
        )
        self.consumers[event.process] = consumer
        self._last_run_ms[event.process] = self.now_ms
        self._heartbeat(consumer)
        # The client gets the heartbeat's answer before it asks for the first rebalance.
        self.timeline.after(2 * TRIP_MS, partial(self._wake, consumer))
        times = self.times
        for first_ms, period_ms, what in (
            (times.heartbeat_ms, times.heartbeat_ms, partial(self._heartbeat, consumer)),
            (times.poll_ms, times.poll_ms, partial(self._poll, consumer)),
            (times.first_flush_ms, times.flush_ms, consumer.flush),
        ):
            self._every(first_ms, period_ms, what, consumer)
        if self.scene.ordered:
            self._every(times.renewal_ms, times.renewal_ms, consumer.renew, consumer)

    # What each consumer and broker does by itself.
    def _every(
        self,
        wait_ms: int,
        period_ms: int,
        what: Callable[[], None],
        consumer: Consumer | None = None,
    ) -> None:
        def turn() -> None:
            if consumer is not None and not consumer.alive:
                return
            if consumer is not None and self._stands(consumer):
                self.timeline.at(consumer.frozen_until_ms, turn)
                return
            what()
            self.timeline.after(period_ms, turn)

        self.timeline.after(wait_ms, turn)

    def _stands(self, consumer: Consumer) -> bool:
        return consumer.frozen_until_ms > self.now_ms

    def _scan(self, broker: Broker) -> None:
        broker.scan(self.now_ms)

    def _poll(self, consumer: Consumer) -> None:
        consumer.routes.update(self._routes)

    def _wake(self, consumer: Consumer) -> None:
        """Let a consumer rebalance as soon as the gap since the last time allows."""
        self._run_at(
            consumer, max(self.now_ms, self._last_run_ms[consumer.process] + self.times.gap_ms)
        )

    def _run_at(self, consumer: Consumer, at_ms: int) -> None:
        self._next_run_ms[consumer.process] = at_ms
        self.timeline.at(at_ms, partial(self._run, consumer, at_ms))

    def _run(self, consumer: Consumer, planned_ms: int) -> None:
        if not consumer.alive or self._next_run_ms[consumer.process] != planned_ms:
            return
        if self._stands(consumer):
            self._run_at(consumer, consumer.frozen_until_ms)
            return
        wait_ms = consumer.rebalance()
        self._last_run_ms[consumer.process] = self.now_ms
        self._run_at(consumer, self.now_ms + wait_ms)

    # What travels.
    def _heartbeat(self, consumer: Consumer) -> None:
        for broker in self.brokers.values():
            trip_ms = self.network.trip_ms("heartbeat", consumer.process, broker.name, self.now_ms)
            if trip_ms is not None:
                self.timeline.after(trip_ms, partial(self._heard, broker, consumer))

    def _heard(self, broker: Broker, consumer: Consumer) -> None:
        if consumer.alive:
            broker.heartbeat(consumer.process, consumer.client_id, self.now_ms)

    def _notify(self, broker: Broker, process: str) -> None:
        self.ledger.sent_ms.append(self.now_ms)
        trip_ms = self.network.trip_ms("notification", process, broker.name, self.now_ms)
        if trip_ms is not None:
            self.timeline.after(trip_ms, partial(self._wake, self.consumers[process]))

    def _close(self, consumer: Consumer) -> None:
        for broker in self.brokers.values():
            self.timeline.after(TRIP_MS, partial(broker.close, consumer.process))

    def look_up(self, consumer: Consumer) -> list[str] | None:
        """Return the consumer ids as the asked broker knows them."""
        name = self.network.asked(consumer.process, self.scene.brokers, self.now_ms)
        if self.network.trip_ms("look_up", consumer.process, name, self.now_ms) is None:
            return None
        return self.brokers[name].client_ids

    def lock(self, consumer: Consumer, queue: MessageQueue) -> bool:
        """Ask the queue's broker for its lock."""
        locks = self.brokers[queue.broker_name].locks
        return locks.lock(queue, consumer.client_id, self.now_ms)

    def unlock(self, consumer: Consumer, queue: MessageQueue) -> None:
        """Give a lock back to the queue's broker."""
        self.brokers[queue.broker_name].locks.unlock(queue, consumer.client_id)

    def persist(self, consumer: Consumer, queue: MessageQueue, offset: int) -> None:
        """Send an offset to the queue's broker, which keeps the last one that arrives."""
        broker = self.brokers[queue.broker_name]
        trip_ms = self.network.trip_ms("persist", consumer.process, broker.name, self.now_ms)
        if trip_ms is not None:
            self.timeline.after(trip_ms, partial(broker.offsets.__setitem__, queue, offset))

    def stored(self, consumer: Consumer, queue: MessageQueue) -> None:
        """Ask the queue's broker for the stored offset; a write at the same moment comes first."""
        broker = self.brokers[queue.broker_name]

        def answer() -> None:
            offset = broker.offsets.get(queue, 0)
            self.timeline.after(TRIP_MS, partial(self._answered, consumer, queue, offset))

        self.timeline.after(TRIP_MS, lambda: self.timeline.after(0, answer))

    def _answered(self, consumer: Consumer, queue: MessageQueue, offset: int) -> None:
        if self._stands(consumer):
            again = partial(self._answered, consumer, queue, offset)
            self.timeline.at(consumer.frozen_until_ms, again)
        elif consumer.alive:
            consumer.pull(queue, offset)
