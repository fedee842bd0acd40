"""One client process: the client library's real session, real bytes, and an application.

It replaces the library's transport without threads and waits: it passes events to the session, and
the session's actions to the broker, the data plane and the application.
"""

from dataclasses import dataclass, field
from heapq import heappop, heappush

from fairlead_client.model import Epoch, Process, Queue, Subscription
from fairlead_client.session import actions as act
from fairlead_client.session import events as on
from fairlead_client.session.client_identity import ClientIdentity
from fairlead_client.session.memory import SessionSettings
from fairlead_client.session.session import Ownership, Session
from fairlead_client.session.states import SessionState
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.encoding import Encoder, describe

from fairlead.core.model import MessageQueue, Position
from fairlead.wire.partition import partition_of_client
from fairlead.wire.raw import RawRecord
from fairlead_proof.sim.application import Application, Work
from fairlead_proof.sim.client_environment import ClientEnvironment
from fairlead_proof.sim.following import Following
from fairlead_proof.sim.identification import Identification
from fairlead_proof.sim.kafka import CLOCK_BEGIN_MS, Partition
from fairlead_proof.sim.machine import Machine, OnMachine
from fairlead_proof.sim.outbox import Message, Outbox
from fairlead_proof.sim.producer import Answer, Producer, Weather
from fairlead_proof.sim.work_loop import WorkLoop

__all__ = ["ASSIGNMENTS_PARTITIONS", "HAND_OVERS_MS", "Client", "ClientEnvironment"]

ASSIGNMENTS_PARTITIONS = 4
CATCH_UP_MS = 300
COMMIT_MS = 40
HAND_OVERS_MS = (0, 0, 300, 3_000)
"""How long applications that close work on: one does not, one hardly, one as clients do."""


