"""A route as plain JSON values."""

from typing import Any

from fairlead.core.model import Route, RouteBroker

__all__ = ["plain_route", "read_route"]


def plain_route(route: Route) -> list[Any]:
    """Return a route; the order of its brokers is part of it."""
    return [
        route.topic,
        route.identity,
        route.order_topic_conf,
        [
            [
                broker.broker_name,
                broker.perm,
                broker.read_queue_nums,
                broker.write_queue_nums,
                broker.cluster,
                dict(broker.addresses),
                broker.leaders,
                broker.zones,
            ]
            for broker in route.brokers
        ],
    ]


def read_route(plain: list[Any]) -> Route:
    """Return the route that :func:`plain_route` wrote."""
    topic, identity, order_topic_conf, brokers = plain
    return Route(topic, identity, tuple(_read_broker(*row) for row in brokers), order_topic_conf)


def _read_broker(
    broker_name: str, perm: int, read_queue_nums: int, write_queue_nums: int, *rest: Any
) -> RouteBroker:
    cluster, addresses, leaders, zones = rest
    return RouteBroker(
        broker_name,
        perm,
        read_queue_nums,
        write_queue_nums,
        cluster,
        addresses,
        None if leaders is None else tuple(leaders),
        None if zones is None else tuple(zones),
    )
