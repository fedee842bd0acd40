"""The script: what is done to the group, step by step, and when each step is over.

A step begins with an event and is over when the engine calls the group stable with the members it
should have, and every queue is worked on by the client it was granted to, under that epoch. Nothing
waits for time to pass: each wait is for a fact, with a deadline.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Protocol

from fairlead.core.model import MessageQueue
from fairlead.errors import VerdictError
from fairlead.verify.history import ClientKilled, Closing, EngineKilled, StepBegun, StepRecord
from fairlead_proof.demo.fleet import Fleet
from fairlead_proof.demo.floor import Floor
from fairlead_proof.demo.shares import going_to
from fairlead_proof.local.child import Killing
from fairlead_proof.local.ownership import Ownership

FIRST: Final = tuple(f"c{number}" for number in range(1, 7))
JOINING: Final = ("c7", "c8")
NEWCOMER: Final = "c9"

QUEUES: Final = 32
QUEUES_GROWN: Final = 48
_VICTIM_QUEUES_MIN: Final = 3
PATIENCE_SECONDS: Final = 120.0
_LOOK_SECONDS: Final = 1.0


class StepError(VerdictError):
    """A step did not come to its end in time, or a part of the system died by itself."""


@dataclass(frozen=True, slots=True)
class StepNote:
    """What the screen shows of a step.

    Attributes:
        name: the step's name.
        event: what was done, in words.
        begun_ns: when.
        settled_ns: when it was over; None while it is not.
        moves: queues that were granted to another client meanwhile.
    """

    name: str
    event: str
    begun_ns: int
    settled_ns: int | None = None
    moves: int = 0


class Follower(Protocol):
    """Who follows the engine's decisions; the fleet's condition guards it."""

    @property
    def ownership(self) -> Ownership:
        """What the decisions add up to so far."""

    def raise_failure(self) -> None:
        """Raise if the decisions cannot be followed any more."""


class System(Protocol):
    """What the script does to the rest of the system."""

    def grow(self, partitions: int) -> None:
        """Add partitions to the source topic, up to this many."""

    def kill_engine(self) -> Killing:
        """SIGKILL to the engine; return when nothing of it runs."""

    def start_engine(self) -> None:
        """Start the engine again."""

    def check(self) -> None:
        """Raise if a part of the system died by itself."""


class Script:
    """Plays the script once.

    Attributes:
        steps: the log of what was done when, for the judge.
        notes: the same for the screen.
    """

    def __init__(
        self,
        fleet: Fleet,
        follower: Follower,
        system: System,
        chance: random.Random,
        *,
        patience_s: float = PATIENCE_SECONDS,
    ) -> None:
        """Describe the script.

        Args:
            fleet: the consumers; its condition guards everything live, the follower's too.
            follower: the engine's decisions.
            system: everything else.
            chance: chooses who leaves and who dies.
            patience_s: how long a fact is waited for.
        """
        self.steps: list[StepRecord] = []
        self.notes: list[StepNote] = []
        self._fleet = fleet
        self._follower = follower
        self._system = system
        self._chance = chance
        self._patience_s = patience_s
        self._queues = QUEUES

    def acts(self) -> tuple[Callable[[], None], ...]:
        """The steps in their order; each returns when it is over."""
        return (
            self.start, self.join, self.leave, self.kill_client, self.grow, self.kill_engine,
        )  # fmt: skip

    def prepare(self) -> None:
        """Start the first processes: they import while the engine starts."""
        for client_id in FIRST:
            self._fleet.start(client_id)

    def start(self) -> None:
        """Six consumers join."""
        self._ready(*FIRST)
        self._begin("start", f"{len(FIRST)} consumers join")
        self._fleet.join(*FIRST)
        self._settle()

    def join(self) -> None:
        """Two more join."""
        self._ready(*JOINING)
        self._begin("join", f"{' and '.join(JOINING)} join")
        self._fleet.join(*JOINING)
        self._settle()

    def leave(self) -> None:
        """One leaves in order."""
        leaver = self._chance.choice(sorted(self._fleet.members()))
        self._begin("leave", f"{leaver} leaves cleanly")
        self._fleet.leave(leaver)
        self._settle()

    def kill_client(self) -> None:
        """One is killed with a message in hand."""
        with self._fleet.condition:
            floor = self._fleet.floor
            owning = [
                client_id
                for client_id in sorted(self._fleet.members())
                if len(floor.queues_of(client_id)) >= _VICTIM_QUEUES_MIN
            ]
        victim = self._chance.choice(owning)
        self._fleet.hold(victim)
        self.await_floor(
            lambda floor: floor.seats[victim].held is not None, f"a message for {victim}"
        )
        self._begin("kill", f"{victim} is killed (-9) with a message in hand")
        killing = self._fleet.kill(victim)
        self.steps.append(ClientKilled(victim, killing.sent_ns, killing.dead_ns))
        self._settle()

    def grow(self) -> None:
        """Partitions are added."""
        self._begin("grow", f"{QUEUES} partitions become {QUEUES_GROWN}")
        self._queues = QUEUES_GROWN
        self._system.grow(QUEUES_GROWN)
        self._settle()

    def kill_engine(self) -> None:
        """The engine is killed while a consumer has yet to let go of a queue, and restarted."""
        self._ready(NEWCOMER)
        slow, queue = self._hold_what_goes_to(NEWCOMER)
        self._begin("engine_kill", f"{NEWCOMER} joins, {slow} is slow, the engine is killed (-9)")
        ownership = self._follower.ownership
        self._join_and_await_drop(NEWCOMER, slow, queue)
        newest = ownership.newest
        assert newest is not None
        killing = self._system.kill_engine()
        killed = EngineKilled(newest.generation, killing.sent_ns, killing.dead_ns)
        self.steps.append(killed)
        self._fleet.resume(slow)
        self._system.start_engine()
        self._settle()

    def close(self) -> None:
        """Everything produced is processed, then all consumers leave."""
        self.steps.append(Closing(time.monotonic_ns()))
        members = sorted(self._fleet.members())
        self._fleet.leave(*members)
        self.await_floor(
            lambda floor: all(floor.seats[client_id].state == "left" for client_id in members),
            "all consumers to leave",
        )

    def drain(self, ends: dict[MessageQueue, int]) -> None:
        """Return when everything before these offsets is processed."""
        self.await_floor(lambda floor: floor.has_reached(ends), "the last messages")

    def pause(self, until: float) -> None:
        """Let the load run until this moment of the monotonic clock, in seconds.

        Raises:
            StepError: something died meanwhile.
        """
        while (left := until - time.monotonic()) > 0:
            self._fleet.wait_until(lambda _: False, min(left, _LOOK_SECONDS))
            self._look_after_all()

    def _ready(self, *client_ids: str) -> None:
        """Start processes, so that the time of a join is not that of an interpreter's start."""
        for client_id in client_ids:
            if client_id not in self._fleet.floor.seats:
                self._fleet.start(client_id)
        self.await_floor(
            lambda floor: all(floor.seats[client_id].state == "ready" for client_id in client_ids),
            f"{', '.join(client_ids)} to be ready",
        )

    def _hold_what_goes_to(
        self, client_id: str, may_hold: Callable[[str], bool] = lambda _: True
    ) -> tuple[str, MessageQueue]:
        """Let the owner of a queue that will go to a newcomer hold a message of it; return both.

        Args:
            client_id: the newcomer.
            may_hold: tells which owners may be chosen.
        """
        with self._fleet.condition:
            granted = self._follower.ownership.granted
            queue = next(
                queue
                for queue in going_to(self._follower.ownership, client_id)
                if may_hold(granted[queue][0])
            )
            slow = granted[queue][0]
        self._fleet.hold(slow, queue.queue_id)
        self.await_floor(lambda floor: floor.seats[slow].held is not None, f"a message of {queue}")
        return slow, queue

    def _join_and_await_drop(self, newcomer: str, slow: str, queue: MessageQueue) -> None:
        """Let a client join, and return when a queue is dropped that its owner holds on to."""
        ownership = self._follower.ownership
        held = ownership.granted[queue]
        self._fleet.join(newcomer)
        # One decision may drop it and grant it to the newcomer, behind the release.
        self.await_floor(
            lambda _: ownership.granted[queue] != held or (queue, held[1]) in ownership.dropped,
            f"the drop of {queue} that {slow} works on",
        )

    def _begin(self, name: str, event: str) -> None:
        now_ns = time.monotonic_ns()
        with self._fleet.condition:
            self._moves_before = self._follower.ownership.moves
            self.steps.append(StepBegun(name, now_ns))
            self.notes.append(StepNote(name, event, now_ns))
            self._fleet.condition.notify_all()

    def _settle(self) -> None:
        """Return when the engine and the consumers agree that the step is over."""
        members = self._fleet.members()
        ownership = self._follower.ownership

        def settled(floor: Floor) -> bool:
            return ownership.is_settled_among(members, self._queues) and floor.agrees_with(
                ownership.granted
            )

        self.await_floor(settled, f"{len(members)} members to own {self._queues} queues")
        with self._fleet.condition:
            newest = max(working.since_ns for working in self._fleet.floor.working.values())
            note = self.notes[-1]
            moves = ownership.moves - self._moves_before
            self.notes[-1] = replace(note, settled_ns=max(newest, note.begun_ns), moves=moves)
            self._fleet.condition.notify_all()

    def await_floor(self, holds: Callable[[Floor], bool], what: str) -> None:
        """Wait for a fact.

        Raises:
            StepError: it did not come true in time, or something died meanwhile.
        """
        deadline = time.monotonic() + self._patience_s
        while not self._fleet.wait_until(holds, _LOOK_SECONDS):
            self._look_after_all()
            if time.monotonic() > deadline:
                raise StepError(f"waited {self._patience_s:.0f} s in vain for {what}.")

    def _look_after_all(self) -> None:
        """Raise if anything died that was not meant to."""
        self._follower.raise_failure()
        self._system.check()
        failed = self._fleet.failed()
        if failed:
            raise StepError(f"consumer {failed[0]} died:\n{self._fleet.log_tail(failed[0])}")
