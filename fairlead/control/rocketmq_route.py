"""Makes Fairlead's record of a route that RocketMQ tells, and checks it.

The record keeps what consumers and producers need: brokers, permissions, numbers of queues,
addresses and orderTopicConf. It leaves out flags, filter servers and other details of clusters.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from fairlead_client.errors import RouteError
from fairlead_client.routes.publish_info import publish_info
from fairlead_client.routes.static_topic import endpoints
from fairlead_client.routes.topic_route import PERM_READ, PERM_WRITE, QueueMapping, TopicRoute

from fairlead.core.model import Route, RouteBroker
from fairlead.core.ordering import java_order
from fairlead.core.records import RouteChanged
from fairlead.wire.decode import decode
from fairlead.wire.encode_bridge import encode_route
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import RawRecord
from fairlead.wire.topics import TopicNames

__all__ = ["as_read", "route_from_rocketmq"]

_ONE_SHARD: Final = WireLimits(1)
_KNOWN_PER_QUEUE: Final[Mapping[str, str]] = {"0": ""}
"""The master of a static topic; ``leaders`` names the broker of each queue."""


def route_from_rocketmq(topic: str, told: TopicRoute, identity: str) -> Route:
    """Return the route that RocketMQ tells; brokers are sorted by name.

    The logical queues of a static topic belong to the mock broker of their scope, as RocketMQ's
    clients have it.

    Args:
        topic: the topic.
        told: what a name server told.
        identity: the identity of the topic, which RocketMQ does not know.

    Raises:
        RouteError: it has no queueDatas, names a broker twice, or has an orderTopicConf that
            RocketMQ's clients reject.
    """
    if told.order_topic_conf:
        publish_info(topic, told)
    brokers = _logical(topic, told.mappings) if told.mappings else _physical(told)
    ordered = sorted(brokers, key=lambda broker: java_order(broker.broker_name))
    return Route(topic, identity, tuple(ordered), told.order_topic_conf or None)


def as_read(topic: str, route: Route | None) -> RouteChanged:
    """Return a route, or its deletion, as the engine reads it from the routes topic.

    Raises:
        WireError: the engine rejects its form.
        OversizeError: no record can hold it.
    """
    written = encode_route(RouteChanged(topic, route), TopicNames(""))
    raw = RawRecord("routes", 0, 0, 0, True, written.key, written.value)  # noqa: FBT003
    read = decode("routes", raw, _ONE_SHARD)
    assert isinstance(read, RouteChanged)
    return read


def _physical(told: TopicRoute) -> Iterable[RouteBroker]:
    if "queueDatas" in told.absent:
        raise RouteError("queueDatas", "it is missing", "send TopicRouteData", code="bad_route")
    named = [share.broker_name for share in told.queue_datas]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise RouteError("queueDatas", f"{twice!r} stands there twice", "leave one of them out")
    datas = {data.broker_name: data for data in reversed(told.broker_datas)}
    for share in told.queue_datas:
        data = datas.get(share.broker_name)
        addresses = {} if data is None else data.addresses
        yield RouteBroker(
            broker_name=share.broker_name,
            perm=share.perm,
            read_queue_nums=share.read_queue_nums,
            write_queue_nums=share.write_queue_nums,
            cluster="" if data is None else data.cluster,
            addresses={str(number): addresses[number] for number in sorted(addresses)},
        )


def _logical(topic: str, mappings: Mapping[str, QueueMapping]) -> Iterable[RouteBroker]:
    kept: dict[str, list[str | None]] = {}
    for queue, broker_name in endpoints(topic, mappings).items():
        kept.setdefault(queue.broker_name, []).append(broker_name)
    for name, brokers in kept.items():
        yield RouteBroker(
            broker_name=name,
            perm=PERM_READ | PERM_WRITE,
            read_queue_nums=len(brokers),
            write_queue_nums=len(brokers),
            addresses=_KNOWN_PER_QUEUE,
            leaders=tuple(brokers),
            zones=(None,) * len(brokers),
        )
