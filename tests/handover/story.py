"""One group's life told step by step: the real core, the real sessions, nobody in a hurry.

A test says who reads what and when, and each client's work is looked at after every word: two
owners, a hole, or a message read twice although nobody died end the test. The engine and the
clients share the log alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairlead_client import model as words
from fairlead_client.session import actions as act
from fairlead_client.session import events as on
from fairlead_client.session.memory import SessionSettings
from fairlead_client.session.session import Session

from fairlead.core import model, records
from fairlead.core.allocation import Allocation, AllocationRequest
from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.core.outputs import Assignment, Decision, Notice
from fairlead.sim.crossing import claim, progress, released, told
from strategies.registry import STRATEGIES
from tests.core.world import GROUP, World, key_of, queue_of

__all__ = ["BrokenError", "Client", "Pointed", "Story"]

STEP_MS = 500


class BrokenError(AssertionError):
    """The protocol was broken: two owners, a hole, or a repetition without a reason."""


class Pointed:
    """Gives each queue to whom its options say, by queue id; to the first client otherwise."""

    name = "POINTED"

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Do as the options say."""
        owned: dict[str, dict[str, tuple[MessageQueue, ...]]] = {}
        names = [candidate.client_id for candidate in request.candidates]
        for topic, queues in request.queues.items():
            shares: dict[str, tuple[MessageQueue, ...]] = dict.fromkeys(names, ())
            for queue in queues:
                owner = request.options.get(str(queue.queue_id))
                owner = owner if owner in shares else names[0]
                shares[owner] = (*shares[owner], queue)
            owned[topic] = shares
        return Allocation(owned)


@dataclass(slots=True)
class Work:
    """A client's work on one queue; ``stopping``: it was asked to stop."""

    epoch: words.Epoch
    offset: int
    reset: int
    stopping: bool = False


