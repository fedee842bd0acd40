"""The nouns of the field as values: queues, epochs, positions, members, routes.

Everything here is immutable and compares by value. Nothing here decides anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = [
    "NOTHING",
    "DataPlane",
    "Epoch",
    "MemberKey",
    "MemberProfile",
    "MessageQueue",
    "Position",
    "Process",
    "Route",
    "RouteBroker",
    "Source",
    "Subscription",
]


class MessageQueue(NamedTuple):
    """One queue of a topic. On Kafka: a partition, with the cluster's name as broker name."""

    topic: str
    broker_name: str
    queue_id: int

    def __str__(self) -> str:
        """Return it as people read it: topic/broker/number."""
        return f"{self.topic}/{self.broker_name}/{self.queue_id}"


class Epoch(NamedTuple):
    """The name of a decision: the driver's generation and the group's decision number."""

    generation: int
    number: int

    def __str__(self) -> str:
        """Return it as people read it: generation.number."""
        return f"{self.generation}.{self.number}"


NOTHING = Epoch(0, 0)
"""The epoch before every decision."""


class Position(NamedTuple):
    """A pull offset: the newest reset that it follows (0: none), and the next offset to read."""

    reset: int
    offset: int


class MemberKey(NamedTuple):
    """One incarnation of one client: the client draws it when it starts."""

    client_id: str
    incarnation: str


class Process(NamedTuple):
    """The operating-system process behind a client id; of two, the greater pair wins the id."""

    start_ms: int
    uuid: str


class Source(NamedTuple):
    """The place of a record in the log; ``append_ms`` is the broker's append time."""

    topic: str
    partition: int
    offset: int
    append_ms: int


@dataclass(frozen=True, slots=True)
class Subscription:
    """One member's subscription to one topic, in RocketMQ's terms (SubscriptionData)."""

    topic: str
    expression_type: str = "tag"
    expression: str = "*"
    tags: tuple[str, ...] = ()
    sub_version: int = 0


class DataPlane(NamedTuple):
    """Where a member reads (``kafka``, ``rocketmq``), and its id there."""

    kind: str
    member: str


@dataclass(frozen=True, slots=True)
class MemberProfile:
    """What a member says of itself in each heartbeat, besides subscriptions (ConsumerData).

    ``follows``: the strategy by which it can share queues without the engine; None: it cannot.
    """

    consume_type: str = "push"
    message_model: str = "clustering"
    consume_from: str = "last_offset"
    consume_timestamp_ms: int | None = None
    ordered: bool = False
    language: str = "other"
    version: str = "0"
    address: str = ""
    zone: str | None = None
    capacity: int = 1
    lease_ms: int = 10_000
    data_plane: DataPlane | None = None
    follows: str | None = None

    @property
    def rocketmq_id(self) -> str | None:
        """The id under which RocketMQ's brokers list the member; None: it does not read there."""
        plane = self.data_plane
        return None if plane is None or plane.kind != "rocketmq" else plane.member


@dataclass(frozen=True, slots=True)
class RouteBroker:
    """One broker's share of a topic (RocketMQ's QueueData and BrokerData).

    ``leaders`` and ``zones`` give the node and the zone of queue 0, 1, … in order, or are None.
    """

    broker_name: str
    perm: int
    read_queue_nums: int
    write_queue_nums: int
    cluster: str = ""
    addresses: Mapping[str, str] = field(default_factory=dict)
    leaders: tuple[str | None, ...] | None = None
    zones: tuple[str | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """The whole route of one topic.

    ``identity`` changes when somebody deletes the topic and creates it again under its name.
    """

    topic: str
    identity: str
    brokers: tuple[RouteBroker, ...]
    order_topic_conf: str | None = None
