"""The logical queues of a static topic (5.x), which stay the same when their brokers change.

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
"""The beginning of a logical queue's broker name (LOGICAL_QUEUE_MOCK_BROKER_PREFIX)."""
NO_BROKER: Final = "__syslo__none__"
"""The broker of a logical queue that no broker has."""
_OLDEST_EPOCH: Final = -1


def endpoints(topic: str, mappings: Mapping[str, QueueMapping]) -> dict[Queue, str | None]:
    """Return each logical queue with its broker, sorted by queue id, then scope.

    If two scopes have the same id, RocketMQ's hash table decides their order.

    Raises:
        RouteError: there are too many queues.
    """
    by_scope: dict[str, list[QueueMapping]] = {}
    for mapping in mappings.values():
        if mapping.scope is not None:
            by_scope.setdefault(mapping.scope, []).append(mapping)
    totals = {scope: _total(of_scope) for scope, of_scope in by_scope.items()}
    check_queues("topicQueueMappingByBroker", totals.values())
    endpoint_of: dict[Queue, str | None] = {}
    for scope in sorted(by_scope, key=java_order):
        brokers: dict[int, str | None] = {}
        for mapping in sorted(by_scope[scope], key=lambda mapping: mapping.epoch):
            brokers.update(dict.fromkeys(mapping.current_ids, mapping.broker_name))
        name = mock_broker_name(scope)
        for queue_id in range(totals[scope]):
            endpoint_of[Queue(topic, name, queue_id)] = brokers.get(queue_id, NO_BROKER)
    return dict(sorted(endpoint_of.items(), key=lambda endpoint: endpoint[0].queue_id))


def mock_broker_name(scope: str) -> str:
    """Return the broker name of a scope's logical queues.

    >>> mock_broker_name("__global__")
    '__syslo__global__'
    """
    return MOCK_BROKER_PREFIX + (scope[2:] if scope == GLOBAL_SCOPE else scope)


def _total(mappings: list[QueueMapping]) -> int:
    """Return the greatest total of any mapping, even of an old one, as RocketMQ does."""
    totals = (mapping.total_queues for mapping in mappings if mapping.epoch >= _OLDEST_EPOCH)
    return max(0, max(totals, default=0))