@dataclass(slots=True)
class Client:
    """One process: the session and its application. Nothing is read until the story says so."""

    story: "Story"
    name: str
    process: words.Process
    drain_deadline_ms: int | None = 30_000
    ordered: bool = False
    life: int = 0
    alive: bool = True
    heard: bool = True
    """It learns that what it sent reached the log."""
    message_model: str = "clustering"
    frozen: bool = False
    """The process stands still."""
    session: Session = field(init=False)
    works: dict[int, Work] = field(default_factory=dict)
    starts: list[tuple[int, Epoch, int]] = field(default_factory=list)
    """(queue, epoch, offset) of every start."""
    releases: list[tuple[int, Epoch, int | None]] = field(default_factory=list)
    """(queue, epoch, offset or None) of every release written."""
    notices: list[str] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=lambda: {"told": 0, "releases": 0})
    generation: int = 0
    _waiting: list[on.Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Join: learn the newest generation, follow the topics from their ends."""
        self.session = Session(
            SessionSettings(
                GROUP,
                self.name,
                self.process,
                (words.Subscription("orders"),),
                drain_deadline_ms=self.drain_deadline_ms,
            )
        )
        self._begin()

    @property
    def key(self) -> MemberKey:
        """The present incarnation."""
        return key_of(self.name, self.life)

    def _begin(self) -> None:
        self.life += 1
        self.generation = self.story.generation
        self.places = {"told": len(self.story.told), "releases": len(self.story.released)}
        self._feed(on.Started(self.key.incarnation, self.generation))

    # What it reads.
    def reads(self, number: int | None = None) -> None:
        """Read the records to it that it has not read, or only the next so many of them."""
        self.reads_generations()
        left = number
        while left != 0 and self.places["told"] < len(self.story.told):
            output = self.story.told[self.places["told"]]
            self.places["told"] += 1
            if output.member == self.key:
                self._feed(told(output))
                left = None if left is None else left - 1
        if number is None:
            self._feed(on.AssignmentsReadToEnd(self.story.now_ms))

    def reads_again(self) -> None:
        """Read every record that was ever written to any of its lives once more."""
        for output in self.story.told[: self.places["told"]]:
            if output.member.client_id == self.name:
                self._feed(told(output))

    def skips(self, number: int) -> None:
        """Not read the next so many records yet; `reads_again` reads them late."""
        self.places["told"] += number

    def learns_late(self) -> None:
        """Not read the newest generation before its assignments."""
        self.generation = self.story.generation

    def loses(self) -> None:
        """Never read what was written to it since it read last."""
        self.places["told"] = len(self.story.told)

    def reads_releases(self) -> None:
        """Read the releases topic to its end."""
        for record in self.story.released[self.places["releases"] :]:
            self.places["releases"] += 1
            self._feed(on.ReleaseRead(released(record)))

    def reads_all(self) -> None:
        """Read everything there is."""
        self.reads()
        self.reads_releases()

    def reads_generations(self) -> None:
        """Read the generations topic to its end, as it does before all else."""
        if self.generation < self.story.generation:
            self.generation = self.story.generation
            self._feed(on.GenerationRead(self.generation))

    # What its application does.
    def processes(self, messages: int, queue: int = 0) -> None:
        """Process so many messages of a queue that it works on, and tell the session."""
        work = self.works[queue]
        work.offset += messages
        self.story.done[queue] = max(self.story.done.get(queue, 0), work.offset)
        self._feed(on.ProgressMade(_queue(queue), work.epoch, work.offset))

    def stops(self, queue: int = 0) -> None:
        """The application stops as it was asked to."""
        work = self.works.pop(queue)
        self._feed(on.WorkStopped(_queue(queue), work.epoch, work.offset))

    def leaves(self, *, busy: bool = False) -> None:
        """The application closes the client; unless it is busy, work stops at once."""
        self._feed(on.LeaveRequested())
        for queue in [] if busy else list(self.works):
            self.stops(queue)

    def crashes(self) -> None:
        """The process is gone."""
        self.alive = False
        self.works.clear()

    def passes(self) -> None:
        """Let the session do what is due."""
        self._feed(on.TimePassed())

    def answers(self) -> None:
        """Let the session learn what became of what it sent while it was not heard."""
        due, self._waiting = self._waiting, []
        for event in due:
            self._feed(event)

    def may_work(self) -> Mapping[int, words.Epoch]:
        """Return what the process would work on now: its own lease still runs."""
        owned = self.session.ownership
        if not self.alive or self.frozen or self.story.now_ms >= owned.until_ms:
            return {}
        return {
            queue: work.epoch
            for queue, work in self.works.items()
            if owned.epochs.get(_queue(queue)) == work.epoch
        }

    # What the session wants.
    def _feed(self, event: on.Event) -> None:
        if not self.alive or self.frozen:
            return
        for action in self.session.handle(event, self.story.now_ms):
            if not self._write(action):
                self._obey(action)
        self.story.look()

    def _write(self, action: act.Action) -> bool:
        world, key = self.story.world, self.key
        match action:
            case act.SendHeartbeat():
                self._heartbeat(action)
            case act.SendProgress():
                made = tuple(progress(entry) for entry in action.entries)
                world.add("heartbeats", records.Progress(GROUP, key, made))
            case act.SendClaims():
                claims = tuple(claim(entry) for entry in action.claims)
                record = records.Claims(GROUP, key, action.generation, 0, 1, claims)
                world.add("heartbeats", record)
                self._answer(on.ClaimsAppended(action.incarnation, action.generation))
            case act.SendRelease():
                self._release(action)
            case act.SendLeave():
                world.add("heartbeats", records.Leave(GROUP, key, action.sequence))
                self._answer(on.LeaveAppended(action.incarnation))
            case _:
                return False
        return True

    def _heartbeat(self, action: act.SendHeartbeat) -> None:
        self.story.world.add(
            "heartbeats",
            records.Heartbeat(
                GROUP,
                self.key,
                model.Process(self.process.start_ms, self.process.uuid),
                action.incarnations,
                action.sequence,
                action.generation,
                model.MemberProfile(
                    message_model=self.message_model,
                    consume_from="first_offset",
                    ordered=self.ordered,
                ),
                (model.Subscription("orders"),),
                None,
                int(action.digest, 16),
            ),
        )
        sent_ms = self.story.now_ms
        self._answer(on.HeartbeatAppended(action.incarnation, action.sequence, sent_ms))

    def _release(self, action: act.SendRelease) -> None:
        position = None if action.position is None else Position(*action.position)
        number, epoch = action.queue.queue_id, Epoch(*action.epoch)
        key = MemberKey(self.name, action.incarnation)
        record = records.Release(GROUP, key, queue_of(number), epoch, position)
        self.releases.append((number, epoch, None if position is None else position.offset))
        self.story.released.append(record)
        self.story.world.add("releases", record)
        self._answer(
            on.ReleaseAppended(action.incarnation, action.queue, action.epoch, action.position)
        )

    def _answer(self, event: on.Event) -> None:
        if self.heard:
            self._feed(event)
        else:
            self._waiting.append(event)

    def _obey(self, action: act.Action) -> None:
        match action:
            case act.StartWork():
                self._start(action)
            case act.StopWork():
                self.works[action.queue.queue_id].stopping = True
            case act.AbandonWork():
                self.works.pop(action.queue.queue_id, None)
            case act.StopEverything():
                for queue, epoch in action.work:
                    stopped = self.works.pop(queue.queue_id, None)
                    offset = None if stopped is None else stopped.offset
                    self._feed(on.WorkStopped(queue, epoch, offset))
            case act.CommitProgress():
                for entry in action.entries:
                    self.story.committed[entry.queue.queue_id] = Position(*entry.position)
                self._feed(on.CommitFinished(action.entries, committed=True))
            case act.NewIncarnationNeeded():
                self._begin()
            case act.Stopped():
                self.alive = False
            case act.ReportNotice():
                self.notices.append(action.code)

    def _start(self, action: act.StartWork) -> None:
        number, (reset, offset) = action.queue.queue_id, action.position
        self.starts.append((number, Epoch(*action.epoch), offset))
        self.story.look_at_start(number, reset, offset)
        self.works[number] = Work(action.epoch, offset, reset)


@dataclass(slots=True)
class Story:
    """The log, the engine and the clients.

    ``deaths``: somebody died, so messages may be read twice. ``unsafe``: the group gave up single
    ownership, so it is not looked at.
    """

    queues: int = 1
    cap: int | None = None
    world: World = field(init=False)
    told: list[Assignment | Notice] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    released: list[records.Release] = field(default_factory=list)
    clients: dict[str, Client] = field(default_factory=dict)
    done: dict[int, int] = field(default_factory=dict)
    resets: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Queue -> the newest reset that somebody started from, and the offset."""
    committed: dict[int, Position] = field(default_factory=dict)
    targets: dict[int, str] = field(default_factory=dict)
    deaths: bool = False
    unsafe: bool = False

    def __post_init__(self) -> None:
        """Begin with the topic's route and bounds in the log, and nobody there."""
        self.world = World(strategies={**STRATEGIES, Pointed.name: Pointed()})
        if self.cap is not None:
            self.world.chain_cap = self.cap
        self.points({})
        self.engine()

    @property
    def now_ms(self) -> int:
        """The time of everybody: nobody's clock drifts in a story."""
        return self.world.clock_ms

    @property
    def generation(self) -> int:
        """The newest generation in the log."""
        return self.world.generation

    # The engine.
    def engine(self) -> None:
        """The engine reads everything and decides; a bridge answers what it asks for."""
        for _ in range(2):
            self.world.run()
            for output in self.world.outputs:
                if isinstance(output, Assignment | Notice):
                    self.told.append(output)
                elif isinstance(output, Decision):
                    self.decisions.append(output)
            if self.world.state is None or self.world.state.requests == {}:
                return
            self.world.route(self.queues)
            known = tuple(
                records.QueueOffsets(queue_of(number), 0, 1_000, self.committed.get(number), None)
                for number in range(self.queues)
            )
            self.world.add("offsets", records.OffsetsKnown(GROUP, "orders", "one", known))

    def points(self, owners: Mapping[int, str]) -> None:
        """An operator says who shall own which queue; the others stay where they were pointed."""
        self.targets.update(owners)
        options = {str(queue): owner for queue, owner in self.targets.items()}
        self.world.rule("strategy", {"name": Pointed.name, "options": options})

    def moves(self, queue: int, to: str) -> None:
        """The target of a queue becomes a client, and the engine decides."""
        self.points({queue: to})
        self.engine()

    def resets_to(self, offset: int, queue: int = 0) -> int:
        """An operator resets a queue; return the reset, which is the record's offset + 1."""
        self.world.add("control", records.Reset(GROUP, queue_of(queue), offset, "alice"))
        return self.world.offsets["control"]

    def another_engine(self) -> "Story":
        """Return a second engine, which has the state of this one and writes beside it.

        It is a story of its own that nobody lives in: what it tells is told to the clients of this
        one when they read it.
        """
        other = Story(self.queues)
        other.world.state = self.world.state
        other.world.clock_ms = self.world.clock_ms
        other.world.generation, other.world.marker = self.generation, self.world.marker
        other.told = self.told
        return other

    # The clients.
    def joins(self, name: str, **settings: object) -> Client:
        """A process starts, and the engine hears of it."""
        process = words.Process(1_000 + len(self.clients), f"process-{name}")
        given = {"process": process, **settings}
        client = Client(self, name, **given)  # type: ignore[arg-type]  # fields of Client
        self.clients[name if name not in self.clients else f"{name}'"] = client
        return client

    def time(self, milliseconds: int, *, engine: bool = True) -> None:
        """Time passes for everybody; who lives heartbeats, having read its assignments.

        The engine reads on, unless it is not there.
        """
        end_ms = self.now_ms + milliseconds
        while self.now_ms < end_ms:
            self.world.pass_time(min(STEP_MS, end_ms - self.now_ms))
            for client in list(self.clients.values()):
                client._feed(on.AssignmentsReadToEnd(self.now_ms))  # noqa: SLF001  # one pair
                client.passes()
            if engine:
                self.engine()

    def look(self) -> None:
        """Raise if two processes would work on one queue."""
        owners: dict[int, str] = {}
        for name, client in self.clients.items():
            for queue in client.may_work():
                if queue in owners and not self.unsafe:
                    raise BrokenError(f"DOUBLE: {queue} by {owners[queue]} and {name}")
                owners[queue] = name

    def look_at_start(self, queue: int, reset: int, offset: int) -> None:
        """Raise if a start skips messages, or repeats some although nobody died."""
        newest = self.resets.get(queue, (0, 0))
        if reset > newest[0]:
            self.resets[queue] = (reset, offset)
            self.done[queue] = offset
            return
        if reset < newest[0]:
            raise BrokenError(f"RESETLOST: {queue} starts under {reset} after {newest}")
        done = self.done.get(queue, 0)
        if offset > done:
            raise BrokenError(f"HOLE: {queue} starts at {offset}, done is {done}")
        if offset < done and not (self.deaths or self.unsafe):
            raise BrokenError(f"DUP: {queue} starts at {offset}, done is {done}")

    def restarts(self, *, marked: bool = True) -> None:
        """Another driver starts."""
        self.world.driver(self.generation + 1, marked=marked)

    def owner(self, queue: int = 0) -> str | None:
        """Return who works on a queue."""
        return next(
            (name for name, client in self.clients.items() if queue in client.may_work()), None
        )


def _queue(number: int) -> words.Queue:
    return words.Queue(*queue_of(number))
