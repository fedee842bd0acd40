"""A client of a story: the real session, and an application that does what the story says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairlead_client import model as words
from fairlead_client.session import actions as act
from fairlead_client.session import events as on
from fairlead_client.session.memory import SessionSettings
from fairlead_client.session.session import Session
from fairlead_proof.sim.wire_shim import claim, event_of, progress, released

from fairlead.core import model, records
from fairlead.core.model import Epoch, MemberKey, Position
from tests.kit.group_world import GROUP, key_of, queue_of

if TYPE_CHECKING:
    from tests.handover.story import Story

__all__ = ["Client"]


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
    commits: bool = True
    """Its positions are committed in the data plane too."""
    life: int = 0
    alive: bool = True
    heard: bool = True
    """It learns that what it sent reached the log."""
    message_model: str = "clustering"
    frozen: bool = False
    """The process stands still."""
    late: bool = False
    """It has not come to read the generations topic."""
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
                commits=self.commits,
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
                self._feed(event_of(output))
                left = None if left is None else left - 1
        if number is None:
            self._feed(on.AssignmentsReadToEnd(self.story.now_ms))

    def reads_again(self) -> None:
        """Read every record that was ever written to any of its lives once more."""
        for output in self.story.told[: self.places["told"]]:
            if output.member.client_id == self.name:
                self._feed(event_of(output))

    def skips(self, number: int) -> None:
        """Not read the next so many records yet; `reads_again` reads them late."""
        self.places["told"] += number

    def learns_late(self) -> None:
        """Not read the newest generations until the story lets it learn."""
        self.late = True

    def learns(self) -> None:
        """Read the generations that it has not read until now."""
        self.late = False
        self.reads_generations()

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
        if not self.late and self.generation < self.story.generation:
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
        """Let the session do what is due, as if it had read its assignments to their end."""
        self._feed(on.AssignmentsReadToEnd(self.story.now_ms))
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
                last_started = Epoch(*action.last_started)
                world.add("heartbeats", records.Leave(GROUP, key, action.sequence, last_started))
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
        told = action.last_started and Epoch(*action.last_started)
        record = records.Release(
            GROUP, key, queue_of(number), epoch, position, told, identity=action.identity
        )
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
                    self.story.committed[entry.queue.queue_id] = entry
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


def _queue(number: int) -> words.Queue:
    return words.Queue(*queue_of(number))
