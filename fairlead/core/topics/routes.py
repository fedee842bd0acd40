"""Which queues of a route consumers share.

Source of the rule: RocketMQ's MQClientInstance#topicRouteData2TopicSubscribeInfo: queues 0 to
readQueueNums - 1 of each broker whose perm has the read bit; no master is needed and orderTopicConf
does not matter.
"""

from collections.abc import Mapping

from fairlead.core.model import MessageQueue, Route
from fairlead.core.ordering import queue_order

__all__ = [
    "PERM_READ",
    "PERM_WRITE",
    "can_be_read",
    "has_closed_queues",
    "is_lacking",
    "queue_count",
    "queue_zones",
    "readable_queues",
    "writable_queues",
]

PERM_READ = 4
"""PermName.PERM_READ."""

PERM_WRITE = 2
"""PermName.PERM_WRITE."""


def is_lacking(routes: Mapping[str, Route], topic: str) -> bool:
    """Tell whether a topic has no route: no bridge ever told one, or it was deleted (ADR 0134).

    A deleted topic keeps a route without brokers, for its identity.
    """
    return topic not in routes or not routes[topic].brokers


def can_be_read(route: Route) -> bool:
    """Tell whether the route has any queue that consumers share."""
    return any(broker.perm & PERM_READ and broker.read_queue_nums for broker in route.brokers)


def queue_count(route: Route) -> int:
    """Return how many queues of the route consumers share."""
    return sum(broker.read_queue_nums for broker in route.brokers if broker.perm & PERM_READ)


def readable_queues(route: Route) -> tuple[MessageQueue, ...]:
    """Return the queues of the route that consumers share, in RocketMQ's order."""
    queues = {
        MessageQueue(route.topic, broker.broker_name, queue_id)
        for broker in route.brokers
        if broker.perm & PERM_READ
        for queue_id in range(broker.read_queue_nums)
    }
    return tuple(sorted(queues, key=queue_order))


def has_closed_queues(route: Route) -> bool:
    """Tell whether consumers share a queue of the route that no producer may write to."""
    return any(
        broker.perm & PERM_READ
        and broker.read_queue_nums
        and not (broker.perm & PERM_WRITE and broker.write_queue_nums >= broker.read_queue_nums)
        for broker in route.brokers
    )


def writable_queues(route: Route) -> dict[MessageQueue, bool]:
    """Return, for each readable queue in RocketMQ's order, whether a producer may write to it.

    Source: MQClientInstance#topicRouteData2TopicPublishInfo: the write bit, queues 0 to
    writeQueueNums - 1. Its third condition, a master, does not count here on purpose: only queues
    that an operator closed weigh nothing, a lost master comes back, and each failover would move
    queues twice. orderTopicConf does not count either: RocketMQ's producers follow it whatever the
    bit says, and their brokers refuse what the bit forbids.
    """
    brokers = {broker.broker_name: broker for broker in route.brokers}
    return {
        queue: bool(brokers[queue.broker_name].perm & PERM_WRITE)
        and queue.queue_id < brokers[queue.broker_name].write_queue_nums
        for queue in readable_queues(route)
    }


def queue_zones(route: Route) -> dict[MessageQueue, str]:
    """Return the zone of each readable queue's leader, as far as the route says it."""
    return {
        MessageQueue(route.topic, broker.broker_name, queue_id): zone
        for broker in route.brokers
        if broker.perm & PERM_READ
        for queue_id, zone in enumerate((broker.zones or ())[: broker.read_queue_nums])
        if zone is not None
    }
