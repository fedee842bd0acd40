"""How a native group stood at one look: members, queues, owners, lag; one for all data planes.

Readers (`fairlead.native.kafka_groups`, `fairlead.native.rocketmq_groups`) make looks. Findings,
forecasts and the rebalance history are made from looks alone, so they know no protocol (ADR 0216).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from fairlead.core.model import MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.core.topics.retry_topic import RETRY_TOPIC_PREFIX
from fairlead.planning.imbalance import Skew, skew_of

__all__ = ["FROZEN", "GroupLook", "Kind", "MemberLook", "QueueLook", "queue_looks"]

FROZEN: Final = "frozen"
"""Why a member says nothing: it is connected, and does not answer in time."""

_GRPC_PARTS: Final = 3
"""How often @ stands in the id of a client of RocketMQ's gRPC libraries (ClientId#toString)."""

Kind = Literal["kafka", "rocketmq"]
"""The data plane that shares a group out."""


@dataclass(frozen=True, slots=True)
class MemberLook:
    """A consumer that the data plane counts as a member.

    Attributes:
        member_id: its id in the group.
        client_id: what its program calls itself. In Kafka several members may share one.
        host: where it connects from.
        topics: its subscription; None: nobody says.
        owns: the queues that it works on, as far as anybody says.
        instance_id: the id that outlives a restart (static membership), if it has one.
        silence: why nobody says what it works on: `FROZEN`, or the data plane's words; "": it is
            said.
        connections: the brokers that know it -> its addresses there. Several at one broker are
            processes with the same id. Empty: a single coordinator knows it.
        filters: topic -> what it reads of it; None: nobody says.
        assignor: by what it shares queues, if members choose that on their own.
        language: of its client library; None: nobody says.
        version: of its client library; None: nobody says.
    """

    member_id: str
    client_id: str
    host: str
    topics: tuple[str, ...] | None
    owns: tuple[MessageQueue, ...]
    instance_id: str | None = None
    silence: str = ""
    connections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    filters: Mapping[str, str] | None = None
    assignor: str | None = None
    language: str | None = None
    version: str | None = None

    @property
    def name(self) -> str:
        """What a person knows it by: its client id, and its host where ids may be shared."""
        if self.client_id == self.member_id:
            return self.client_id
        return f"{self.client_id} at {self.host}"

    @property
    def is_grpc(self) -> bool:
        """Whether it speaks gRPC with RocketMQ's proxy: host@process@number@time is its id."""
        return bool(self.connections) and self.client_id.count("@") == _GRPC_PARTS

    @property
    def processes(self) -> int:
        """How many processes use this id."""
        return max(map(len, self.connections.values()), default=1)

    def to_json(self, lag: int | None) -> dict[str, Any]:
        """Return JSON values; ``lag``: how many messages wait in its queues."""
        return {
            "member_id": self.member_id,
            "client_id": self.client_id,
            "instance_id": self.instance_id,
            "host": self.host,
            "topics": None if self.topics is None else list(self.topics),
            "queue_list": [list(queue) for queue in self.owns],
            "lag_messages": lag,
            "silent_because": self.silence or None,
            "seen_by": {name: list(each) for name, each in sorted(self.connections.items())},
            "language": self.language,
            "client_version": self.version,
        }


@dataclass(frozen=True, slots=True)
class QueueLook:
    """A queue that the group reads. ``committed`` None: never; ``end`` None: nobody said."""

    queue: MessageQueue
    owners: tuple[MemberLook, ...]
    committed: int | None
    end: int | None

    @property
    def lag(self) -> int | None:
        """The messages behind the commit; None: there is no commit, or no end is known."""
        if self.committed is None or self.end is None:
            return None
        return max(self.end - self.committed, 0)

    @property
    def is_retry(self) -> bool:
        """Whether it holds messages of the group that failed."""
        return self.queue.topic.startswith(RETRY_TOPIC_PREFIX)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "queue": list(self.queue),
            "owner_ids": [each.member_id for each in self.owners],
            "committed_offset": self.committed,
            "end_offset": self.end,
            "lag_messages": self.lag,
        }


