"""Whether a route is another one than before.

TopicRouteData#topicRouteDataChanged; in 4.x MQClientInstance#topicRouteDataIsChange.
"""

from fairlead_client.routes.java_order import java_order
from fairlead_client.routes.topic_route import BrokerData, QueueData, TopicRoute


def route_changed(old: TopicRoute | None, new: TopicRoute | None) -> bool:
    """Tell whether a route changed; without an old or a new one it did.

    The shares and the brokers count in the order of their names, whatever order they were told in,
    each with all that it says but a broker's cluster; a list left out counts as an empty one, and
    an orderTopicConf of "" is another one than null. What RocketMQ does not know counts too:
    leaders, zones and the identity.
    """
    if old is None or new is None:
        return True
    return _essence(old) != _essence(new)


def _essence(route: TopicRoute) -> tuple[object, ...]:
    brokers = sorted(route.broker_datas, key=_by_name)
    return (
        sorted(route.queue_datas, key=_by_name),
        [(each.broker_name, each.addresses_told, dict(each.addresses)) for each in brokers],
        route.order_topic_conf,
        {address: list(servers) for address, servers in route.filter_servers.items()},
        route.mappings,
        route.identity,
    )


def _by_name(each: QueueData | BrokerData) -> bytes:
    return java_order(each.broker_name)
