"""One thin client's process: the library's thin session, an application, and a bad network.

Its requests go to any gateway behind the address; they may get lost, come late, or arrive twice, at
two gateways. Nothing of the handover protocol is known here.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from fairlead_client.model import Epoch, Position, Process, Queue, Subscription
from fairlead_client.thin import thin_session as words
from fairlead_client.thin.thin_words import Joined, Poll, PollAnswer

from fairlead.gateway.outputs import Body, Left, Refusal
from fairlead_proof.sim.application import Application, Work
from fairlead_proof.sim.client import HAND_OVERS_MS
from fairlead_proof.sim.client_environment import ClientEnvironment
from fairlead_proof.sim.gateway_process import SEAL, GatewayProcess
from fairlead_proof.sim.identification import Identification
from fairlead_proof.sim.kafka import CLOCK_BEGIN_MS
from fairlead_proof.sim.machine import Machine, OnMachine
from fairlead_proof.sim.producer import Weather
from fairlead_proof.sim.shown_session import ShownSession
from fairlead_proof.sim.work_loop import WORK_EVERY_MS, WorkLoop

__all__ = ["ThinClient"]

BREAKS = 0.15
"""How likely a connection breaks under a request."""
ELSEWHERE = 0.4
"""How likely the balancer chooses any gateway instead of the usual one."""


class ThinEnvironment(ClientEnvironment, Protocol):
    """The environment of a thin client."""

    gateways: list[GatewayProcess]
    heals: bool


@dataclass(slots=True)
class Network:
    """How the client's network is. ``stuck_until_ms``: until then nothing gets through."""

    stuck_until_ms: int = 0


