"""Compares a topic's route with the one before.

Source: TopicRouteData#topicRouteDataChanged; in 4.x MQClientInstance#topicRouteDataIsChange.
"""

from fairlead_client.routes.java_order import java_order
from fairlead_client.routes.topic_route import BrokerData, QueueData, TopicRoute


def route_changed(old: TopicRoute | None, new: TopicRoute | None) -> bool:
    """Return whether a route changed; without an old or a new one it did.

    It compares shares and brokers in the order of their names, with all fields but a broker's
    cluster. A missing list equals an empty one, but an orderTopicConf of "" differs from null.
    Fairlead's own fields count too: leaders, zones and the identity.
    """
    if old is None or new is None:
        return True
    return _essence(old) != _essence(new)


def _essence(route: TopicRoute) -> tuple[object, ...]:
    brokers = sorted(route.broker_datas, key=_by_name)
    return (
        sorted(route.queue_datas, key=_by_name),
        [(data.broker_name, data.addresses_told, dict(data.addresses)) for data in brokers],
        route.order_topic_conf,
        {address: list(servers) for address, servers in route.filter_servers.items()},
        route.mappings,
        route.identity,
    )


def _by_name(data: QueueData | BrokerData) -> bytes:
    return java_order(data.broker_name)