@dataclass(slots=True)
class Client(OnMachine):
    """A process from its start to its end.

    ``mute``: it heartbeats and reads, but answers no drop. ``error``: the reason why it closed.
    """

    world: ClientEnvironment
    who: Identification
    machine: Machine = field(init=False)
    session: Session = field(init=False)
    application: Application = field(init=False)
    following: Following = field(init=False)
    weather: Weather = field(init=False)
    ownership: Ownership = field(default_factory=lambda: Ownership(0, {}))
    error: Exception | None = None
    mute: bool = False
    incarnation: str = ""
    topics: tuple[str, ...] = ()
    commits_fail: int = 0
    _producer: Producer | None = None
    _outbox: Outbox = field(init=False)
    _inbox: list[tuple[int, int, on.Event]] = field(default_factory=list)
    _posted: int = 0
    _loop: WorkLoop = field(default_factory=WorkLoop)
    _looked_ms: int = 0

    def __post_init__(self) -> None:
        """Start the process; it joins when it has caught up."""
        world, who = self.world, self.who
        scenario, now_ms = world.scenario, world.timeline.now_ms
        process = Process(CLOCK_BEGIN_MS + now_ms, world.chance.uuid())
        begin_ms = world.chance.between(1, 1_000_000)
        self.topics = who.topics
        self.weather = Weather(world.note)
        self.machine = Machine(world.timeline, begin_ms, who.drift_permille, self._turn)
        settings = Settings(
            bootstrap="broker:9092",
            group=scenario.group,
            topics=list(who.topics),
            lease_ms=scenario.lease_ms,
            heartbeat_ms=scenario.heartbeat_ms,
            consume_from=scenario.consume_from,
        )
        identity = ClientIdentity(who.client_id, process, "10.0.0.1")
        self._outbox = Outbox(Encoder(describe(settings, identity, "0")))
        self.session = Session(
            SessionSettings(
                scenario.group,
                who.client_id,
                process,
                settings.subscriptions(1),
                heartbeat_ms=scenario.heartbeat_ms,
                lease_ms=scenario.lease_ms,
                progress_ms=scenario.progress_ms,
                drain_deadline_ms=scenario.client_deadline_ms,
                commits=scenario.commits,
            )
        )
        self.application = Application(self, world.chance, world.judge)
        member = (scenario.group, who.client_id)
        self.following = Following(world.kafka, world.chance, member, ASSIGNMENTS_PARTITIONS)
        for place in self.following.places:
            place.partition.followers.append(self._appended)
        self._catch_up()

    @property
    def name(self) -> str:
        """The client id and, for two processes of one id, the process's number."""
        return f"{self.who.client_id}/{self.who.number}"

    def owns(self, work: Work) -> bool:
        """Tell whether the application may still process messages of this work: `still_mine`."""
        return (
            self.machine.alive
            and self.ownership.epochs.get(work.queue) == work.epoch
            and self.machine.local_ms < self.ownership.until_ms
        )

    # What happens to the process.
    def crash(self) -> None:
        """Die at once; records on their way to the broker still arrive."""
        self.world.narrate(self.name, "is killed")
        self._end()

    def freeze(self, wait_ms: int) -> None:
        """Stand still for this time."""
        self.world.narrate(self.name, "is frozen for", wait_ms, "ms")
        self.machine.freeze(wait_ms)

    def leave(self) -> None:
        """Leave: its application closes it."""
        self.world.narrate(self.name, "is asked to leave")
        self._post(0, on.LeaveRequested(self.world.chance.pick(HAND_OVERS_MS)))

    def subscribe(self, topics: tuple[str, ...]) -> None:
        """Subscribe to other topics."""
        self.topics = topics
        self.world.narrate(self.name, "subscribes to", *topics)
        version = self.world.timeline.now_ms + 2
        subscriptions = tuple(Subscription(topic, sub_version=version) for topic in topics)
        self._post(0, on.SubscriptionChanged(subscriptions))

    def speak(self) -> None:
        """Stop being mute."""
        self.mute = False
        self.machine.wake_at(self.world.timeline.now_ms)

    def read_again(self) -> bool:
        """Read an old record once more; tell whether there was one."""
        event = self.following.read_again()
        if event is not None:
            self._post(0, event)
        return event is not None

    def _end(self) -> None:
        self.application.die()
        self.machine.alive = False
        for place in self.following.places:
            place.partition.followers.remove(self._appended)
        if self._producer is not None:
            self._producer.close()

    def _catch_up(self) -> None:
        """Read the generations to their end, then begin an incarnation."""
        wait_ms = self.world.chance.between(20, CATCH_UP_MS)
        self.world.timeline.after(wait_ms, self._begin)

    def _begin(self) -> None:
        world = self.world
        if not self.alive or self.session.state not in (SessionState.NEW, SessionState.FENCED):
            return
        if self.machine.stands or not world.kafka.up or self._stuck():
            self._catch_up()
            return
        for event in self.following.read_to_end():
            self._handle(event)
        if self._producer is not None:
            self._producer.close()
        lease_ms = world.scenario.lease_ms
        self._producer = Producer(
            (world.timeline, world.kafka, world.chance),
            self,
            self.weather,
            max(lease_ms // 2, 600),
            max(lease_ms * 2 // 5, 600),
        )
        self.incarnation = world.chance.uuid()
        world.narrate(self.name, "begins incarnation", self.incarnation[:8])
        self._handle(on.Started(self.incarnation, self.following.generation))
        self._plan()

    def _stuck(self) -> bool:
        return self.world.timeline.now_ms < self.following.stuck_until_ms

    # A turn of the session's thread, and of the application's.
    def _appended(self, record: RawRecord) -> None:
        if self.following.concerns(record):
            self.machine.wake_at(self.world.timeline.now_ms + self.following.delay_ms())

    def _turn(self) -> None:
        first = self.world.chance.happens(0.5)
        if first:
            self._loop.turn(self)
        now_ms = self.world.timeline.now_ms
        while self._inbox and self._inbox[0][0] <= now_ms and self.alive:
            self._handle(heappop(self._inbox)[2])
        self._read()
        if not first:
            self._loop.turn(self)
        if self.alive:
            self._handle(on.TimePassed())
        self.world.judge.turn_taken(self)
        if self.alive:
            self._plan()

    def _read(self) -> None:
        if self._stuck():
            return
        for event in self.following.read():
            self._handle(event)
        local_ms = self.machine.local_ms
        if self.world.kafka.up and local_ms - self._looked_ms >= self.world.scenario.lease_ms // 10:
            for event in self.following.read_to_end():
                self._handle(event)
            self._looked_ms = local_ms
            self._handle(on.AssignmentsReadToEnd(local_ms))

    def report(self, work: Work, end: int) -> None:
        """Tell the session where a work is."""
        self._handle(on.ProgressMade(work.queue, work.epoch, work.offset, end))

    def release(self, work: Work, end: int) -> None:
        """Tell the session that a work has stopped."""
        self._handle(on.WorkStopped(work.queue, work.epoch, work.offset, end))

    def _plan(self) -> None:
        machine = self.machine
        machine.wake_at(machine.true_ms(self.session.next_deadline_ms()))
        if self._inbox:
            machine.wake_at(self._inbox[0][0])
        if not self._stuck() and not self.following.at_end():
            machine.wake_at(self.world.timeline.now_ms + self.following.delay_ms())
        if not self.mute:
            for work in self.application.works.values():
                if work.stops_ms is not None:
                    machine.wake_at(work.stops_ms)

    def _post(self, wait_ms: int, event: on.Event) -> None:
        """Put an event into the inbox; a later turn handles it."""
        at_ms = self.world.timeline.now_ms + wait_ms
        self._posted += 1
        heappush(self._inbox, (at_ms, self._posted, event))
        self.machine.wake_at(at_ms)

    def _handle(self, event: on.Event) -> None:
        if not self.alive:
            return
        done = self.session.handle(event, self.machine.local_ms)
        if done or isinstance(event, on.HeartbeatAppended):
            self.ownership = self.session.ownership
        for action in done:
            message = self._outbox.message(action, self.machine.local_ms)
            if message is None:
                self._obey(action)
            else:
                self._send(message)

    def _send(self, message: Message) -> None:
        assert self._producer is not None, "only an incarnation sends"
        if message.suffix == "releases":
            self.world.narrate(self.name, "releases", *message.named)

        def answer(record: RawRecord | None) -> None:
            event = message.failed if record is None else message.appended
            if event is not None:
                self._post(0, event)

        kafka, group = self.world.kafka, self.world.scenario.group
        sent: list[tuple[Partition, Answer | None]] = [(kafka.partition(message.suffix), answer)]
        if message.handed_to is not None:
            number = partition_of_client(group, message.handed_to, ASSIGNMENTS_PARTITIONS)
            sent.append((kafka.partition("handovers", number), None))
        for partition, asker in self.world.chance.shuffled(sent):
            self._producer.send(partition, group.encode(), message.values, asker)

    def _obey(self, action: act.Action) -> None:
        application = self.application
        match action:
            case act.StartWork(queue, epoch, position):
                self.world.narrate(self.name, "starts", queue, epoch, position)
                application.start(queue, epoch, self.incarnation, position)
            case act.StopWork(queue, epoch):
                self.world.narrate(self.name, "is to stop", queue, epoch)
                self._stop(queue, epoch)
            case act.AbandonWork(queue, epoch):
                self._abandon(queue, epoch)
            case act.StopEverything(reason, work):
                self.world.narrate(self.name, "stops everything:", reason)
                for queue, epoch in work:
                    self._stop(queue, epoch)
            case act.CommitProgress():
                self._commit(action)
            case act.NewIncarnationNeeded():
                self._catch_up()
            case act.Stopped(error):
                self.error = error
                self.world.narrate(self.name, "is closed", error or "")
                self._end()
            case _:
                assert isinstance(action, act.ReportNotice)
                self.world.narrate(self.name, "reads a notice:", action.code)

    def _stop(self, queue: Queue, epoch: Epoch) -> None:
        done_ms = self.application.stop(queue, epoch, self.world.timeline.now_ms)
        if done_ms is None:
            self._post(0, on.WorkStopped(queue, epoch, None))
        elif not self.mute:
            self.machine.wake_at(done_ms)

    def _abandon(self, queue: Queue, epoch: Epoch) -> None:
        self.world.narrate(self.name, "is forced to release", queue, epoch)
        work = self.application.abandon(queue, epoch)
        if work is None:
            return
        # An abandoned handler may still finish the message in its hand.
        offset = work.offset + 1
        wait_ms = self.world.chance.between(100, 2_000)
        self.world.timeline.after(wait_ms, lambda: self.world.judge.handler_finished(work, offset))

    def _commit(self, action: act.CommitProgress) -> None:
        """Commit to the data plane; the data plane may keep a commit and report a failure."""
        world = self.world
        failed = self.commits_fail > 0 or not world.kafka.up
        self.commits_fail = max(0, self.commits_fail - 1)
        kept = not failed or world.chance.happens(0.5)

        def arrive() -> None:
            timely = self.machine.local_ms < action.not_after_ms
            if kept and world.kafka.up and timely:
                for entry in action.entries:
                    position = Position(*entry.position)
                    world.data.commit(MessageQueue(*entry.queue), position, entry.identity)
            done = timely and not failed and world.kafka.up
            self._post(0, on.CommitFinished(action.entries, committed=done))

        world.timeline.after(world.chance.between(5, COMMIT_MS), arrive)
