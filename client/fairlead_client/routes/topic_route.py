"""A topic's route as values, in the words of RocketMQ's TopicRouteData.

Plain immutable values: nothing here is changed by whoever selects a queue.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

GLOBAL_SCOPE: Final = "__global__"
"""The scope of a static topic's mapping unless it says another (MixAll.METADATA_SCOPE_GLOBAL)."""

MASTER: Final = 0
"""The id of a broker group's master (MixAll.MASTER_ID): the only one that is written to."""
PERM_READ: Final = 4
"""PermName.PERM_READ."""
PERM_WRITE: Final = 2
"""PermName.PERM_WRITE."""


@dataclass(frozen=True, slots=True)
class QueueData:
    """One broker's share of a topic (QueueData).

    `leaders` and `zones`, which RocketMQ does not know, name the node and the zone of queue 0, 1, …
    in order; None: not told.
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

    `addresses_told` is False where the sender left them out or wrote null, which RocketMQ's own
    classes tell from none.
    """

    broker_name: str
    cluster: str = ""
    addresses: Mapping[int, str] = field(default_factory=dict)
    addresses_told: bool = True

    @property
    def has_master(self) -> bool:
        """Whether the group can be written to."""
        return MASTER in self.addresses


@dataclass(frozen=True, slots=True)
class QueueMapping:
    """One broker's share of a static topic's logical queues (TopicQueueMappingInfo, 5.x).

    Attributes:
        broker_name: the broker that keeps them (bname).
        topic: the static topic, told once more.
        scope: mappings of one scope together are one set of logical queues; None: passed over.
        total_queues: how many logical queues the topic has in all.
        epoch: of two mappings of one logical queue the greater is in force.
        dirty: told, compared and otherwise unused.
        current_ids: logical queue id to the broker's own (currIdMap).
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
        queue_datas: what each broker has of the topic, in the order told.
        broker_datas: where the brokers are, in the order told.
        order_topic_conf: "broker:queues;…" of an ordered topic, else None or empty.
        filter_servers: broker address to filter servers; told, compared and otherwise unused.
        identity: which life of its name the topic is in; None: not told.
        mappings: of a static topic (topicQueueMappingByBroker), by broker name; None: not told.
        absent: which of "queueDatas" and "brokerDatas" the sender left out or wrote as null. They
            are empty here; RocketMQ fails where it needs one.
    """

    queue_datas: tuple[QueueData, ...] = ()
    broker_datas: tuple[BrokerData, ...] = ()
    order_topic_conf: str | None = None
    filter_servers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    identity: str | None = None
    mappings: Mapping[str, QueueMapping] | None = None
    absent: frozenset[str] = frozenset()
