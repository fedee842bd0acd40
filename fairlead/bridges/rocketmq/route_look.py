"""One look at a topic: what all name servers say of it together.

Brokers register with each name server by themselves, so one may lag or lack a broker. What any of
them knows is there; only if all of them answer, and none knows it, something is not there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fairlead_client.routes.topic_route import BrokerData, QueueData, TopicRoute

from fairlead.core.model import Route, RouteBroker
from fairlead.core.records import RouteChanged
from fairlead.wire.decode import decode
from fairlead.wire.encode import OversizeError
from fairlead.wire.encode_bridge import encode_route
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import RawRecord
from fairlead.wire.texts import TOPIC
from fairlead.wire.topics import TopicNames

__all__ = ["ClusterView", "RouteLook", "TopicRefused", "look_at_routes"]

_ANY_NAMES = TopicNames("any.")
_LIMITS = WireLimits(shards=1)
_LITE_PREFIX = "%LMQ%"
"""MixAll.LMQ_PREFIX: queues inside other topics' queues, which name servers do not list."""


@dataclass(frozen=True, slots=True)
class ClusterView:
    """What the name servers say of a cluster, whatever the topic.

    Attributes:
        cluster: its name.
        servers: how many name servers there are.
        answered: how many of them answer.
        registered: the names of the cluster's brokers that any of them knows.
    """

    cluster: str
    servers: int
    answered: int
    registered: frozenset[str]

    @property
    def complete(self) -> bool:
        """Whether all answer, so that what none knows is not there."""
        return self.answered == self.servers


@dataclass(frozen=True, slots=True)
class RouteLook:
    """A topic's brokers in one cluster, by name.

    Attributes:
        topic: the topic.
        brokers: empty: no name server that answered knows one.
        order_conf: "broker:queues;…" of an ordered topic, or None.
        view: what the name servers say beside it.
    """

    topic: str
    brokers: tuple[RouteBroker, ...]
    order_conf: str | None
    view: ClusterView


@dataclass(frozen=True, slots=True)
class TopicRefused:
    """A topic whose queues a bridge cannot serve; ``why`` is for the log."""

    topic: str
    why: str


def look_at_routes(
    topic: str, answers: Mapping[str, TopicRoute | None], view: ClusterView
) -> RouteLook | TopicRefused:
    """Unite what name servers answer.

    While name servers differ, the greater number of queues and all rights count: a reader of a
    queue that just went finds it empty, but a queue that just came must not go unread. Addresses
    of the name servers asked last count, as they would for a client that asks again.

    Args:
        topic: the topic.
        answers: name server -> its route, or None if it knows no such topic. Silent ones are left
            out.
        view: what the name servers say of the cluster; only its brokers count.
    """
    routes = [route for _, route in sorted(answers.items()) if route is not None]
    why = _refusal(topic, routes)
    if why is not None:
        return TopicRefused(topic, why)
    brokers: dict[str, BrokerData] = {
        broker.broker_name: broker
        for route in routes
        for broker in route.broker_datas
        if broker.cluster == view.cluster and broker.addresses
    }
    shares: dict[str, list[QueueData]] = {}
    for route in routes:
        for share in route.queue_datas:
            shares.setdefault(share.broker_name, []).append(share)
    united = tuple(
        _united(brokers[name], shares[name]) for name in sorted(brokers.keys() & shares.keys())
    )
    order_conf = next((route.order_topic_conf for route in routes if route.order_topic_conf), None)
    unfit = _unfit(topic, united, order_conf)
    if unfit is not None:
        return TopicRefused(topic, unfit)
    return RouteLook(topic, united, order_conf, replace(view, answered=len(answers)))


def _refusal(topic: str, routes: Iterable[TopicRoute]) -> str | None:
    if topic.startswith(_LITE_PREFIX):
        return "a light queue (LMQ) is part of another topic's queue"
    if not TOPIC.allows(topic):
        return f"a topic has {TOPIC.words}"
    if any(route.mappings for route in routes):
        return "a static topic's queues move between brokers"
    return None


def _unfit(topic: str, brokers: tuple[RouteBroker, ...], order_conf: str | None) -> str | None:
    """Return what no record of a route can carry; None: all fits.

    Name servers keep whatever a broker registers, and brokers take any number of queues.
    """
    changed = RouteChanged(topic, Route(topic, "any", brokers, order_conf))
    try:
        record = encode_route(changed, _ANY_NAMES)
        raw = RawRecord(
            record.topic, 0, 0, 0, append_time_is_log=True, key=record.key, value=record.value
        )
        decode("routes", raw, _LIMITS)
    except WireError as error:
        return f"{error.field}: {error.detail}"
    except (OversizeError, TypeError) as error:
        return f"no record can carry it: {error}"
    return None


def _united(broker: BrokerData, shares: list[QueueData]) -> RouteBroker:
    rights = 0
    for share in shares:
        rights |= share.perm
    return RouteBroker(
        broker_name=broker.broker_name,
        perm=rights,
        read_queue_nums=max(share.read_queue_nums for share in shares),
        write_queue_nums=max(share.write_queue_nums for share in shares),
        cluster=broker.cluster,
        addresses={str(number): address for number, address in sorted(broker.addresses.items())},
    )
