"""A topic's route as immutable values, in the words of RocketMQ's TopicRouteData."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from fairlead_client.errors import RouteError

GLOBAL_SCOPE: Final = "__global__"
"""The default scope of a static topic's mapping (MixAll.METADATA_SCOPE_GLOBAL)."""

MASTER: Final = 0
"""The id of a broker group's master (MixAll.MASTER_ID), the only one that takes writes."""
PERM_READ: Final = 4
"""PermName.PERM_READ."""
PERM_WRITE: Final = 2
"""PermName.PERM_WRITE."""


@dataclass(frozen=True, slots=True)
class QueueData:
    """One broker's share of a topic (QueueData).

    `leaders` and `zones` name the leading node and the zone of queue 0, 1, … in order; None:
    unknown. RocketMQ does not have them.
    """

    broker_name: str
    read_queue_nums: int
    write_queue_nums: int
    perm: int
    sys_flag: int = 0
    leaders: tuple[str | None, ...] | None = None
    zones: tuple[str | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class BrokerData:
    """One broker group (BrokerData): its addresses by broker id, 0 being the master.

    `addresses_told` is False if the sender left them out or wrote null, which RocketMQ's classes
    distinguish from an empty map.
    """

    broker_name: str
    cluster: str = ""
    addresses: Mapping[int, str] = field(default_factory=dict)
    addresses_told: bool = True

    @property
    def has_master(self) -> bool:
        """Whether producers can write to the group."""
        return MASTER in self.addresses


@dataclass(frozen=True, slots=True)
class QueueMapping:
    """One broker's share of a static topic's logical queues (TopicQueueMappingInfo, 5.x).

    Attributes:
        broker_name: the broker that has them (bname).
        topic: the static topic.
        scope: mappings of one scope form one set of logical queues; None: ignored.
        total_queues: the number of the topic's logical queues.
        epoch: of two mappings of one logical queue, the greater epoch is in force.
        dirty: only compared.
        current_ids: logical queue id -> the broker's own queue id (currIdMap).
    """

    broker_name: str | None = None
    topic: str | None = None
    scope: str | None = GLOBAL_SCOPE
    total_queues: int = 0
    epoch: int = 0
    dirty: bool = False
    current_ids: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicRoute:
    """The whole route of one topic (TopicRouteData).

    Attributes:
        queue_datas: each broker's share of the topic, in the sender's order.
        broker_datas: the brokers' addresses, in the sender's order.
        order_topic_conf: "broker:queues;…" of an ordered topic, else None or empty.
        filter_servers: broker address -> filter servers; only compared.
        identity: the topic's identity, which changes when the topic is created again; None:
            unknown.
        mappings: a static topic's mappings by broker name (topicQueueMappingByBroker); None: none.
        absent: which of "queueDatas" and "brokerDatas" the sender left out or wrote as null. They
            are empty here; RocketMQ fails if it needs one.
    """

    queue_datas: tuple[QueueData, ...] = ()
    broker_datas: tuple[BrokerData, ...] = ()
    order_topic_conf: str | None = None
    filter_servers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    identity: str | None = None
    mappings: Mapping[str, QueueMapping] | None = None
    absent: frozenset[str] = frozenset()

    def require(self, name: str) -> None:
        """Check that the sender did not leave out "queueDatas" or "brokerDatas".

        Raises:
            RouteError: it did (`route_incomplete`).
        """
        if name in self.absent:
            raise incomplete_route(name)


def incomplete_route(field: str) -> RouteError:
    """Return the error of a route without this field."""
    return RouteError(field, "it is missing", "send the whole route", code="route_incomplete")
