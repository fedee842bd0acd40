"""A world of one queue: real sessions, an engine that keeps the list rule, any order of reading.

Every record written is a fact that anyone may read late, again, or after newer ones. The engine
here is the model's, small and trusted; what is under test is the session.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest
from fairlead_client.model import Epoch, Holder, Position, Process, Queue, Subscription
from fairlead_client.session import actions, events
from fairlead_client.session.memory import SessionSettings
from fairlead_client.session.records import Add, Assigned, Assignment, Drop, Release
from fairlead_client.session.session import Session

GROUP = "orders"
QUEUE = Queue("orders", "main", 1)
LEASE_MS = 10_000


class ViolationError(AssertionError):
    """One of the things that must never happen has happened."""


@dataclass
class Member:
    """One client: its session, and an application that works on the queue."""

    name: str
    session: Session
    incarnation: str = ""
    lives: int = 0
    now: int = 0
    epoch: Epoch | None = None
    position: int = 0
    stopping: bool = False
    unacknowledged: list[events.Event] = field(default_factory=list)


@dataclass
class Engine:
    """The list rule: `chain` holds the unresolved grants, oldest first, at most `cap` of them."""

    cap: int
    generation: int = 1
    number: int = 0
    base: int = 0
    chain: list[Holder] = field(default_factory=list)
    dropped: bool = False
    target: str | None = None
    awaited: set[str] = field(default_factory=set)
    lapsed: set[str] = field(default_factory=set)
    claims: dict[str, actions.SendClaims] = field(default_factory=dict)
    early: list[Release] = field(default_factory=list)
    records: list[Assignment] = field(default_factory=list)


class World:
    """Members, an engine between them, and the five checks of the model."""

    def __init__(self, members: int = 3, cap: int = 2) -> None:
        self.engine = Engine(cap)
        self.releases: list[Release] = []
        self.processed = 0
        self.last_start = Epoch(0, 0)
        self.somebody_died = False
        self.members = [self._member(f"c{number}") for number in range(members)]
        for member in self.members:
            self.begin(member)

    def _member(self, name: str) -> Member:
        settings = SessionSettings(
            GROUP, name, Process(1, name), (Subscription("orders"),), lease_ms=LEASE_MS
        )
        return Member(name, Session(settings))

    # A member.
    def begin(self, member: Member) -> None:
        """Begin a new incarnation, heartbeat acknowledged, the newest generation known."""
        member.lives += 1
        member.incarnation = f"{member.name}-{member.lives}"
        self.feed(member, events.Started(member.incarnation, self.engine.generation))
        self.feed(member, events.HeartbeatAppended(member.incarnation, 1, member.now))

    def feed(self, member: Member, event: events.Event) -> None:
        """Let something happen to a member, and to the world what its session wants."""
        for action in member.session.handle(event, member.now):
            self._do(member, action)

    def _do(self, member: Member, action: actions.Action) -> None:
        match action:
            case actions.StartWork(_, epoch, position):
                self._check_start(member, epoch, position.offset)
                member.epoch, member.position, member.stopping = epoch, position.offset, False
            case actions.StopWork():
                member.stopping = True
            case actions.StopEverything(work=work):
                member.epoch = None
                for queue, epoch in work:
                    self.feed(member, events.WorkStopped(queue, epoch, member.position))
            case actions.CommitProgress(entries=entries):
                self.feed(member, events.CommitFinished(entries, committed=True))
            case actions.SendRelease(incarnation, queue, epoch, position):
                self._check_release(member, epoch, position)
                holder = Holder(member.name, incarnation, epoch)
                self.releases.append(Release(GROUP, queue, holder, position))
                member.unacknowledged.append(
                    events.ReleaseAppended(incarnation, queue, epoch, position)
                )
            case actions.SendClaims(incarnation=incarnation):
                self.engine.claims[incarnation] = action

    def _check_start(self, member: Member, epoch: Epoch, offset: int) -> None:
        if any(other.epoch is not None for other in self.members):
            raise ViolationError(f"double: {member.name} starts {epoch}")
        if epoch <= self.last_start:
            raise ViolationError(f"epoch: {epoch} after {self.last_start}")
        if offset > self.processed:
            raise ViolationError(f"hole: {offset} > {self.processed}")
        if offset < self.processed and not self.somebody_died:
            raise ViolationError(f"duplicate: {offset} < {self.processed}")
        self.last_start = epoch

    def _check_release(self, member: Member, epoch: Epoch, position: Position | None) -> None:
        if member.epoch == epoch:
            raise ViolationError(f"release of {epoch} while {member.name} works on it")
        if position is not None and position.offset > self.processed:
            raise ViolationError(f"release beyond what was processed: {position}")

    def work(self, member: Member) -> None:
        """Process one message."""
        if member.epoch is not None:
            member.position += 1
            self.processed = max(self.processed, member.position)
            self.feed(member, events.ProgressMade(QUEUE, member.epoch, member.position))

    def stop(self, member: Member) -> None:
        """Finish what is in hand, if the queue was taken away."""
        if member.epoch is not None and member.stopping:
            epoch, member.epoch = member.epoch, None
            self.feed(member, events.WorkStopped(QUEUE, epoch, member.position))

    def acknowledge(self, member: Member) -> None:
        """Have what was written acknowledged."""
        waiting, member.unacknowledged = member.unacknowledged, []
        for event in waiting:
            self.feed(member, event)

    def read_assignment(self, member: Member, record: Assignment) -> None:
        """Read any record of the topic, whoever it is for."""
        self.feed(member, events.AssignmentRead(record))

    def read_release(self, member: Member, release: Release) -> None:
        """Read any release."""
        self.feed(member, events.ReleaseRead(release))

    def fence(self, member: Member) -> None:
        """Let the lease end: it stops, and is born again. The engine may lapse it from now on."""
        self.somebody_died = True
        dead = member.incarnation
        member.now += LEASE_MS
        self.feed(member, events.TimePassed())
        if member.epoch is not None:
            raise ViolationError(f"{member.name} works after its lease")
        self.engine.lapsed.add(dead)
        self.begin(member)

    def learn_generation(self, member: Member) -> None:
        """Read the newest claim."""
        self.feed(member, events.GenerationRead(self.engine.generation))

    # The engine.
    def aim(self, member: Member) -> None:
        """Make a member the target."""
        self.engine.target = member.name
        self.decide()

    def lapse(self, incarnation: str) -> None:
        """Take an incarnation for dead; only ever one that has stopped."""
        assert incarnation in self.engine.lapsed
        self.engine.awaited.discard(incarnation)
        self._resolve([h for h in self.engine.chain if h.incarnation == incarnation])
        self.decide()

    def hear(self, release: Release) -> None:
        """Have the engine read a release."""
        engine = self.engine
        if engine.awaited:
            engine.early.append(release)
            return
        if release.holder in engine.chain:
            upto = engine.chain.index(release.holder)
            gone = [release.holder]
            if release.position is not None:
                gone = engine.chain[: upto + 1]
                engine.base = max(engine.base, release.position.offset)
            self._resolve(gone)
        self.decide()

    def restart(self) -> None:
        """Start a new driver on intact state: the light barrier."""
        engine = self.engine
        engine.generation += 1
        engine.awaited = {member.incarnation for member in self.members}
        engine.awaited |= {holder.incarnation for holder in engine.chain} - engine.lapsed

    def decide(self) -> None:
        """Take the barrier down if it can be, then move towards the target."""
        engine = self.engine
        if engine.awaited and not self._adopt():
            return
        if engine.target is None:
            return
        while self._move():
            pass

    def _adopt(self) -> bool:
        engine = self.engine
        answers = [
            claim for claim in engine.claims.values() if claim.generation == engine.generation
        ]
        if engine.awaited - {answer.incarnation for answer in answers} - engine.lapsed:
            return False
        engine.awaited = set()
        running = [
            Holder(answer.incarnation.split("-")[0], answer.incarnation, claim.epoch)
            for answer in answers
            if answer.incarnation not in engine.lapsed
            for claim in answer.claims
            if claim.state == "running"
        ]
        offsets = [claim.position.offset for answer in answers for claim in answer.claims]
        engine.base = max([engine.base, *offsets])
        engine.chain = [max(running, key=lambda holder: holder.epoch)] if running else []
        engine.dropped = False
        early, engine.early = engine.early, []
        for release in early:
            if release.position is not None:
                engine.base = max(engine.base, release.position.offset)
            if release.holder in engine.chain:
                engine.chain.clear()
        return True

    def _move(self) -> bool:
        engine = self.engine
        newest = engine.chain[-1] if engine.chain else None
        member = next(member for member in self.members if member.name == engine.target)
        if newest is not None and newest.incarnation == member.incarnation and not engine.dropped:
            return False
        if newest is not None and not engine.dropped:
            engine.dropped = True
            self._write(newest, drop=(Drop(QUEUE, newest.epoch),))
        if len(engine.chain) >= engine.cap:
            return False
        epoch = Epoch(engine.generation, engine.number + 1)
        engine.chain.append(Holder(member.name, member.incarnation, epoch))
        engine.dropped = False
        self._write(engine.chain[-1], add=(self._add(),))
        return True

    def _resolve(self, gone: list[Holder]) -> None:
        engine = self.engine
        before = list(engine.chain)
        engine.chain = [holder for holder in engine.chain if holder not in gone]
        if not engine.chain:
            engine.dropped = False
        elif engine.chain[-1] != before[-1]:
            engine.dropped = True
        elif engine.chain != before and not engine.dropped:
            # The grant, or the same add with a shorter list.
            self._write(engine.chain[-1], add=(self._add(),))

    def heal(self) -> None:
        """Repeat the last word of the engine to everybody in the chain."""
        engine = self.engine
        if engine.awaited:
            return
        for holder in engine.chain:
            newest = holder == engine.chain[-1] and not engine.dropped
            words: dict[str, Any] = (
                {"add": (self._add(),)} if newest else {"drop": (Drop(QUEUE, holder.epoch),)}
            )
            self._write(holder, **words)

    def _add(self) -> Add:
        engine = self.engine
        *older, newest = engine.chain
        return Add(QUEUE, newest.epoch, Position(0, engine.base), tuple(older))

    def _write(self, to: Holder, **words: Any) -> None:
        engine = self.engine
        engine.number += 1
        entries = []
        for holder in engine.chain:
            if (holder.client_id, holder.incarnation) != (to.client_id, to.incarnation):
                continue
            if holder != engine.chain[-1] or engine.dropped:
                entries.append(Assigned(QUEUE, holder.epoch, "draining"))
            elif len(engine.chain) > 1:
                entries.append(Assigned(QUEUE, holder.epoch, "gated", self._add()))
            else:
                entries.append(Assigned(QUEUE, holder.epoch, "held"))
        epoch = Epoch(engine.generation, engine.number)
        self.engine.records.append(
            Assignment(
                GROUP,
                to.client_id,
                to.incarnation,
                engine.generation,
                epoch,
                assigned=tuple(entries),
                **words,
            )
        )

    # The end of all.
    def settle(self) -> None:
        """Read and do everything; the target must end up working, alone, and the engine know it."""
        for _ in range(30):
            for member in self.members:
                self.learn_generation(member)
                for record in list(self.engine.records):
                    self.read_assignment(member, record)
                for release in list(self.releases):
                    self.read_release(member, release)
                self.stop(member)
                self.acknowledge(member)
            for release in list(self.releases):
                self.hear(release)
            for incarnation in sorted(self.engine.lapsed):
                self.lapse(incarnation)
            self.heal()
            self.decide()
        if self.engine.target is None:
            return
        working = [member.name for member in self.members if member.epoch is not None]
        if working != [self.engine.target] or len(self.engine.chain) != 1:
            raise ViolationError(f"stuck: {working} instead of {self.engine.target}")


@pytest.fixture
def world() -> type[World]:
    """Make worlds."""
    return World
