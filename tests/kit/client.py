"""A client as the protocol describes it, small: it obeys its assignment record and says so."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid5

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.publishing.digest import digest
from tests.kit.memory_topics import BOUNDS_END, START_MS, Topics

NAMESPACE = UUID("6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11")


def _uuid(name: str) -> str:
    return str(uuid5(NAMESPACE, name))


@dataclass(slots=True)
class Client:
    """One incarnation of one client of one group."""

    topics: Topics
    group: str
    client_id: str
    life: int = 1
    subscribed: tuple[str, ...] = ("orders",)
    lease_ms: int = 10_000
    consume_from: str = "first_offset"
    generation: int = 1
    sequence: int = 0
    held: dict[tuple[str, str, int], tuple[list[int], str]] = field(default_factory=dict)
    processed: dict[tuple[str, str, int], int] = field(default_factory=dict)
    resets: dict[tuple[str, str, int], int] = field(default_factory=dict)
    last_started: list[int] = field(default_factory=lambda: [0, 0])
    applied: list[int] | None = None
    gone: bool = False
    stubborn: bool = False
    """It reads what it is to do, and goes on with what it holds."""
    ordered: bool = False
    deaf: bool = False
    """It reads nothing."""

    @property
    def incarnation(self) -> str:
        """The UUID of this life."""
        return _uuid(f"{self.group}/{self.client_id}/{self.life}")

    def _from(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "client_id": self.client_id,
            "incarnation": self.incarnation,
        }

    def beat(self, **changes: Any) -> None:
        """Heartbeat, with the digest of what is held."""
        self.sequence += 1
        entries = [
            (MessageQueue(*queue), Epoch(*epoch), state)
            for queue, (epoch, state) in self.held.items()
        ]
        record = {
            "kind": "heartbeat",
            **self._from(),
            "process": {
                "start_ms": START_MS,
                "uuid": _uuid(self.client_id),
                "incarnations": self.life,
            },
            "sequence": self.sequence,
            "generation": self.generation,
            "lease_ms": self.lease_ms,
            "consume_type": "push",
            "message_model": "clustering",
            "consume_from": self.consume_from,
            "consume_timestamp_ms": None,
            "ordered": self.ordered,
            "language": "python",
            "version": "0.1.0",
            "address": "",
            "zone": None,
            "capacity": 1,
            "subscriptions": [
                {
                    "topic": topic,
                    "expression_type": "tag",
                    "expression": "*",
                    "tags": [],
                    "sub_version": START_MS,
                }
                for topic in self.subscribed
            ],
            "applied": self.applied,
            "digest": f"{digest(entries):016x}",
            **changes,
        }
        self.topics.append_of("heartbeats", self.group, record)

    def claim(self, generation: int) -> None:
        """Acknowledge a generation; gates of the one before are forgotten."""
        self.generation = generation
        self.held = {queue: entry for queue, entry in self.held.items() if entry[1] == "held"}
        claims = [
            {
                "queue": [*queue],
                "epoch": epoch,
                "position": self._position(queue),
                "state": "running",
            }
            for queue, (epoch, _) in sorted(self.held.items())
        ]
        self.topics.append_of(
            "heartbeats",
            self.group,
            {
                "kind": "claims",
                **self._from(),
                "generation": generation,
                "part": 0,
                "parts": 1,
                "queues": claims,
            },
        )

    def work(self, messages: int, written: Mapping[int, int] | None = None) -> None:
        """Process some messages of each held queue, and tell how far it has come.

        ``written`` says, by queue id, what producers wrote of it: so many are processed instead,
        and the client tells where the queue ends.
        """
        queues = []
        for queue, (epoch, state) in sorted(self.held.items()):
            if state == "held":
                made = messages if written is None else written[queue[2]]
                reached = self.processed[queue] = self.processed.get(queue, 0) + made
                entry = {"queue": [*queue], "epoch": epoch, "position": self._position(queue)}
                # The queue has grown beyond what its bridge told: nobody reads what is not there.
                tells = written is not None or reached > BOUNDS_END
                queues.append({**entry, "end": reached} if tells else entry)
        if queues:
            record = {"kind": "progress", **self._from(), "queues": queues}
            self.topics.append_of("heartbeats", self.group, record)

    def _position(self, queue: tuple[str, str, int]) -> list[int]:
        return [self.resets.get(queue, 0), self.processed.get(queue, 0)]

    def leave(self) -> None:
        """Say so, release everything and go."""
        self.sequence += 1
        self.gone = True
        record = {"kind": "leave", **self._leaving(), "sequence": self.sequence}
        self.topics.append_of("heartbeats", self.group, record)
        for queue, (epoch, state) in sorted(self.held.items()):
            self._release(queue, epoch, started=state == "held")
        self.held = {}

    def _leaving(self) -> dict[str, Any]:
        return self._from() | ({"last_started": self.last_started} if self.gone else {})

    def _release(self, queue: tuple[str, str, int], epoch: list[int], *, started: bool) -> None:
        position = self._position(queue) if started else None
        record = {
            "kind": "release",
            **self._leaving(),
            "queue": [*queue],
            "epoch": epoch,
            "position": position,
        }
        self.topics.append_of("releases", self.group, record)

    def read(self, record: dict[str, Any]) -> None:
        """Obey an assignment record of this incarnation."""
        if record["incarnation"] != self.incarnation or self.gone or self.deaf:
            return
        if record["kind"] != "assignment" or record["generation"] < self.generation:
            return
        self.applied = max(self.applied or [0, 0], record["epoch"])
        if self.stubborn:
            return
        for drop in record["drop"]:
            queue = tuple(drop["queue"])
            entry = self.held.get(queue)
            started = entry is not None and entry[0] == drop["epoch"] and entry[1] == "held"
            self._release(queue, drop["epoch"], started=started)
            if entry is not None and entry[0] <= drop["epoch"]:
                del self.held[queue]
        for add in record["add"]:
            queue = tuple(add["queue"])
            entry = self.held.get(queue)
            if entry is not None and (entry[0] > add["epoch"] or entry[1] == "held"):
                continue
            self.held[queue] = (add["epoch"], "gated" if add["after"] else "held")
            if not add["after"]:
                self.last_started = max(self.last_started, add["epoch"])
            start = max(self._position(queue), add["position"])
            self.resets[queue], self.processed[queue] = start