@dataclass(slots=True)
class ThinClient(OnMachine):
    """A process from its start to its end. ``mute``: it polls, but answers no stop."""

    world: ThinEnvironment
    who: Identification
    machine: Machine = field(init=False)
    thin: words.ThinSession = field(default_factory=words.ThinSession)
    session: ShownSession = field(init=False)
    application: Application = field(init=False)
    following: Network = field(default_factory=Network)
    weather: Weather = field(init=False)
    error: Exception | None = None
    mute: bool = False
    incarnation: str = ""
    topics: tuple[str, ...] = ()
    commits_fail: int = 0
    _process: Process = field(init=False)
    _subscriptions: tuple[Subscription, ...] = ()
    _old: list[Callable[[], None]] = field(default_factory=list)
    _home: int = 0
    _loop: WorkLoop = field(default_factory=WorkLoop)
    _state: str = ""

    def __post_init__(self) -> None:
        """Start the process; it joins at once."""
        world, who = self.world, self.who
        self._process = Process(CLOCK_BEGIN_MS + world.timeline.now_ms, world.chance.uuid())
        self.topics = who.topics
        self._subscriptions = _subscriptions(who.topics, 1)
        self.weather = Weather(world.note)
        begin_ms = world.chance.between(1, 1_000_000)
        self.machine = Machine(world.timeline, begin_ms, who.drift_permille, self._turn)
        self.session = ShownSession(self.thin)
        self.application = Application(self, world.chance, world.judge)
        self._home = world.chance.below(8)
        self.machine.wake_at(world.timeline.now_ms + world.chance.between(20, 300))

    @property
    def name(self) -> str:
        """The client id and, for two processes of one id, the process's number."""
        return f"{self.who.client_id}/{self.who.number}"

    def owns(self, work: Work) -> bool:
        """Tell whether the application may still process messages of this work."""
        return (
            self.machine.alive and self.thin.works(work.queue, self.machine.local_ms) == work.epoch
        )

    # What happens to the process.
    def crash(self) -> None:
        """Die at once; requests on their way still arrive."""
        self.world.narrate(self.name, "is killed")
        self._end()

    def freeze(self, wait_ms: int) -> None:
        """Stand still for this time."""
        self.world.narrate(self.name, "is frozen for", wait_ms, "ms")
        self.machine.freeze(wait_ms)

    def leave(self) -> None:
        """Leave: its application closes it."""
        self.world.narrate(self.name, "is asked to leave")
        hand_over_ms = self.world.chance.pick(HAND_OVERS_MS)
        self._do(self.thin.leave(self.machine.local_ms, hand_over_ms))
        self._plan()

    def subscribe(self, topics: tuple[str, ...]) -> None:
        """Subscribe to other topics."""
        self.topics = topics
        self.world.narrate(self.name, "subscribes to", *topics)
        self._subscriptions = _subscriptions(topics, self.world.timeline.now_ms + 2)
        self._do(self.thin.subscribe(self._subscriptions, self.machine.local_ms))
        self._plan()

    def speak(self) -> None:
        """Stop being mute."""
        self.mute = False
        self.machine.wake_at(self.world.timeline.now_ms)

    def read_again(self) -> bool:
        """An old request arrives once more, at any gateway."""
        if not self._old:
            return False
        self.world.chance.pick(self._old)()
        return True

    def _end(self) -> None:
        self.application.die()
        self.machine.alive = False

    # A turn.
    def _turn(self) -> None:
        # As in a real client, a lease that is over is noticed before any work.
        self._do(self.thin.passed(self.machine.local_ms))
        if self.alive:
            self._loop.turn(self)
        if self.alive:
            self._do(self.thin.passed(self.machine.local_ms))
        self.world.judge.turn_taken(self)
        if self.alive:
            self._plan()

    def _plan(self) -> None:
        machine = self.machine
        due_ms = machine.true_ms(self.thin.next_deadline_ms())
        machine.wake_at(max(due_ms, self.world.timeline.now_ms + 1))
        if self.application.works:
            machine.wake_at(self._loop.worked_ms + WORK_EVERY_MS + 1)
        if not self.mute:
            for work in self.application.works.values():
                if work.stops_ms is not None:
                    machine.wake_at(max(work.stops_ms, self.world.timeline.now_ms + 1))

    def report(self, work: Work, end: int) -> None:
        """Tell the session where a work is."""
        at_ms = self.machine.local_ms
        self._do(self.thin.progressed(work.queue, work.epoch, work.offset, end, at_ms))

    def release(self, work: Work, end: int) -> None:
        """Tell the session that a work has stopped."""
        at_ms = self.machine.local_ms
        self._do(self.thin.stopped(work.queue, work.epoch, work.offset, end, at_ms))

    def _do(self, done: list[words.Action]) -> None:
        for action in done:
            self._obey(action)

    def _obey(self, action: words.Action) -> None:
        application = self.application
        match action:
            case words.SendJoin(number):
                self._send_join(number)
            case words.SendPoll(poll):
                self._send_poll(poll, ending=False)
            case words.SendLeave(poll):
                self._send_poll(poll, ending=True)
            case words.StartWork(queue, epoch, offset):
                position = self._position(queue, epoch, offset)
                self.world.narrate(self.name, "starts", queue, epoch, position)
                application.start(queue, epoch, self.incarnation, position)
            case words.StopWork(queue, epoch):
                self.world.narrate(self.name, "is to stop", queue, epoch)
                self._stop(queue, epoch)
            case words.Abandon(queue, epoch):
                self._abandon(queue, epoch)
            case words.StopAll(reason, work):
                self.world.narrate(self.name, "stops everything:", reason)
                for queue, epoch in work:
                    self._stop(queue, epoch)
            case words.Close(reason):
                self.world.narrate(self.name, "is closed", reason)
                self._end()

    def _position(self, queue: Queue, epoch: Epoch, offset: int) -> Position:
        """Return where the work begins; which reset it follows stands in the state alone."""
        saved = SEAL.open(self._state).saved
        for each in saved.queues:
            if each.queue == queue and each.started == epoch:
                return Position(each.position.reset, offset)
        raise AssertionError(f"{queue} of {epoch} is not in the state")

    def _stop(self, queue: Queue, epoch: Epoch) -> None:
        done_ms = self.application.stop(queue, epoch, self.world.timeline.now_ms)
        if done_ms is not None and not self.mute:
            self.machine.wake_at(done_ms)

    def _abandon(self, queue: Queue, epoch: Epoch) -> None:
        self.world.narrate(self.name, "has to stop at once", queue, epoch)
        work = self.application.abandon(queue, epoch)
        if work is None:
            return
        offset = work.offset + 1
        wait_ms = self.world.chance.between(100, 2_000)
        self.world.timeline.after(wait_ms, lambda: self.world.judge.handler_finished(work, offset))

    # The network.
    def _send_join(self, number: int) -> None:
        def ask(gateway: GatewayProcess, asker: Callable[[Body], None]) -> None:
            who = (self.who.client_id, self._process)
            gateway.ask_join(who, self._subscriptions, asker)

        self._travel(number, ask, self._joined(number))

    def _send_poll(self, poll: Poll, *, ending: bool) -> None:
        def ask(gateway: GatewayProcess, asker: Callable[[Body], None]) -> None:
            gateway.ask_poll(poll, asker, ending=ending)

        for work in (*poll.stopped,):
            self.world.narrate(self.name, "says stopped", work.queue, work.epoch, work.position)
        self._travel(poll.sequence, ask, self._answered(poll.sequence))

        def again() -> None:
            self._deliver(ask, lambda _: None)

        self._old = [*self._old[-19:], again]

    def _travel(
        self,
        number: int,
        ask: Callable[[GatewayProcess, Callable[[Body], None]], None],
        hear: Callable[[Body | None], None],
    ) -> None:
        weather, times = self.weather, 1
        if weather.repeated:
            weather.repeated -= 1
            weather.note("record_repeated")
            times = 2
        del number
        for _ in range(times):
            self._deliver(ask, hear)

    def _deliver(
        self,
        ask: Callable[[GatewayProcess, Callable[[Body], None]], None],
        hear: Callable[[Body | None], None],
    ) -> None:
        world, weather = self.world, self.weather
        out_ms = world.chance.between(1, 30)
        if world.chance.happens(0.03) and not world.heals:
            out_ms += world.chance.between(100, world.scenario.lease_ms)
        stuck_ms = max(0, self.following.stuck_until_ms - world.timeline.now_ms)

        def come_back(response: Body) -> None:
            wait_ms = world.chance.between(1, 30)
            if weather.lost_answers:
                weather.lost_answers -= 1
                weather.note("answer_lost")
                return
            if weather.late_answers:
                weather.late_answers -= 1
                weather.note("answer_late")
                wait_ms += weather.late_ms
            wait_ms += max(0, self.following.stuck_until_ms - world.timeline.now_ms)
            world.timeline.after(wait_ms, lambda: self._hear(hear, response))

        def arrive() -> None:
            gateway = self._gateway()
            if gateway is None:
                world.timeline.after(50, lambda: self._hear(hear, None))
            else:
                ask(gateway, come_back)

        world.timeline.after(out_ms + stuck_ms, arrive)
        if world.chance.happens(BREAKS) and not world.heals:
            # The connection breaks; the request, or its answer, is on its way all the same.
            after_ms = world.chance.between(10, world.scenario.heartbeat_ms)
            world.timeline.after(after_ms, lambda: self._hear(hear, None))

    def _gateway(self) -> GatewayProcess | None:
        """Return the gateway that the balancer chooses: mostly the same."""
        living = [gateway for gateway in self.world.gateways if gateway.alive]
        if not living:
            return None
        if self.world.chance.happens(ELSEWHERE):
            return self.world.chance.pick(living)
        return living[self._home % len(living)]

    def _hear(self, hear: Callable[[Body | None], None], response: Body | None) -> None:
        if not self.alive:
            return
        if self.machine.stands:
            until_ms = self.machine.stands_until_ms
            self.world.timeline.at(until_ms + 1, lambda: self._hear(hear, response))
            return
        hear(response)
        self.world.judge.turn_taken(self)
        if self.alive:
            self._plan()

    def _joined(self, number: int) -> Callable[[Body | None], None]:
        def hear(response: Body | None) -> None:
            now_ms = self.machine.local_ms
            if isinstance(response, Joined):
                if number == self.thin.joins and self.thin.state is words.ThinState.JOINING:
                    self.incarnation, self._state = response.session, response.state
                    self.world.narrate(self.name, "joins as", response.session[:8])
                self._do(self.thin.joined(number, response, now_ms))
            else:
                self._do(self.thin.failed(number, now_ms))

        return hear

    def _answered(self, sequence: int) -> Callable[[Body | None], None]:
        def hear(response: Body | None) -> None:
            now_ms = self.machine.local_ms
            if isinstance(response, PollAnswer):
                self._state = response.state
                self._do(self.thin.answered(sequence, response, now_ms))
            elif isinstance(response, Left):
                self._do(self.thin.left(now_ms))
            elif isinstance(response, Refusal) and response.kind == "lost":
                self.world.note(f"lost_{response.reason}")
                self._do(self.thin.lost(sequence, response.reason, now_ms))
            elif isinstance(response, Refusal) and response.status < 500:  # noqa: PLR2004 - RFC 9110
                raise AssertionError(f"{self.name} is refused: {response}")
            else:
                self._do(self.thin.failed(sequence, now_ms))

        return hear


def _subscriptions(topics: tuple[str, ...], version: int) -> tuple[Subscription, ...]:
    return tuple(Subscription(topic, sub_version=version) for topic in topics)
