"""One group of real consumer processes: who is in it, what it holds, and when it is settled."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
from fairlead_proof.demo.fleet import Fleet
from fairlead_proof.demo.floor import Floor
from fairlead_proof.local.child import Killing
from fairlead_proof.local.follower import DecisionFollower

from fairlead.core.model import MessageQueue
from fairlead.errors import ExitCode
from fairlead.verify.history import Held
from fairlead.wire.decision_records import DecisionRecord
from tests.faults.standstill import Standstill
from tests.faults.trial import FaultLog, Freeze, Lapse, Life
from tests.kit.awaiting import LONGEST_SECONDS

PATIENCE_SECONDS: Final = LONGEST_SECONDS
_LOOK_SECONDS: Final = 1.0
_END_SECONDS_MAX: Final = 30.0


@dataclass(frozen=True, slots=True)
class TroopPlan:
    """What a group is like.

    Attributes:
        group: its name.
        letter: begins the names of its clients.
        size: how many there are at first.
        settings: of every client.
    """

    group: str
    letter: str
    size: int
    settings: Mapping[str, Any]

    @property
    def lease_s(self) -> float:
        """The lease of its clients, in seconds."""
        return float(self.settings["lease_ms"]) / 1_000


class Troop:
    """The processes of one group; a spare one is always on its way, so that joins are quick."""

    def __init__(
        self,
        plan: TroopPlan,
        folder: Path,
        arguments: Mapping[str, str],
        queues: int,
        check: Callable[[], None],
    ) -> None:
        """Describe the group.

        Args:
            plan: what it is like.
            folder: for journals and logs.
            arguments: what every process is given: bootstrap, prefix, topic.
            queues: how many queues the topic has.
            check: raises if another part of the system has died.
        """
        self.plan = plan
        self.condition = threading.Condition()
        self._arguments = {
            **arguments,
            "group": plan.group,
            "settings": orjson.dumps(plan.settings).decode(),
        }
        self.fleet = Fleet(folder, self._arguments, self.condition)
        self.follower = DecisionFollower(
            arguments["bootstrap"],
            f"{arguments['prefix']}decisions",
            plan.group,
            condition=self.condition,
        )
        self.queues = queues
        self._check = check
        self._client_ids: dict[str, str] = {}
        self._killed: dict[str, Killing] = {}
        self._away: set[str] = set()
        self._spare = ""

    def start(self) -> None:
        """Start the first processes and a spare one; they import while the engine starts."""
        for _ in range(self.plan.size):
            self.launch()
        self._spare = self.launch()

    def launch(
        self, client_id: str | None = None, program: str | None = None, **settings: Any
    ) -> str:
        """Start a process and return its name; it joins when told to.

        Args:
            client_id: whose client id it takes; None for one of its own.
            program: the module that it runs; None: the consumer of the demo.
            settings: of its client, over those of the group.
        """
        name = f"{self.plan.letter}{len(self._client_ids) + 1}"
        self._client_ids[name] = client_id or name
        given = orjson.dumps({**self.plan.settings, **settings}).decode()
        arguments = {"client-id": self._client_ids[name], "settings": given}
        self.fleet.start(name, program, **arguments)
        return name

    def join(self, *names: str) -> None:
        """Let processes join as soon as they are ready."""
        seats = self.fleet.floor.seats
        self.await_floor(
            lambda _: all(seats[name].state == "ready" for name in names), "ready processes"
        )
        self.fleet.join(*names)

    def reinforce(self) -> str:
        """Let the spare process join, and start another spare one; return who joined."""
        joining, self._spare = self._spare, self.launch()
        self.join(joining)
        return joining

    # What is done to them.
    def take_in_hand(self, name: str, queue_id: int | None = None) -> Held:
        """Let a client keep its next message in hand, of this queue or of any; return which."""
        self.fleet.hold(name, queue_id)
        self.await_floor(lambda floor: floor.seats[name].held is not None, "message in hand")
        with self.condition:
            held = self.fleet.floor.seats[name].held
        assert held is not None
        return held

    def kill(self, name: str) -> None:
        """SIGKILL; returns when the kernel has reported the death."""
        self._killed[name] = self.fleet.kill(name)

    @contextmanager
    def frozen(self, name: str, log: FaultLog, *, lapses: bool) -> Iterator[Standstill]:
        """A process stands still while the context is open.

        Args:
            name: which.
            log: takes it in.
            lapses: it is for longer than its lease.
        """
        with Standstill(self.fleet.process(name).pid) as still:
            if lapses:
                self._away.add(name)
            try:
                yield still
            finally:
                still.go_on()
                self._away.discard(name)
                log.freezes.append(Freeze(name, still.since_ns, still.until_ns))
                if lapses:
                    until_ns = time.monotonic_ns() + round(self.plan.lease_s * 1e9)
                    client_id = self._client_ids[name]
                    log.lapses.append(Lapse(client_id, still.since_ns, until_ns))

    # What is known of them.
    def client_id(self, name: str) -> str:
        """The client id of a process."""
        return self._client_ids[name]

    def members(self) -> list[str]:
        """The names of the processes that are in the group, in order."""
        return sorted(self.fleet.members() - self._away)

    def newest(self) -> DecisionRecord:
        """The newest decision about the group."""
        with self.condition:
            newest = self.follower.ownership.newest
        assert newest is not None, "nothing was decided yet"
        return newest

    def queues_of(self, name: str) -> list[MessageQueue]:
        """What a process works on, by its own words."""
        with self.condition:
            return self.fleet.floor.queues_of(name)

    def owner(self, queue: MessageQueue) -> str | None:
        """The process that works on a queue, by its own words."""
        with self.condition:
            work = self.fleet.floor.working.get(queue)
        return None if work is None else work.client_id

    def lives(self) -> list[Life]:
        """All processes that ever joined."""
        with self.condition:
            states = {name: seat.state for name, seat in self.fleet.floor.seats.items()}
        return [
            Life(
                name=name,
                client_id=self._client_ids[name],
                journal=self.fleet.journals[name],
                killed=self._killed.get(name),
                running=states[name] in ("ready", "joining", "in", "leaving"),
            )
            for name in self._client_ids
            if self.fleet.journals[name].exists()
        ]

    def is_settled(self, floor: Floor) -> bool:
        """Tell whether engine and processes agree on who works on what; hold the condition."""
        states = {name: seat.state for name, seat in floor.seats.items()}
        names = {n for n, state in states.items() if state in ("joining", "in")} - self._away
        members = frozenset(self._client_ids[name] for name in names)
        ownership = self.follower.ownership
        working = {
            queue: (self._client_ids[work.client_id], work.epoch)
            for queue, work in floor.working.items()
        }
        return (
            ownership.is_settled_among(members, self.queues)
            and working == dict(ownership.granted)
            and not any(state in ("leaving", "joining") for state in states.values())
        )

    def await_settled(self) -> None:
        """Return when the group is in order."""
        self.await_floor(self.is_settled, "the group to be in order")

    def await_end(self, name: str) -> int:
        """Return the exit code of a process that ends."""
        code = self.fleet.process(name).wait(_END_SECONDS_MAX)
        assert code is not None, f"{name} did not end"
        return code

    def await_floor(self, holds: Callable[[Floor], bool], what: str) -> None:
        """Wait for a fact; the condition is held while it is looked at.

        Raises:
            TimeoutError: it did not come true in time.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self.fleet.wait_until(holds, _LOOK_SECONDS):
            self.follower.raise_failure()
            failed = self.fleet.failed()
            assert not failed, f"{failed[0]} died:\n{self.fleet.log_tail(failed[0])}"
            self._check()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.plan.group}: no {what}; {self._state()}")

    def await_successor(self, queue: MessageQueue, name: str) -> str:
        """Return who works on a queue as soon as it is somebody else than this process."""
        self.await_floor(lambda _: self.owner(queue) not in (name, None), "a successor")
        owner = self.owner(queue)
        assert owner is not None
        return owner

    def await_stopped(self, name: str, before_ns: int) -> None:
        """Return when a process works on nothing that it started before a moment."""

        def stopped(floor: Floor) -> bool:
            return all(
                work.since_ns > before_ns
                for work in floor.working.values()
                if work.client_id == name
            )

        self.await_floor(stopped, f"{name} to stop by itself")

    def await_processed(self, messages: int) -> None:
        """Return when the group has processed so many more messages: time by its own clock."""
        with self.condition:
            wanted = self.fleet.floor.processed + messages
        self.await_floor(lambda floor: floor.processed >= wanted, f"{messages} messages")

    def stop(self) -> None:
        """End every process."""
        self.fleet.stop()

    def _state(self) -> str:
        with self.condition:
            newest, floor = self.follower.ownership.newest, self.fleet.floor
            states = {name: seat.state for name, seat in floor.seats.items()}
            working = {str(q): (w.client_id, str(w.epoch)) for q, w in floor.working.items()}
            granted = {str(q): (c, str(e)) for q, (c, e) in self.follower.ownership.granted.items()}
        differing = {q: (working.get(q), granted.get(q)) for q in {*working, *granted}}
        differing = {q: pair for q, pair in differing.items() if pair[0] != pair[1]}
        members = None if newest is None else (newest.members, newest.phase, str(newest.epoch))
        return f"{states}; decided {members}; differing {differing}"


def ended_as_duplicate(code: int) -> bool:
    """Tell whether a process gave way to another one of its client id."""
    return code == ExitCode.DUPLICATE_CLIENT
