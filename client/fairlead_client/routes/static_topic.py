"""The logical queues of a static topic (5.x), which stay when their brokers change.

Source: ClientMetadata#topicRouteData2EndpointsForStaticTopic and
TopicQueueMappingUtils#getMockBrokerName.
"""

from collections.abc import Mapping
from typing import Final

from fairlead_client.model import Queue
from fairlead_client.routes.java_order import java_order
from fairlead_client.routes.route_limits import check_queues
from fairlead_client.routes.topic_route import GLOBAL_SCOPE, QueueMapping

MOCK_BROKER_PREFIX: Final = "__syslo__"
"""What the broker name of a logical queue begins with (LOGICAL_QUEUE_MOCK_BROKER_PREFIX)."""
NO_BROKER: Final = "__syslo__none__"
"""Instead of the broker of a logical queue that nobody keeps."""
_OLDEST_EPOCH: Final = -1


def endpoints(topic: str, mappings: Mapping[str, QueueMapping]) -> dict[Queue, str | None]:
    """Return each logical queue with the broker that keeps it, sorted by queue id, then scope.

    Where two scopes have one id, RocketMQ leaves their order to its hash table.

    Raises:
        RouteError: there are too many queues.
    """
    by_scope: dict[str, list[QueueMapping]] = {}
    for mapping in mappings.values():
        if mapping.scope is not None:
            by_scope.setdefault(mapping.scope, []).append(mapping)
    totals = {scope: _total(of_scope) for scope, of_scope in by_scope.items()}
    check_queues("topicQueueMappingByBroker", totals.values())
    found: dict[Queue, str | None] = {}
    for scope in sorted(by_scope, key=java_order):
        brokers: dict[int, str | None] = {}
        for mapping in sorted(by_scope[scope], key=lambda each: each.epoch):
            brokers.update(dict.fromkeys(mapping.current_ids, mapping.broker_name))
        name = mock_broker_name(scope)
        for queue_id in range(totals[scope]):
            found[Queue(topic, name, queue_id)] = brokers.get(queue_id, NO_BROKER)
    return {queue: found[queue] for queue in sorted(found, key=lambda queue: queue.queue_id)}


def mock_broker_name(scope: str) -> str:
    """Return the broker name that logical queues of a scope have.

    >>> mock_broker_name("__global__")
    '__syslo__global__'
    """
    return MOCK_BROKER_PREFIX + (scope[2:] if scope == GLOBAL_SCOPE else scope)


def _total(mappings: list[QueueMapping]) -> int:
    """Return the greatest total that any mapping tells, be it an old one: as RocketMQ does."""
    told = [each.total_queues for each in mappings if each.epoch >= _OLDEST_EPOCH]
    return max(0, *told) if told else 0