@dataclass(frozen=True, slots=True)
class GroupLook:
    """A group at one look.

    Attributes:
        group: its name.
        kind: its data plane.
        protocol: how members get messages. Kafka: classic or consumer (KIP-848); RocketMQ:
            clustering, broadcasting or pop; None: nobody says, for nobody is there.
        shares: whether each queue belongs to one member, so that two owners or none are wrong.
        state: the data plane's own word; None: it has none.
        settled: whether no rebalance is under way; None: the data plane does not say.
        assignors: by what the members share the queues; several are a disagreement.
        generation: the number of the assignment; None: the data plane does not say it.
        members: the members, in the order in which the data plane deals queues to them.
        queues: of every subscribed or committed topic, in RocketMQ's order.
        topics: what the group subscribes to.
        knows: broker -> the member ids that it knows; None: it does not say. Empty: a single
            coordinator knows all.
        unread: why parts of the look are missing, a phrase each; empty: it is whole.
    """

    group: str
    kind: Kind
    protocol: str | None
    shares: bool
    state: str | None = None
    settled: bool | None = None
    assignors: tuple[str, ...] = ()
    generation: int | None = None
    members: tuple[MemberLook, ...] = ()
    queues: tuple[QueueLook, ...] = ()
    topics: frozenset[str] = frozenset()
    knows: Mapping[str, frozenset[str] | None] = field(default_factory=dict)
    unread: tuple[str, ...] = ()

    @property
    def subscribed(self) -> list[QueueLook]:
        """The queues that somebody should work on."""
        return [each for each in self.queues if each.queue.topic in self.topics]

    @property
    def unassigned(self) -> list[QueueLook]:
        """The queues that nobody works on and somebody should.

        Members of RocketMQ learn of a new retry topic up to 30 s later, and before a message has
        failed nothing waits in it. The queues of a member that says nothing have an owner, perhaps.
        """
        if not self.is_told:
            return []
        return [
            each for each in self.subscribed if not each.owners and (not each.is_retry or each.lag)
        ]

    @property
    def is_told(self) -> bool:
        """Whether it is known who works on what, and somebody should."""
        members = self.members
        told = self.shares and self.settled is not False and bool(members)
        return told and not any(each.silence for each in members)

    @property
    def lag(self) -> int | None:
        """The messages behind all commits; None: there is no commit."""
        known = [each.lag for each in self.queues if each.lag is not None]
        return sum(known) if known else None

    def shares_held(self) -> dict[str, int]:
        """Return how many queues each member has, without retry queues, by member id."""
        return {
            each.member_id: sum(not q.topic.startswith(RETRY_TOPIC_PREFIX) for q in each.owns)
            for each in self.members
        }

    @property
    def idle(self) -> list[MemberLook]:
        """The members that have no queue."""
        held = self.shares_held()
        return [each for each in self.members if not each.silence and not held[each.member_id]]

    def by_queues(self) -> Skew:
        """Return the skew of the numbers of queues."""
        return skew_of(self.shares_held().values())

    def lags(self) -> dict[str, int]:
        """Return the lag of each member's queues, by member id."""
        of_queue = {each.queue: each.lag or 0 for each in self.queues}
        return {
            each.member_id: sum(of_queue.get(queue, 0) for queue in each.owns)
            for each in self.members
        }

    def owners(self) -> dict[MessageQueue, tuple[str, ...]]:
        """Return the owners of each queue, by member id."""
        return {each.queue: tuple(one.member_id for one in each.owners) for each in self.queues}

    def summary(self) -> dict[str, Any]:
        """Return JSON values without members and queues."""
        return {
            "group": self.group,
            "native": self.kind,
            "protocol": self.protocol,
            "native_state": self.state,
            "assignors": list(self.assignors),
            "native_generation": self.generation,
            "members": len(self.members),
            "members_idle": len(self.idle) if self.is_told else 0,
            "queues": len(self.queues),
            "queues_unassigned": len(self.unassigned),
            "queues_shared": sum(len(each.owners) > 1 for each in self.queues) * self.shares,
            "lag_messages": self.lag,
        }

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        lags = self.lags()
        return {
            **self.summary(),
            "skew_by_queues": self.by_queues().to_json(),
            "skew_by_lag": skew_of(lags.values()).to_json(),
            "member_list": [
                each.to_json(None if each.silence else lags[each.member_id])
                for each in self.members
            ],
            "queue_list": [each.to_json() for each in self.queues],
        }


def queue_looks(
    members: Iterable[MemberLook],
    known: Iterable[MessageQueue],
    committed: Mapping[MessageQueue, int],
    ends: Mapping[MessageQueue, int],
) -> tuple[QueueLook, ...]:
    """Return every queue that is known, owned or committed, with its owners."""
    owners: dict[MessageQueue, list[MemberLook]] = {}
    for member in members:
        for queue in member.owns:
            owners.setdefault(queue, []).append(member)
    return tuple(
        QueueLook(queue, tuple(owners.get(queue, ())), committed.get(queue), ends.get(queue))
        for queue in sorted({*known, *owners, *committed}, key=queue_order)
    )
