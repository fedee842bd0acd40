"""Judges the engine's grants: each once, to a member that may have it, and with every gate.

It judges each record as it is appended, and knows what every client does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from fairlead_client.model import Queue

from fairlead_proof.sim.reports import Pair, Reports
from fairlead_proof.sim.tenures import Tenures
from fairlead_proof.sim.violation import BreachError

__all__ = ["Grant", "Grants", "Routes"]

Holder = tuple[str, Pair]
"""(incarnation, epoch)."""


@dataclass(slots=True)
class Routes:
    """The written routes: topic -> (offset, identity, readable queues), oldest first."""

    written: dict[str, list[tuple[int, str, int]]] = field(default_factory=dict)

    def at(self, topic: str, end: int) -> tuple[str, int]:
        """Return (identity, readable queues) as of an offset of the routes topic."""
        for offset, identity, readable in reversed(self.written.get(topic, ())):
            if offset < end:
                return identity, readable
        return "", 0


@dataclass(slots=True)
class Grant:
    """One epoch of one queue.

    ``routes_end``: how far its engine had read the routes. ``lost``: no state in force knows it, so
    the engine may ignore reports under it. ``floor`` is set once an add of it had no gates.
    """

    incarnation: str
    identity: str
    routes_end: int
    lost: bool
    after: list[Holder] = field(default_factory=list)
    floor: Pair | None = None


@dataclass(slots=True)
class Grants:
    """Every written grant.

    ``subscribed``: incarnation -> (offset of its heartbeat, topics), oldest first.
    """

    reports: Reports
    tenures: Tenures
    routes: Routes = field(default_factory=Routes)
    subscribed: dict[str, list[tuple[int, tuple[str, ...]]]] = field(default_factory=dict)
    known: dict[tuple[Queue, Pair], Grant] = field(default_factory=dict)
    written: int = 0
    adds: int = 0
    _newest: dict[Queue, Pair] = field(default_factory=dict)
    _seen: set[bytes] = field(default_factory=set)

    def assignment(self, value: bytes, ends: Mapping[str, int], *, newest: bool) -> None:
        """Judge an assignment record; ``newest``: no driver of a higher generation has started."""
        if value in self._seen:
            return
        self._seen.add(value)
        self.written += 1
        read = orjson.loads(value)
        for add in read["add"]:
            self._add(read, add, ends, newest=newest)
        for entry in read["assigned"]:
            if entry["state"] == "gated":
                self._add(read, entry, ends, newest=newest)

    def _add(
        self,
        read: Mapping[str, Any],
        add: Mapping[str, Any],
        ends: Mapping[str, int],
        *,
        newest: bool,
    ) -> None:
        queue, epoch = Queue(*add["queue"]), (add["epoch"][0], add["epoch"][1])
        incarnation = read["incarnation"]
        after = [
            (holder["incarnation"], (holder["epoch"][0], holder["epoch"][1]))
            for holder in add["after"]
        ]
        grant = self.known.get((queue, epoch))
        if grant is None:
            self.adds += 1
            grant = self._grant(queue, epoch, incarnation, ends, newest=newest)
            grant.after = after
        elif grant.incarnation != incarnation:
            raise BreachError(
                "EPOCH", f"{queue} under {epoch} went to {grant.incarnation} and {incarnation}"
            )
        if not after and grant.floor is None:
            grant.floor = self.reports.known(queue, ends)
        if newest:
            self._past_nobody(queue, epoch, incarnation, after)

    def _grant(
        self, queue: Queue, epoch: Pair, incarnation: str, ends: Mapping[str, int], *, newest: bool
    ) -> Grant:
        before = self._newest.get(queue, (0, 0))
        if newest and epoch <= before:
            raise BreachError("EPOCH", f"{queue} is granted under {epoch} after {before}")
        self._newest[queue] = max(before, epoch)
        identity, readable = self.routes.at(queue.topic, ends["routes"])
        if queue.queue_id >= readable:
            raise BreachError("PHANTOM", f"{queue} is granted, but {readable} queues may be read")
        subscribed: tuple[str, ...] = ()
        for offset, topics in self.subscribed.get(incarnation, ()):
            if offset < ends["heartbeats"]:
                subscribed = topics
        if queue.topic not in subscribed:
            raise BreachError("PHANTOM", f"{incarnation} is granted {queue}, not subscribed")
        grant = Grant(incarnation, identity, ends["routes"], lost=not newest)
        self.known[queue, epoch] = grant
        return grant

    def restarted(self, newest: Pair) -> None:
        """Mark the grants that a restarted engine does not know: those above its newest epoch."""
        for (_, epoch), grant in self.known.items():
            if epoch > newest:
                grant.lost = True

    def _past_nobody(
        self, queue: Queue, epoch: Pair, incarnation: str, after: list[Holder]
    ) -> None:
        for client, work in self.tenures.must_wait(queue):
            holder = (work.incarnation, work.epoch)
            if work.epoch < epoch and holder not in after:
                raise BreachError(
                    "GRANT",
                    f"{queue} is granted to {incarnation} under {epoch} past {client.name},"
                    f" who works on it under {work.epoch}",
                )
