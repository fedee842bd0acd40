"""The script of the demo on RocketMQ: the same steps, whoever shares the queues.

A step begins with an event. It is over when a look at the brokers and consumers shows that the
members share all queues, each with one owner. Nothing waits for time to pass, except the freeze:
whoever cannot take over a frozen consumer's queues gets the time that it was given.
"""

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from fairlead.embedded_rocketmq import EmbeddedRocketMQ
from fairlead.verify.history import (
    ClientFrozen,
    ClientKilled,
    Closing,
    Fault,
    StepBegun,
    StepRecord,
)
from fairlead_proof.demo.fleet import Fleet
from fairlead_proof.demo.floor import Floor
from fairlead_proof.demo.script import StepError
from fairlead_proof.demo_rocketmq.handler_calls import Standstill
from fairlead_proof.demo_rocketmq.holders import Holders
from fairlead_proof.demo_rocketmq.topic import DemoTopic
from fairlead_proof.local.processes import PROC

__all__ = ["QUEUES", "STEPS", "RocketMQScript"]

STEPS: Final = (*("start", "join", "leave", "kill", "freeze", "grow", "broker", "name_server"),)
"""The steps of the script."""

QUEUES: Final = 8
"""On each broker."""
QUEUES_GROWN: Final = 12
_JOINING: Final = 2
PATIENCE_SECONDS: Final = 120.0
_LOOK_SECONDS: Final = 0.5
_STOPPED_SECONDS: Final = 10.0
_LOOKS_TAKEN_OVER: Final = 2
"""By the second look the new owners work on what the first one has shown."""


