"""How a native group stood at one look: members, queues, owners, lag. One noun for all data planes.

A reader (`fairlead.native.kafka_groups`) makes looks; findings, plans and rebalance history are
made from looks alone, so they know no protocol.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fairlead.core.model import MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.planning.imbalance import Skew, skew_of

__all__ = ["GroupLook", "MemberLook", "QueueLook", "queue_looks"]


@dataclass(frozen=True, slots=True)
class MemberLook:
    """A consumer that the data plane counts as a member.

    Attributes:
        member_id: its id in the group.
        client_id: what its program calls itself; several members may share one.
        host: where it connects from.
        topics: its subscription; None: the data plane does not say.
        owns: the queues that it works on, as the data plane says.
        instance_id: the id that outlives a restart (static membership), if it has one.
    """

    member_id: str
    client_id: str
    host: str
    topics: tuple[str, ...] | None
    owns: tuple[MessageQueue, ...]
    instance_id: str | None = None

    @property
    def name(self) -> str:
        """What a person knows it by: client id and host."""
        return f"{self.client_id} at {self.host}"


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
        plane: the data plane: kafka or rocketmq.
        protocol: classic or consumer (KIP-848).
        state: the data plane's own word.
        shares: whether a rebalance is not under way and assignments count.
        assignor: the name of the assignor; None: nobody said.
        generation: the number of the assignment; None: the data plane does not say it.
        members: by member id.
        queues: of every subscribed or committed topic, in RocketMQ's order.
        unread: why a part of the look is missing; None: it is whole.
    """

    group: str
    plane: str
    protocol: str
    state: str
    shares: bool
    assignor: str | None
    generation: int | None
    members: tuple[MemberLook, ...]
    queues: tuple[QueueLook, ...]
    unread: str | None = None

    @property
    def topics(self) -> frozenset[str]:
        """The topics that members subscribe to."""
        return frozenset(topic for each in self.members for topic in each.topics or ())

    @property
    def subscribed(self) -> list[QueueLook]:
        """The queues that somebody should work on."""
        topics = self.topics
        return [each for each in self.queues if each.queue.topic in topics]

    @property
    def lag(self) -> int | None:
        """The messages behind all commits; None: there is no commit."""
        known = [each.lag for each in self.queues if each.lag is not None]
        return sum(known) if known else None

    @property
    def idle(self) -> list[MemberLook]:
        """The members that own nothing."""
        return [each for each in self.members if not each.owns]

    def by_queues(self) -> Skew:
        """Return the skew of the numbers of queues."""
        return skew_of(len(each.owns) for each in self.members)

    def lags(self) -> dict[str, int]:
        """Return the lag of each member's queues, by member id."""
        of_queue = {each.queue: each.lag or 0 for each in self.queues}
        return {
            each.member_id: sum(of_queue.get(queue, 0) for queue in each.owns)
            for each in self.members
        }

    def owners(self) -> dict[MessageQueue, str]:
        """Return the first owner of each owned queue, by member id."""
        return {each.queue: each.owners[0].member_id for each in self.queues if each.owners}

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        lags = self.lags()
        return {
            "group": self.group,
            "native": self.plane,
            "protocol": self.protocol,
            "native_state": self.state,
            "assignor": self.assignor,
            "native_generation": self.generation,
            "members": len(self.members),
            "members_idle": len(self.idle),
            "queues": len(self.queues),
            "queues_unassigned": sum(not each.owners for each in self.subscribed),
            "queues_shared": sum(len(each.owners) > 1 for each in self.queues),
            "lag_messages": self.lag,
            "skew_by_queues": self.by_queues().to_json(),
            "skew_by_lag": skew_of(lags.values()).to_json(),
            "unread": self.unread,
            "member_list": [
                {
                    "member_id": each.member_id,
                    "client_id": each.client_id,
                    "instance_id": each.instance_id,
                    "host": each.host,
                    "topics": None if each.topics is None else list(each.topics),
                    "queue_list": [list(queue) for queue in each.owns],
                    "lag_messages": lags[each.member_id],
                }
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
