"""A client process: the real session of the client library, an application, and a lossy host."""

from dataclasses import dataclass, field
from random import Random
from uuid import UUID

from fairlead_client import model as words
from fairlead_client.session import actions as act
from fairlead_client.session import events as on
from fairlead_client.session.memory import SessionSettings
from fairlead_client.session.session import Session

from fairlead.core import model, records
from fairlead.sim.crossing import claim, progress, released, told
from tests.handover.log import Log

__all__ = ["Actor", "BrokenError"]


class BrokenError(AssertionError):
    """The protocol was broken: two owners, a hole, or a repetition without a reason."""


@dataclass(slots=True)
class Work:
    """The application's work on one queue."""

    epoch: words.Epoch
    offset: int
    stops_at_ms: int | None = None


@dataclass(slots=True)
class Actor:
    """One process. It is frozen until ``frozen_until_ms`` and dead when ``alive`` is False."""

    name: str
    log: Log
    rng: Random
    process: words.Process
    clean: bool = False
    """Nobody dies in this life, so nothing may be read twice."""
    session: Session = field(init=False)
    alive: bool = True
    frozen_until_ms: int = -1
    work: dict[words.Queue, Work] = field(default_factory=dict)
    told: int = 0
    released: int = 0
    generation: int = 0
    incarnation: str = ""
    answers: list[tuple[int, on.Event]] = field(default_factory=list)
    starts: int = 0

    def __post_init__(self) -> None:
        """Start the session as the transport would: newest generation, ends of the topics."""
        settings = SessionSettings(
            "orders", self.name, self.process, (words.Subscription("orders"),)
        )
        self.session = Session(settings)
        self.told, self.released = len(self.log.told), len(self.log.inputs["releases"])
        self._begin()

    def _begin(self) -> None:
        self.incarnation = str(UUID(int=self.rng.getrandbits(128)))
        self.generation = self.log.generations
        self.handle(on.Started(self.incarnation, self.generation))

    def handle(self, event: on.Event) -> None:
        """Feed the session and do what it says."""
        for action in self.session.handle(event, self.log.now_ms):
            self._do(action)

    def run(self) -> None:
        """Read what is there, up to a random place, work a little, and let time pass."""
        if not self.alive or self.log.now_ms < self.frozen_until_ms:
            return
        self.handle(on.TimePassed())
        if not self.alive:
            return
        due = [event for at, event in self.answers if at <= self.log.now_ms]
        self.answers = [(at, event) for at, event in self.answers if at > self.log.now_ms]
        for event in due:
            self.handle(event)
        self._read()
        if self.alive:
            self._work()
            self.handle(on.TimePassed())

    def _read(self) -> None:
        if self.generation < self.log.generations:
            self.generation = self.log.generations
            self.handle(on.GenerationRead(self.generation))
        for output in self.log.told[self.told :]:
            self.told += 1
            if output.member == (self.name, self.incarnation):
                self.handle(told(output))
        mine = [entry for entry in self.log.told if entry.member == (self.name, self.incarnation)]
        if mine and self.rng.random() < 0.05:
            self.handle(told(self.rng.choice(mine)))  # an old record is read again
        releases = self.log.inputs["releases"]
        if self.rng.random() < 0.8:
            for _, record in releases[self.released :]:
                if isinstance(record, records.Release):
                    self.handle(on.ReleaseRead(released(record)))
            self.released = len(releases)
        self.handle(on.AssignmentsReadToEnd(self.log.now_ms))

    def _work(self) -> None:
        owned = self.session.ownership
        for queue, work in sorted(self.work.items()):
            if work.stops_at_ms is not None and work.stops_at_ms <= self.log.now_ms:
                del self.work[queue]
                self.handle(on.WorkStopped(queue, work.epoch, work.offset))
            elif owned.epochs.get(queue) == work.epoch and self.log.now_ms < owned.until_ms:
                self._process(queue, work)

    def _process(self, queue: words.Queue, work: Work) -> None:
        done = self.log.data.done.get(model.MessageQueue(*queue), 0)
        if work.offset > done:
            raise BrokenError(f"HOLE: {self.name} reads {work.offset} of {queue}, done is {done}")
        work.offset += self.rng.randint(0, 3)
        self.log.data.done[model.MessageQueue(*queue)] = max(done, work.offset)
        self.handle(on.ProgressMade(queue, work.epoch, work.offset))

    def _do(self, action: act.Action) -> None:
        if not self._write(action):
            self._obey(action)

    def _write(self, action: act.Action) -> bool:
        key = model.MemberKey(self.name, self.incarnation)
        match action:
            case act.SendHeartbeat():
                self._heartbeat(action, key)
            case act.SendProgress():
                entries = tuple(progress(entry) for entry in action.entries)
                self.log.append("heartbeats", records.Progress("orders", key, entries))
            case act.SendClaims():
                claims = tuple(claim(entry) for entry in action.claims)
                record = records.Claims("orders", key, action.generation, 0, 1, claims)
                self.log.append("heartbeats", record)
                self._later(on.ClaimsAppended(action.incarnation, action.generation))
            case act.SendRelease():
                self._release(action, key)
            case act.SendLeave():
                self.log.append("heartbeats", records.Leave("orders", key, action.sequence))
                self._later(on.LeaveAppended(action.incarnation))
            case _:
                return False
        return True

    def _obey(self, action: act.Action) -> None:
        match action:
            case act.StartWork():
                self._start(action)
            case act.StopWork():
                self._stop(action.queue, action.epoch)
            case act.AbandonWork():
                self.work.pop(action.queue, None)
            case act.StopEverything():
                for queue, epoch in action.work:
                    stopped = self.work.pop(queue, None)
                    offset = None if stopped is None else stopped.offset
                    self._later(on.WorkStopped(queue, epoch, offset), 0)
            case act.CommitProgress():
                for entry in action.entries:
                    committed = model.Position(*entry.position)
                    self.log.data.committed[model.MessageQueue(*entry.queue)] = committed
                self._later(on.CommitFinished(action.entries, committed=True))
            case act.NewIncarnationNeeded():
                self.answers = []
                self._begin()
            case act.Stopped():
                self.alive = False
            case _:
                assert isinstance(action, act.ReportNotice)

    def _start(self, action: act.StartWork) -> None:
        self.starts += 1
        done = self.log.data.done.get(model.MessageQueue(*action.queue), 0)
        if self.clean and action.position.offset < done:
            raise BrokenError(f"DUP: {self.name} starts {action} below {done}")
        self.work[action.queue] = Work(action.epoch, action.position.offset)

    def _heartbeat(self, action: act.SendHeartbeat, key: model.MemberKey) -> None:
        self.log.append(
            "heartbeats",
            records.Heartbeat(
                "orders",
                key,
                model.Process(self.process.start_ms, self.process.uuid),
                action.incarnations,
                action.sequence,
                action.generation,
                model.MemberProfile(consume_from="first_offset"),
                (model.Subscription("orders"),),
                None,
                int(action.digest, 16),
            ),
        )
        self._later(on.HeartbeatAppended(action.incarnation, action.sequence, self.log.now_ms))

    def _release(self, action: act.SendRelease, key: model.MemberKey) -> None:
        position = None if action.position is None else model.Position(*action.position)
        queue, epoch = model.MessageQueue(*action.queue), model.Epoch(*action.epoch)
        self.log.append("releases", records.Release("orders", key, queue, epoch, position))
        self._later(
            on.ReleaseAppended(action.incarnation, action.queue, action.epoch, action.position)
        )

    def _stop(self, queue: words.Queue, epoch: words.Epoch) -> None:
        work = self.work.get(queue)
        if work is None:
            self._later(on.WorkStopped(queue, epoch, None), 0)
            return
        slow = self.rng.random() < 0.1
        work.stops_at_ms = self.log.now_ms + self.rng.randint(0, 8_000 if slow else 300)

    def _later(self, event: on.Event, delay_ms: int | None = None) -> None:
        wait = self.rng.randint(0, 400) if delay_ms is None else delay_ms
        self.answers.append((self.log.now_ms + wait, event))

    def session_leaves(self) -> None:
        """The application closes the client."""
        self.handle(on.LeaveRequested())

    def working(self) -> dict[words.Queue, words.Epoch]:
        """Return what the process would work on if it ran now: its own lease still runs."""
        owned = self.session.ownership
        if not self.alive or self.log.now_ms >= owned.until_ms:
            return {}
        return {
            queue: work.epoch
            for queue, work in self.work.items()
            if owned.epochs.get(queue) == work.epoch
        }
