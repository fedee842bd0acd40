"""The consumers of our side do what the client library's own session does.

A session stands behind each of them: it hears the same, and must start the same queues under the
same epochs at the same offsets, and release them where the consumer does.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

import pytest
from fairlead_client.model import Epoch, Holder, Position, Process, Queue, Subscription
from fairlead_client.session import actions as act
from fairlead_client.session import events as on
from fairlead_client.session.memory import SessionSettings
from fairlead_client.session.records import Add, Assigned, Assignment, Drop, Release
from fairlead_client.session.session import Session
from fairlead_proof.pitfalls.catalogue import PITFALLS
from fairlead_proof.pitfalls.history import Event, play
from fairlead_proof.pitfalls.ours.consumer import GROUP, Consumer
from fairlead_proof.pitfalls.ours.engine import GENERATION
from fairlead_proof.pitfalls.ours.world import HEARTBEAT_MS, LEASE_MS, OurWorld
from fairlead_proof.pitfalls.pitfall import Pitfall
from fairlead_proof.pitfalls.scene import Scene

from fairlead.core.model import MessageQueue
from fairlead.core.model import Position as CorePosition
from fairlead.core.outputs import Add as CoreAdd
from fairlead.core.outputs import Assignment as CoreAssignment
from tests.pitfalls.lives import TO_MS, drawn_events, drawn_scene

Done = tuple[str, MessageQueue, tuple[int, int], int | None]
"""What was done with which queue, under which epoch, at which offset."""


def _record(told: CoreAssignment) -> Assignment:
    client_id, incarnation = told.member
    return Assignment(
        GROUP,
        client_id,
        incarnation,
        told.generation,
        Epoch(*told.epoch),
        drop=tuple(
            Drop(Queue(*each.queue), Epoch(*each.epoch), each.successor, each.linger_ms)
            for each in told.drop
        ),
        add=tuple(_add(each) for each in told.add),
        assigned=tuple(
            Assigned(Queue(*each.queue), Epoch(*each.epoch), each.state) for each in told.assigned
        ),
    )


def _add(add: CoreAdd) -> Add:
    after = tuple(Holder(*each.member, Epoch(*each.epoch)) for each in add.after)
    return Add(Queue(*add.queue), Epoch(*add.epoch), Position(*add.position), after, add.identity)


@dataclass(slots=True)
class Shadowed(Consumer):
    """A consumer with a session behind it, and what both of them did."""

    session: Session = field(init=False)
    done: Counter[Done] = field(default_factory=Counter)
    session_did: Counter[Done] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Begin the same life in both."""
        subscriptions = tuple(Subscription(topic) for topic in self.topics)
        self.session = Session(
            SessionSettings(
                GROUP,
                self.key.client_id,
                Process(*self.born),
                subscriptions,
                heartbeat_ms=HEARTBEAT_MS,
                lease_ms=LEASE_MS,
                drain_deadline_ms=None,
                commits=False,
            )
        )
        self.hear(on.Started(self.key.incarnation, GENERATION))

    def hear(self, *events: on.Event) -> None:
        """Tell the session, and answer what it sends as if all of it arrived at once."""
        now_ms, incarnation = self.environment.now_ms, self.key.incarnation
        waiting = list(events)
        while waiting:
            for action in self.session.handle(waiting.pop(0), now_ms):
                match action:
                    case act.StartWork(queue, epoch, position):
                        self._noted(self.session_did, "start", queue, epoch, position)
                    case act.SendRelease():
                        self._noted(
                            self.session_did,
                            "release",
                            action.queue,
                            action.epoch,
                            action.position,
                        )
                        waiting.append(
                            on.ReleaseAppended(
                                incarnation, action.queue, action.epoch, action.position
                            )
                        )
                    case act.SendHeartbeat():
                        waiting.append(on.HeartbeatAppended(incarnation, action.sequence, now_ms))
                    case act.SendClaims():
                        waiting.append(on.ClaimsAppended(incarnation, action.generation))
                    case act.SendLeave():
                        waiting.append(on.LeaveAppended(incarnation))

    def _noted(
        self,
        where: Counter[Done],
        what: str,
        queue: tuple[str, str, int],
        epoch: tuple[int, int],
        position: tuple[int, int] | None,
    ) -> None:
        offset = None if position is None else position[1]
        where[what, MessageQueue(*queue), (epoch[0], epoch[1]), offset] += 1

    def _hear_releases(self, *queues: MessageQueue) -> None:
        for after, released in self.environment.releases.items():
            holder = Holder(*after.member, Epoch(*after.epoch))
            for queue in (queue for queue in queues if queue in released):
                position = released[queue]
                told = None if position is None else Position(*position)
                self.hear(on.ReleaseRead(Release(GROUP, Queue(*queue), holder, told)))

    def obey(self, told: CoreAssignment) -> None:
        """Both read an assignment."""
        self._hear_releases(*(add.queue for add in told.add))
        self.hear(on.AssignmentRead(_record(told)))
        Consumer.obey(self, told)

    def start_if_released(self, queue: MessageQueue) -> None:
        """Both read the releases of a queue that stand in the log."""
        self._hear_releases(queue)
        Consumer.start_if_released(self, queue)

    def _start(self, gate: CoreAdd, position: CorePosition) -> None:
        self._noted(self.done, "start", gate.queue, gate.epoch, position)
        Consumer._start(self, gate, position)  # noqa: SLF001 - its own base

    def release(self, queue: MessageQueue) -> None:
        """The work on a queue has stopped, for both."""
        running = self.current.get(queue)
        if running is not None and self.alive:
            offset = running.tenure.begun(self.environment.now_ms)
            self.hear(
                on.TimePassed(),
                on.WorkStopped(Queue(*queue), Epoch(*running.epoch), offset),
            )
        Consumer.release(self, queue)

    def _say_release(
        self, queue: MessageQueue, epoch: tuple[int, int], position: CorePosition | None
    ) -> None:
        self._noted(self.done, "release", queue, epoch, position)
        Consumer._say_release(self, queue, epoch, position)  # type: ignore[arg-type]  # noqa: SLF001

    def leave(self) -> None:
        """Both are asked to leave."""
        self.hear(on.LeaveRequested())
        Consumer.leave(self)