class RocketMQScript:
    """Plays the script once, with one group.

    Attributes:
        steps: the log of what was done when, for the judge.
        standstills: who was killed or frozen, and when.

    Args:
        fleet: the consumers.
        cluster: the servers, to break them.
        topic: what the group reads.
        look: returns who works on what; None: it cannot be seen at the moment.
        check: raises if a part of the system died by itself.
        say: told in one line what happens.
        chance: chooses who leaves and who dies.
        consumers: how many are there at first; two more join.
        freeze_s: for how long a consumer stands still at most.
        must_settle: whether a step fails that does not end with all queues shared; else that is
            said, and the script goes on.
    """

    def __init__(
        self,
        fleet: Fleet,
        cluster: EmbeddedRocketMQ,
        topic: DemoTopic,
        *,
        look: Callable[[], Holders | None],
        check: Callable[[], None],
        say: Callable[[str], None],
        chance: random.Random,
        consumers: int,
        freeze_s: float,
        must_settle: bool = True,
    ) -> None:
        self.steps: list[StepRecord] = []
        self.standstills: dict[str, list[Standstill]] = {}
        self._fleet, self._cluster, self._topic = fleet, cluster, topic
        self._look, self._check, self._say = look, check, say
        self._chance, self._freeze_s, self._must_settle = chance, freeze_s, must_settle
        names = [f"c{number}" for number in range(1, consumers + _JOINING + 1)]
        self._first, self._joining = names[:consumers], names[consumers:]

    def acts(self) -> dict[str, Callable[[], None]]:
        """The steps in their order; each returns when it is over."""
        acts = (
            *(self.start, self.join, self.leave, self.kill, self.freeze, self.grow),
            *(self.restart_broker, self.lose_name_server),
        )
        return dict(zip(STEPS, acts, strict=True))

    def prepare(self) -> None:
        """Start the first processes: a JVM takes its time."""
        for client_id in self._first:
            self._fleet.start(client_id)

    def start(self) -> None:
        """The first consumers join."""
        self._ready(*self._first)
        self._begin("start", f"{len(self._first)} consumers join")
        self._fleet.join(*self._first)
        self._settle()

    def join(self) -> None:
        """Two more join."""
        self._ready(*self._joining)
        self._begin("join", f"{' and '.join(self._joining)} join")
        self._fleet.join(*self._joining)
        self._settle()

    def leave(self) -> None:
        """One leaves in order."""
        leaver = self._chosen()
        self._begin("leave", f"{leaver} leaves in order")
        self._leave(leaver)

    def kill(self) -> None:
        """One is killed with messages in hand."""
        victim = self._chosen()
        self._begin("kill", f"{victim} is killed (-9)")
        killing = self._fleet.kill(victim)
        pid = self._fleet.process(victim).pid
        self.steps.append(ClientKilled(victim, killing.sent_ns, killing.dead_ns, pid))
        self.standstills[victim] = [Standstill(killing.dead_ns)]
        self._settle()

    def freeze(self) -> None:
        """One stands still until others have its queues, or its time is over; then it goes on."""
        victim = self._chosen()
        others = self._fleet.members() - {victim}
        queues = frozenset(self._topic.queues())
        pid = self._fleet.process(victim).pid
        self._begin(
            "freeze", f"{victim} stands still (SIGSTOP), for {self._freeze_s:.0f} s at most"
        )
        os.kill(pid, signal.SIGSTOP)
        self._await_stopped(pid)
        begin_ns = time.monotonic_ns()
        deadline = time.monotonic() + self._freeze_s
        looks = _LOOKS_TAKEN_OVER
        while looks and time.monotonic() < deadline:
            seen = self._seen()
            looks -= seen is not None and seen.is_shared_among(others, queues)
        end_ns = time.monotonic_ns()
        os.kill(pid, signal.SIGCONT)
        self.steps.append(ClientFrozen(victim, begin_ns, end_ns, pid))
        self.standstills[victim] = [Standstill(begin_ns, end_ns)]
        took = f"others had its queues, seen within {(end_ns - begin_ns) / 1e9:.1f} s"
        self._say(f"freeze: {took if not looks else 'nobody took its queues meanwhile'}")
        self._settle()

    def grow(self) -> None:
        """Each broker gets more queues."""
        self._begin("grow", f"{QUEUES} queues of each broker become {QUEUES_GROWN}")
        self._topic.resize(QUEUES_GROWN)
        self._settle()

    def restart_broker(self) -> None:
        """A broker is stopped in order and started again."""
        broker = self._cluster.servers[-1]
        self._begin("broker", f"{broker} restarts")
        begin_ns = time.monotonic_ns()
        self._cluster.restart(broker)
        self.steps.append(Fault("broker restarted", begin_ns, time.monotonic_ns()))
        self._settle()

    def lose_name_server(self) -> None:
        """A name server is killed, and one leaves while it is away."""
        server, leaver = self._cluster.servers[0], self._chosen()
        self._begin("name_server", f"{server} is killed (-9), {leaver} leaves while it is away")
        begin_ns = time.monotonic_ns()
        self._cluster.kill(server)
        self._leave(leaver)
        self._cluster.restart(server)
        self.steps.append(Fault("name server away", begin_ns, time.monotonic_ns()))

    def drain(self) -> None:
        """Return when everything that was written is processed."""
        ends = self._topic.ends()
        self._await_floor(lambda floor: floor.has_reached(ends), "the last messages")

    def close(self) -> None:
        """All consumers leave."""
        self.steps.append(Closing(time.monotonic_ns()))
        self._leave(*sorted(self._fleet.members()), settle=False)

    def _chosen(self) -> str:
        return self._chance.choice(sorted(self._fleet.members()))

    def _leave(self, *leavers: str, settle: bool = True) -> None:
        self._fleet.leave(*leavers)
        self._await_floor(
            lambda floor: all(floor.seats[each].state == "left" for each in leavers),
            f"{', '.join(leavers)} to leave",
        )
        if settle:
            self._settle()

    def _ready(self, *client_ids: str) -> None:
        """Start processes, so that the time of a join is not that of a JVM's start."""
        for client_id in client_ids:
            if client_id not in self._fleet.floor.seats:
                self._fleet.start(client_id)
        self._await_floor(
            lambda floor: all(floor.seats[each].state == "ready" for each in client_ids),
            f"{', '.join(client_ids)} to be ready",
        )

    def _begin(self, name: str, event: str) -> None:
        self.steps.append(StepBegun(name, time.monotonic_ns()))
        self._say(f"{name}: {event}")

    def _settle(self) -> None:
        """Return when the members share all queues."""
        members, queues = self._fleet.members(), frozenset(self._topic.queues())
        deadline = time.monotonic() + PATIENCE_SECONDS
        begun = time.monotonic()
        while (seen := self._seen()) is None or not seen.is_shared_among(members, queues):
            if time.monotonic() > deadline:
                held = {} if seen is None else {who: len(of) for who, of in seen.held.items()}
                words = (
                    f"waited {PATIENCE_SECONDS:.0f} s in vain for {len(members)} members to share"
                    f" {len(queues)} queues; seen at last: {held or 'nothing'}."
                )
                if self._must_settle:
                    raise StepError(words)
                self._say(words)
                return
        step = next(each.name for each in reversed(self.steps) if isinstance(each, StepBegun))
        self._say(f"{step}: shared again, seen after {time.monotonic() - begun:.1f} s")

    def _seen(self) -> Holders | None:
        """Look again, a moment after the look before."""
        self._fleet.wait_until(lambda _: False, _LOOK_SECONDS)
        self._look_after_all()
        return self._look()

    def _await_floor(self, holds: Callable[[Floor], bool], what: str) -> None:
        """Wait for a fact that the consumers tell.

        Raises:
            StepError: it did not come true in time, or something died meanwhile.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._fleet.wait_until(holds, _LOOK_SECONDS):
            self._look_after_all()
            if time.monotonic() > deadline:
                raise StepError(f"waited {PATIENCE_SECONDS:.0f} s in vain for {what}.")

    def _look_after_all(self) -> None:
        self._check()
        failed = self._fleet.failed()
        if failed:
            raise StepError(f"consumer {failed[0]} died:\n{self._fleet.log_tail(failed[0])}")

    def _await_stopped(self, pid: int) -> None:
        """Return when every thread of a process stands still.

        Raises:
            StepError: the kernel did not stop it in time.
        """
        deadline = time.monotonic() + _STOPPED_SECONDS
        while not all(_is_stopped(task) for task in (PROC / str(pid) / "task").iterdir()):
            if time.monotonic() > deadline:
                raise StepError(f"process {pid} did not stand still.")
            self._fleet.wait_until(lambda _: False, 0.01)


def _is_stopped(task: Path) -> bool:
    try:
        text = (task / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        # A thread that has ended stands still as well.
        return True
    return text.rpartition(")")[2].split()[0] in "TtZX"
