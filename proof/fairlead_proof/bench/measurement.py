"""The measured part: joins, leaves, crashes one after another, each until all is adopted."""

import random
import time
from collections.abc import Callable
from typing import Final

from fairlead.wire.decision_records import DecisionRecord
from fairlead_proof.bench.changes import Change, Kind
from fairlead_proof.bench.crashes import Crash
from fairlead_proof.bench.crew import Crew
from fairlead_proof.bench.waiting import await_fact
from fairlead_proof.local.follower import DecisionFollower
from fairlead_proof.local.system import LocalSystem

GROUP: Final = "bench"
_DEADLINE_SECONDS: Final = 120.0
_PAUSE_SECONDS: Final = (0.2, 0.8)
"""Between two events, by chance: so that events fall at any moment of a batch."""
_KINDS: Final[tuple[Kind, Kind]] = ("leave", "join")


class Measurement:
    """Lets clients join and leave.

    Attributes:
        decisions: those of the group so far, in order; filled by the follower.
    """

    def __init__(
        self, crew: Crew, follower: DecisionFollower, system: LocalSystem, queues: int
    ) -> None:
        """Describe the measurement.

        Args:
            crew: the processes; its condition guards the follower's ownership too.
            follower: the engine's decisions.
            system: engine, bridge and broker.
            queues: how many queues the group has.
        """
        self.decisions: list[DecisionRecord] = []
        self._crew = crew
        self._follower = follower
        self._system = system
        self._queues = queues
        self._members: set[str] = set()

    def gather(self, client_ids: list[str]) -> None:
        """Start all processes and let them join; return when every queue is adopted."""
        for client_id in client_ids:
            self._crew.start(client_id)
        states = self._crew.states
        self._await(lambda: all(state == "ready" for state in states.values()), "processes")
        for client_id in client_ids:
            self._crew.send(client_id, "join")
            # One after another: so many connections at once are no part of what is measured.
            self._await_state(client_id, "joined")
        self._members = set(client_ids)
        self._await(self._adopted, "every queue to be adopted")

    def rule(self, strategy: str) -> None:
        """Rule the group by a strategy; return when it is in force and every queue is adopted."""
        self._system.set_rule(GROUP, "strategy", {"name": strategy, "options": {}})
        ownership = self._follower.ownership

        def in_force() -> bool:
            newest = ownership.newest
            return newest is not None and newest.strategy == strategy and self._adopted()

        self._await(in_force, f"the strategy {strategy}")

    def rounds(self, count: int, chance: random.Random) -> list[Change]:
        """Let a client leave and join again, so many times; return all changes."""
        changes: list[Change] = []
        for _ in range(count):
            client_id = chance.choice(sorted(self._members))
            for kind in _KINDS:
                time.sleep(chance.uniform(*_PAUSE_SECONDS))
                changes.append(self._change(kind, client_id))
        return changes

    def crashes(self, count: int, chance: random.Random) -> list[Crash]:
        """Kill a client and let it join again, so many times; return all crashes.

        Who is killed has nothing in hand and nothing to do: what is measured is how long it is
        missed.
        """
        crashed: list[Crash] = []
        for _ in range(count):
            client_id = chance.choice(sorted(self._members))
            time.sleep(chance.uniform(*_PAUSE_SECONDS))
            crashed.append(self._crash(client_id))
            self._crew.start(client_id)
            self._await_state(client_id, "ready")
            self._change("join", client_id)
        return crashed

    def _crash(self, client_id: str) -> Crash:
        self._members.remove(client_id)
        begun_ns = time.monotonic_ns()
        wall_ahead_ns = time.time_ns() - time.monotonic_ns()
        self._crew.kill(client_id)
        self._await(self._adopted, f"the queues of {client_id}, which was killed")
        with self._crew.condition:
            adopted = [since_ns for _, _, since_ns in self._crew.reading.values()]
        return Crash(client_id, max(t for t in adopted if t > begun_ns), wall_ahead_ns)

    def _change(self, kind: Kind, client_id: str) -> Change:
        with self._crew.condition:
            known = len(self.decisions)
            self._members ^= {client_id}
        begun_ns = time.monotonic_ns()
        wall_ahead_ns = time.time_ns() - time.monotonic_ns()
        self._crew.send(client_id, kind)
        self._await(self._adopted, f"the {kind} of {client_id}")
        with self._crew.condition:
            adopted = [
                (since_ns, queue, epoch)
                for queue, (_, epoch, since_ns) in self._crew.reading.items()
                if since_ns > begun_ns
            ]
            decisions = tuple(self.decisions[known:])
        if kind == "leave":
            self._await_state(client_id, "left")
        adopted_ns, queue, epoch = max(adopted)
        return Change(
            kind=kind,
            client_id=client_id,
            begun_ns=begun_ns,
            adopted_ns=adopted_ns,
            wall_ahead_ns=wall_ahead_ns,
            queues=len(adopted),
            last_queue=queue,
            last_epoch=epoch,
            decisions=decisions,
        )

    def _await_state(self, client_id: str, state: str) -> None:
        self._await(lambda: self._crew.states[client_id] == state, f"{client_id} to be {state}")

    def _adopted(self) -> bool:
        ownership = self._follower.ownership
        settled = ownership.is_settled_among(frozenset(self._members), self._queues)
        return settled and self._crew.agrees_with(ownership.granted)

    def _await(self, holds: Callable[[], bool], what: str) -> None:
        """Wait for a fact.

        Raises:
            VerdictError: it did not come true in time.
            QueryDiedError: a client died meanwhile.
        """
        await_fact(
            self._crew, holds, self._check, _DEADLINE_SECONDS, lambda: f"{what}; {self._state()}"
        )

    def _check(self) -> None:
        self._follower.raise_failure()
        self._system.check()

    def _state(self) -> str:
        """Where the group stands, for a message about a wait in vain."""
        with self._crew.condition:
            newest, states = self._follower.ownership.newest, list(self._crew.states.values())
            reading = len(self._crew.reading)
        counts = ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
        group = (
            "no decision"
            if newest is None
            else (f"{len(newest.members)} members at {newest.epoch} {newest.phase}")
        )
        return f"clients: {counts}; {group}; {reading} of {self._queues} queues are read"