class ShadowedWorld(OurWorld):
    """Our side with a session behind every consumer, and every life that there was."""

    consumer_type = Shadowed

    def __init__(self, scene: Scene, late_ms: Mapping[str, int] | None = None) -> None:
        self.lives: list[Shadowed] = []
        super().__init__(scene, late_ms)

    def _begin(self, consumer: Consumer) -> None:
        assert isinstance(consumer, Shadowed)
        self.lives.append(consumer)
        super()._begin(consumer)

    def _progress(self, consumer: Consumer) -> None:
        assert isinstance(consumer, Shadowed)
        consumer.hear(on.AssignmentsReadToEnd(self.now_ms), on.TimePassed())
        super()._progress(consumer)


def _worked(life: Shadowed, done: Counter[Done]) -> Counter[Done]:
    """Take null releases once, as the session repeats them, and none of a life that leaves.

    What a leaver never started, the session need not say: it has ended a trip sooner.
    """
    said = Counter({each: times for each, times in done.items() if each[3] is not None})
    nulls = [] if life.leaving else [each for each in done if each[3] is None]
    return said + Counter(nulls)


def _live(world: ShadowedWorld, history: Sequence[Event], to_ms: int) -> None:
    play(history, world)
    world.run_until(to_ms)
    assert sum(sum(life.done.values()) for life in world.lives) > 0
    for life in world.lives:
        assert _worked(life, life.done) == _worked(life, life.session_did), life.key


@pytest.mark.parametrize("pitfall", PITFALLS, ids=lambda pitfall: pitfall.name)
def test_in_every_story_both_act_alike(pitfall: Pitfall) -> None:
    """In every life of a story both start the same queues at the same offsets, and release them."""
    _live(ShadowedWorld(pitfall.scene), pitfall.history, pitfall.to_ms)


@pytest.mark.parametrize("seed", range(20))
def test_in_random_histories_both_act_alike(seed: int) -> None:
    """The same where members come, leave, die and stand still, and read late what is written."""
    chance = Random(seed)
    scene, events = drawn_scene(chance), drawn_events(chance)
    late_ms = {f"c{number}": chance.choice([0, 0, 700]) for number in range(6)}
    _live(ShadowedWorld(scene, late_ms), events, TO_MS)
