"""Clients that stand by, small, in a whole engine: they follow AVG, freeze, own, and follow again.

The cluster is one list of ids, as brokers would have it. Each client works on what it computes from
that list, and so two of them may work on one queue while they follow, as in RocketMQ.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import orjson

from tests.kit.client import Client
from tests.kit.world import World

__all__ = ["Cluster", "Follower", "FollowerWorld"]

GROUP = "orders"
BRIDGE = "3c6d7a52-51c9-4c56-8a4a-3b1f3e0c9d11"
_Queue = tuple[str, str, int]


@dataclass(slots=True)
class Cluster:
    """Whom the brokers list, and what is committed there."""

    ids: set[str] = field(default_factory=set)
    committed: dict[_Queue, int] = field(default_factory=dict)

    def share_of(self, consumer: str, queues: int) -> list[_Queue]:
        """Return what AVG gives to a consumer (AllocateMessageQueueAveragely)."""
        everybody = sorted(self.ids)
        index, number = everybody.index(consumer), len(everybody)
        most, rest = divmod(queues, number)
        first = index * most + min(index, rest)
        count = most + (index < rest)
        return [("orders", "main", each) for each in range(first, min(first + count, queues))]


@dataclass(slots=True)
class Follower(Client):
    """A client that stands by; ``works`` is what it works on without a grant."""

    cluster: Cluster = field(default_factory=Cluster)
    state: str = "wait"
    works: set[_Queue] = field(default_factory=set)

    @property
    def consumer(self) -> str:
        """The id under which the brokers list it."""
        return f"10.0.0.{self.client_id}@{self.life}"

    def beat(self, **changes: Any) -> None:
        """Heartbeat, and say where it reads and what it does."""
        plane = {"kind": "rocketmq", "member": self.consumer}
        standby = {"follows": "AVG", "state": self.state}
        Client.beat(self, data_plane=plane, standby=standby, **changes)

    def rebalance(self, queues: int) -> None:
        """Work on what the strategy says, if it follows."""
        if self.state != "follow" or self.gone:
            return
        mine = set(self.cluster.share_of(self.consumer, queues))
        for queue in mine - self.works:
            self.processed[queue] = self.cluster.committed.get(queue, 0)
        self.works = mine

    def work(self, messages: int, written: Any = None) -> None:
        """Process messages of what it works on, and commit them at the broker."""
        if self.state in ("follow", "freeze"):
            for queue in self.works:
                self.processed[queue] = self.processed.get(queue, 0) + messages
        Client.work(self, messages, written)
        for queue in (*self.works, *(queue for queue, entry in self.held.items() if entry[1])):
            self.cluster.committed[queue] = self.processed.get(queue, 0)

    def at_work(self) -> set[_Queue]:
        """Return everything that it works on."""
        return self.works | {queue for queue, (_, state) in self.held.items() if state == "held"}

    def leave(self) -> None:
        """Stop everything, then leave."""
        self.works = set()
        self.cluster.ids.discard(self.consumer)
        Client.leave(self)

    def die(self) -> None:
        """End without a word."""
        self.gone, self.works = True, set()
        self.cluster.ids.discard(self.consumer)

    def read(self, record: dict[str, Any]) -> None:
        """Obey an assignment record, as docs/protocol.md §3.16 says."""
        mine = record["incarnation"] == self.incarnation and record["kind"] == "assignment"
        if not mine or self.gone or record["generation"] < self.generation:
            return
        told = record.get("standby")
        if told is not None:
            self.applied = max(self.applied or [0, 0], record["epoch"])
            if self.state == "own":
                self.works, self.held = self.at_work(), {}
            self.state = told
            if told == "freeze":
                self._tell_former(record["epoch"])
            return
        if self.state in ("follow", "freeze"):
            granted = {tuple(add["queue"]): add for add in record["add"]}
            for queue in self.works & granted.keys() if self.state == "freeze" else ():
                add = granted[queue]
                self.held[queue] = (add["epoch"], "held")
                self.last_started = max(self.last_started, add["epoch"])
                self.resets[queue] = add["position"][0]
            self.works = set()
        self.state = "own"
        Client.read(self, record)

    def _tell_former(self, epoch: list[int]) -> None:
        queues = [
            {"queue": [*queue], "position": [0, self.processed.get(queue, 0)]}
            for queue in sorted(self.works)
        ]
        told = {"kind": "former", **self._from(), "epoch": epoch, "part": 0, "parts": 1}
        self.topics.append_of("heartbeats", self.group, told | {"queues": queues})


@dataclass(slots=True)
class FollowerWorld(World):
    """A whole engine with such clients, a cluster, and the looks of its bridge."""

    cluster: Cluster = field(default_factory=Cluster)
    look: int = 0
    ahead_ms: int = 0
    """So far the bridge's clock is ahead of Kafka's."""

    def follow(self, client_id: str, life: int = 1) -> Follower:
        """A client starts: the brokers list it from now on."""
        started = Follower(
            self.topics,
            GROUP,
            client_id,
            life,
            generation=self.generation,
            cluster=self.cluster,
        )
        self.cluster.ids.add(started.consumer)
        return self.add(started)

    @property
    def followers(self) -> list[Follower]:
        """The clients of the group that live."""
        return [each for each in self.clients if isinstance(each, Follower) and not each.gone]

    def look_again(self) -> None:
        """The bridge tells whom both brokers list."""
        self.look += 1
        ids = sorted(self.cluster.ids)
        brokers = [{"broker_name": name, "members": ids} for name in ("broker-a", "broker-b")]
        seen: dict[str, Any] = {
            "kind": "members",
            "group": GROUP,
            "cluster": "main",
            "bridge": BRIDGE,
        }
        seen |= {"look": self.look, "complete": True, "brokers": brokers}
        key = orjson.dumps(["main", "members", GROUP])
        self.topics.append("offsets", 0, key, seen | {"at_ms": self.topics.now_ms + self.ahead_ms})

    def go_on(self, seconds: int, chance: Random | None = None) -> None:
        """Let time pass; the bridge looks every second, and clients compute their shares."""
        for _ in range(seconds):
            self.look_again()
            for each in self.followers:
                each.rebalance(self.queues["orders"])
            self.pass_seconds(1, chance)
            self.check_owners()

    def check_owners(self) -> None:
        """Nobody works on a queue beside another member that the engine rules."""
        seen: dict[_Queue, Follower] = {}
        for each in self.followers:
            for queue in each.at_work():
                other = seen.setdefault(queue, each)
                both = {each.state, other.state}
                assert other is each or both <= {"follow", "freeze"}, (queue, both)

    def footing(self) -> str | None:
        """Return the footing by the newest decision."""
        state = self.decisions[-1]["state"]
        return None if "footing" not in state else str(state["footing"])
