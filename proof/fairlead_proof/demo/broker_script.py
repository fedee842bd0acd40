"""The script that breaks brokers, one after another, on a running system under load."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from fairlead.verify.history import Fault
from fairlead.wire.decision_records import DecisionRecord
from fairlead_proof.demo.broker_faults import BROKERS, BrokerFault, Outage
from fairlead_proof.demo.fleet import Fleet
from fairlead_proof.demo.leader_watch import LeaderWatch
from fairlead_proof.demo.script import FIRST, Follower, Script, System

__all__ = ["BrokerScript", "FaultPlan"]


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """What is broken.

    Attributes:
        faults: in this order.
        freeze_s: for how long a broker is frozen.
        heartbeats: topic and partition of the group's heartbeats.
        spares_controller: a leader that is the controller too is restarted first, in order, until
            it is not: its loss costs the brokers seconds of their own.
    """

    faults: Sequence[BrokerFault]
    freeze_s: float
    heartbeats: tuple[str, int]
    spares_controller: bool = False


class Cluster(Protocol):
    """What can be done to brokers."""

    def kill(self, node: int = 1) -> None:
        """SIGKILL."""

    def pause(self, node: int = 1) -> None:
        """SIGSTOP."""

    def resume(self, node: int = 1) -> None:
        """SIGCONT."""

    def restart(self, node: int = 1) -> None:
        """Stop it in order if it runs, start it again, and return when it is in service."""

    def halt(self, node: int = 1) -> None:
        """Stop it in order."""


class BrokerScript(Script):
    """Breaks brokers one after another under load; with each fault a client joins or leaves.

    Attributes:
        outages: what each fault came to.
    """

    def __init__(
        self,
        fleet: Fleet,
        follower: Follower,
        system: System,
        *,
        plan: FaultPlan,
        cluster: Cluster,
        watch: LeaderWatch,
        heard: Sequence[DecisionRecord],
        say: Callable[[str], None],
    ) -> None:
        """Describe the script.

        Args:
            fleet: the consumers; its condition guards ``heard`` too.
            follower: the engine's decisions.
            system: everything else.
            plan: what is broken.
            cluster: the three brokers.
            watch: tells who leads.
            heard: every decision about the group so far, in order; it grows.
            say: told in a line what each fault came to.
        """
        # What is done stands in the plan; nothing is left to chance.
        super().__init__(fleet, follower, system, random.Random(0))  # noqa: S311
        self.outages: list[Outage] = []
        self._plan = plan
        self._cluster = cluster
        self._watch = watch
        self._heard = heard
        self._say = say
        self._guest: str | None = None
        self._guests = len(FIRST)

    def acts(self) -> tuple[Callable[[], None], ...]:
        """The start, then the faults."""
        return (self.start, *(partial(self._play, fault) for fault in self._plan.faults))

    def _play(self, fault: BrokerFault) -> None:
        if fault is BrokerFault.ROLLING:
            for node in range(1, BROKERS + 1):
                self._break(fault, node, f"{fault}-{node}")
        else:
            self._break(fault, self._victim(fault), fault.value)

    def _victim(self, fault: BrokerFault) -> int:
        whom = fault.value.partition("-")[0]
        if whom == "controller":
            return self._watch.controller()
        leader = self._leader()
        if whom == "leader":
            return leader
        others = [node for node in range(1, BROKERS + 1) if node != leader]
        controller = self._watch.controller()
        return next(node for node in others if node != controller)

    def _leader(self) -> int:
        """Return who leads the heartbeats; a broker that may be broken, if the plan spares any."""
        while True:
            self._watch.await_whole()
            leader = self._watch.leader(*self._plan.heartbeats)
            if not self._plan.spares_controller or leader != self._watch.controller():
                return leader
            self._say(f"broker {leader} leads the heartbeats and is the controller: restarted")
            self._cluster.restart(leader)

    def _break(self, fault: BrokerFault, node: int, name: str) -> None:
        if self._guest is None:
            self._guests += 1
            self._ready(f"c{self._guests}")
        self._watch.await_whole()
        verbs = {"kill": "is killed (-9)", "freeze": f"is frozen for {self._plan.freeze_s:.0f} s"}
        done = verbs.get(fault.value.rpartition("-")[2], "is restarted in order")
        change = f"c{self._guests} {'leaves' if self._guest else 'joins'}"
        begun = time.monotonic()
        begun_ms, begun_ns = _now_ms(), time.monotonic_ns()
        self._begin(name, f"broker {node} {done}, {change}")
        heard = len(self._heard)
        with self._watch.replacing(node) as leaders_ms:
            stopping = self._stop(fault, node)
            joined = self._change_members()
            leaders = leaders_ms()
        decided = self._await_decision(heard, joined)
        outage = Outage(fault, node, begun_ms, leaders, decided)
        self.outages.append(outage)
        self._say(
            f"{name}: others lead after {outage.seconds_to_leaders:.1f} s, decided"
            f" {outage.seconds_to_decision:.1f} s later"
        )
        self._settle()
        stopping.join()
        if fault.freezes:
            self.pause(begun + self._plan.freeze_s)
            self._cluster.resume(node)
        else:
            self._cluster.restart(node)
        self._watch.await_whole()
        self.outages[-1] = replace(outage, expired=self._expired(heard))
        self.steps.append(Fault(f"broker {node} {fault}", begun_ns, time.monotonic_ns()))

    def _expired(self, heard: int) -> tuple[str, ...]:
        """Return whom the engine has taken for dead since so many decisions were heard."""
        with self._fleet.condition:
            new = self._heard[heard:]
        return tuple(
            cause["client_id"]
            for decision in new
            for cause in decision.causes
            if cause["kind"] == "client_expired"
        )

    def _stop(self, fault: BrokerFault, node: int) -> threading.Thread:
        """Take a broker out of service; the thread ends when it is out."""
        if fault.freezes:
            stop = self._cluster.pause
        elif fault is BrokerFault.ROLLING:
            stop = self._cluster.halt
        else:
            stop = self._cluster.kill
        thread = threading.Thread(target=stop, args=(node,), name=f"stop-{node}")
        thread.start()
        if fault is not BrokerFault.ROLLING:
            thread.join()
        return thread

    def _change_members(self) -> bool:
        """Let a client join or, if one has joined before, leave; return whether it joins."""
        if self._guest is None:
            self._guest = f"c{self._guests}"
            self._fleet.join(self._guest)
            return True
        leaver, self._guest = self._guest, None
        self._fleet.leave(leaver)
        return False

    def _await_decision(self, heard: int, joined: bool) -> int:  # noqa: FBT001 - private
        """Return when the decision about the client that joined or left was appended."""
        guest = f"c{self._guests}"

        def found() -> DecisionRecord | None:
            new = self._heard[heard:]
            return next((one for one in new if (guest in one.members) == joined), None)

        self.await_floor(lambda _: found() is not None, f"a decision about {guest}")
        with self._fleet.condition:
            decision = found()
        assert decision is not None
        return decision.written_ms


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
