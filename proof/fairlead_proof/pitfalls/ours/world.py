"""The same group under the engine: its log, its batches and its consumers, in virtual time."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fairlead.core.model import (
    MemberKey,
    MemberProfile,
    MessageQueue,
    Position,
    Process,
    Route,
    RouteBroker,
    Subscription,
)
from fairlead.core.outputs import After, Assignment, Decision, Notice, Output, Request
from fairlead.core.records import (
    GroupRecord,
    Heartbeat,
    Leave,
    OffsetsKnown,
    Progress,
    QueueOffsets,
    Release,
    RouteChanged,
    RuleSet,
)
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
from fairlead_proof.pitfalls.ours.consumer import GROUP, Consumer
from fairlead_proof.pitfalls.ours.engine import GENERATION, Engine
from fairlead_proof.pitfalls.scene import Scene
from fairlead_proof.pitfalls.tenure import end_of
from fairlead_proof.pitfalls.world import PitfallWorld

__all__ = ["BATCH_MS", "HEARTBEAT_MS", "LEASE_MS", "TRIP_MS", "OurWorld"]

BATCH_MS = 300
"""The engine reads what has come this often."""

TRIP_MS = 20
"""From a writer to whoever reads it."""

HEARTBEAT_MS = 3_000
PROGRESS_MS = 1_000
LEASE_MS = 15_000
_READ_WRITE = 6
_IDENTITY = "one"


class OurWorld(PitfallWorld):
    """Runs a history under the engine, and writes the ledger.

    ``late_ms``: process -> how much later its assignments and others' releases reach it.

    Attributes:
        consumers: the newest incarnation of each process.
        releases: every release, as all consumers read it.
        consumer_type: the class of its consumers.
    """

    consumer_type = Consumer

    def __init__(self, scene: Scene, late_ms: Mapping[str, int] | None = None) -> None:
        super().__init__(scene)
        self.engine = Engine()
        self.consumers: dict[str, Consumer] = {}
        self.releases: dict[After, dict[MessageQueue, Position | None]] = {}
        self._late_ms = late_ms or {}
        self._frozen_until_ms: dict[str, int] = {}
        strategy = {"name": scene.strategy, "options": scene.options}
        rules: dict[str, Mapping[str, Any]] = {
            "strategy": {"name": scene.here, "options": {}} if scene.here else strategy
        }
        rules |= {"timing": {"settle_ms": scene.settle_ms}} if scene.settle_ms else {}
        for rule, value in rules.items():
            self.engine.append("control", RuleSet(GROUP, rule, (), value, "operator"), 0)
        for topic in scene.queues:
            self._publish(topic)
        self.timeline.at(BATCH_MS, self._batch)

    # What happens to the group.
    def _happen(self, event: Event) -> None:
        self.ledger.add_line(self.now_ms, event_text(event))
        match event:
            case Joins():
                self._join(event)
            case Leaves():
                consumer = self.consumers[event.process]
                self._leave(consumer)
            case Killed():
                self.consumers[event.process].stop()
            case Freezes():
                self._freeze(event)
            case Unsubscribes():
                consumer = self.consumers[event.process]
                consumer.topics.remove(event.topic)
                self._heartbeat(consumer)
            case Grows():
                self._routes[event.topic] = event.queues
                self._publish(event.topic)

    def _join(self, event: Joins) -> None:
        key = MemberKey(event.client_id or event.process, f"{event.process}-1")
        born = Process(self.now_ms, event.process)
        self._begin(self.consumer_type(event.process, key, born, list(event.topics), self))

    def _begin(self, consumer: Consumer) -> None:
        self.consumers[consumer.process] = consumer
        self._every(0, HEARTBEAT_MS, partial(self._heartbeat, consumer), consumer)
        self._every(PROGRESS_MS, PROGRESS_MS, partial(self._progress, consumer), consumer)

    def _again(self, consumer: Consumer) -> None:
        """Stop everything and start a new incarnation of the same process."""
        consumer.stop()
        client_id, life = consumer.key.client_id, int(consumer.key.incarnation[-1]) + 1
        key = MemberKey(client_id, f"{consumer.process}-{life}")
        self.ledger.add_line(self.now_ms, f"{consumer.process} starts anew: its lease has ended")
        again = self.consumer_type(consumer.process, key, consumer.born, consumer.topics, self)
        self._begin(again)

    def _leave(self, consumer: Consumer) -> None:
        consumer.sequence += 1
        last = consumer.last_started
        self.send("heartbeats", Leave(GROUP, consumer.key, consumer.sequence, last))
        consumer.leave()

    def _freeze(self, event: Freezes) -> None:
        consumer = self.consumers[event.process]
        consumer.stand_still()
        self._frozen_until_ms[event.process] = self.now_ms + event.for_ms
        self.timeline.after(event.for_ms, partial(self._thaw, consumer))

    def _thaw(self, consumer: Consumer) -> None:
        if self.now_ms - consumer.seen_ms >= LEASE_MS:
            self._again(consumer)
        else:
            consumer.go_on()

    def _publish(self, topic: str) -> None:
        number = self._routes[topic]
        brokers = tuple(
            RouteBroker(name, _READ_WRITE, number, number) for name in self.scene.brokers
        )
        self.send("routes", RouteChanged(topic, Route(topic, _IDENTITY, brokers)))

    # What each consumer does by itself.
    def _every(
        self, wait_ms: int, period_ms: int, what: Callable[[], None], consumer: Consumer
    ) -> None:
        def turn() -> None:
            if consumer.alive:
                what()
                self.later(period_ms, consumer.process, turn)

        self.later(wait_ms, consumer.process, turn)

    def _heartbeat(self, consumer: Consumer) -> None:
        if consumer.leaving and not consumer.current:
            consumer.alive = False
            return
        consumer.sequence += 1
        consumer.seen_ms = self.now_ms
        self.send(
            "heartbeats",
            Heartbeat(
                GROUP,
                consumer.key,
                consumer.born,
                int(consumer.key.incarnation[-1]),
                consumer.sequence,
                GENERATION,
                MemberProfile(
                    consume_from="first_offset", ordered=self.scene.ordered, lease_ms=LEASE_MS
                ),
                tuple(Subscription(topic) for topic in consumer.topics),
                None,
                consumer.digest,
            ),
        )

    def _progress(self, consumer: Consumer) -> None:
        if consumer.current:
            self.send("heartbeats", Progress(GROUP, consumer.key, consumer.progress))

    # What travels.
    def send(self, topic: str, record: GroupRecord) -> None:
        """Append a record; the engine reads it a trip later, and consumers read releases."""
        self.timeline.after(TRIP_MS, partial(self._append, topic, record))

    def _append(self, topic: str, record: GroupRecord) -> None:
        self.engine.append(topic, record, self.now_ms)
        if isinstance(record, Release):
            of = After(record.member, record.epoch)
            self.releases.setdefault(of, {})[record.queue] = record.position
            for consumer in self.consumers.values():
                self._reach(consumer, partial(consumer.start_if_released, record.queue))

    def _reach(self, consumer: Consumer, what: Callable[[], None]) -> None:
        """Let a consumer read something, unless its life ends before."""

        def reached() -> None:
            if consumer.alive:
                what()

        late_ms = self._late_ms.get(consumer.process, 0)
        self.later(TRIP_MS + late_ms, consumer.process, reached)

    def later(self, wait_ms: int, process: str, what: Callable[[], None]) -> None:
        """Let a process do something after this time, or as soon as it runs again."""

        def turn() -> None:
            until_ms = self._frozen_until_ms.get(process, 0)
            if until_ms > self.now_ms:
                self.timeline.at(until_ms, turn)
            else:
                what()

        self.timeline.after(wait_ms, turn)

    def _batch(self) -> None:
        for output in self.engine.batch(self.now_ms):
            self._written(output)
        self.timeline.after(BATCH_MS, self._batch)

    def _written(self, output: Output) -> None:
        match output:
            case Assignment():
                self.ledger.sent_ms.append(self.now_ms)
                consumer = self._of(output.member)
                if consumer is not None:
                    self._reach(consumer, partial(consumer.obey, output))
            case Notice():
                self._noticed(output)
            case Request():
                self._answer(output)
            case Decision():
                why = ", ".join(output.triggers) or "nothing moves"
                summary = f"{output.state.phase}, {output.state.unassigned} unassigned"
                alarms = "".join(f", alarm {alarm}" for alarm in output.alarms)
                self.ledger.add_line(self.now_ms, f"engine decides: {why} ({summary}{alarms})")

    def _of(self, key: MemberKey) -> Consumer | None:
        consumers = (each for each in self.consumers.values() if each.key == key)
        return next(consumers, None)

    def _noticed(self, notice: Notice) -> None:
        consumer = self._of(notice.member)
        if consumer is None:
            return
        if notice.code == "lapsed":
            self._reach(consumer, partial(self._again, consumer))
        elif notice.winner is not None and notice.winner > consumer.born:
            line = f"{consumer.process} is told: {notice.message}"
            self.ledger.add_line(self.now_ms, line)
            self._reach(consumer, partial(self._leave, consumer))

    def _answer(self, request: Request) -> None:
        if request.what == "route":
            self._publish(request.topic)
            return
        known = tuple(
            QueueOffsets(queue, 0, end_of(self.now_ms), None, None)
            for queue in self.scene.queues_of(request.topic, self._routes[request.topic])
        )
        self.send("offsets", OffsetsKnown(GROUP, request.topic, _IDENTITY, known))
