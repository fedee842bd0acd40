"""What several name servers say of a topic becomes one look."""

import pytest
from fairlead_client.routes.topic_route import BrokerData, QueueData, QueueMapping, TopicRoute

from fairlead.bridges.rocketmq.route_look import (
    ClusterView,
    RouteLook,
    TopicRefused,
    look_at_routes,
)
from fairlead.core.model import RouteBroker


def _route(
    *names: str, queues: int = 4, perm: int = 6, cluster: str = "main", order: str | None = None
) -> TopicRoute:
    return TopicRoute(
        tuple(QueueData(name, queues, queues, perm) for name in names),
        tuple(BrokerData(name, cluster, {0: f"{name}:1"}) for name in names),
        order,
    )


def _at(addresses: dict[int, str]) -> TopicRoute:
    return TopicRoute((QueueData("a", 1, 1, 6),), (BrokerData("a", "main", addresses),))


def _view(servers: int = 1, answered: int = 1) -> ClusterView:
    return ClusterView("main", servers, answered, frozenset("ab"))


def _broker(name: str, queues: int = 4, perm: int = 6) -> RouteBroker:
    return RouteBroker(name, perm, queues, queues, "main", {"0": f"{name}:1"})


def test_what_any_name_server_knows_is_there() -> None:
    """Brokers are united; while servers differ, more queues and all rights count."""
    answers = {"n1": _route("a", queues=4, perm=4), "n2": _route("a", "b", queues=8, order="a:8")}
    look = look_at_routes("orders", answers, _view(2))
    assert look == RouteLook("orders", (_broker("a", 8), _broker("b", 8)), "a:8", _view(2, 2))


def test_a_silent_server_makes_the_look_incomplete() -> None:
    """The silent one may know more, even if another one knows nothing."""
    assert look_at_routes("orders", {"n1": None}, _view(2)) == RouteLook(
        "orders", (), None, _view(2, 1)
    )
    assert look_at_routes("orders", {"n1": None}, _view()) == RouteLook(
        "orders", (), None, _view(1, 1)
    )


def test_a_shrinking_broker_keeps_its_readable_queues() -> None:
    """Operators take the right to write away first; the route says so and keeps the queues."""
    look = look_at_routes("orders", {"n1": _route("a", perm=4)}, _view())
    assert isinstance(look, RouteLook)
    assert look.brokers == (_broker("a", perm=4),)


def test_a_slave_alone_stays_readable_at_its_address() -> None:
    """Without its master a broker has the slave's address alone."""
    route = TopicRoute((QueueData("a", 1, 1, 6),), (BrokerData("a", "main", {1: "s:1"}),))
    look = look_at_routes("orders", {"n1": route}, _view())
    assert isinstance(look, RouteLook)
    assert look.brokers[0].addresses == {"1": "s:1"}


def test_other_clusters_brokers_do_not_count() -> None:
    """Name servers serve several clusters, and a topic of one name may be in each."""
    look = look_at_routes("orders", {"n1": _route("a", cluster="other")}, _view())
    assert isinstance(look, RouteLook)
    assert look.brokers == ()


@pytest.mark.parametrize(
    "topic, route, why",
    [
        ("%LMQ%orders", _route("a"), "LMQ"),
        ("TBW102", _route("a"), "characters"),
        ("orders", TopicRoute(mappings={"a": QueueMapping("a", "orders")}), "static"),
        ("orders", _route("a b"), "broker_name"),
        ("orders", _route("a", queues=2**31 - 1), "read_queue_nums"),
        ("orders", _route("a", "b", queues=60_000), "more than 100000 queues"),
        ("orders", _route("a", queues=-1), "read_queue_nums"),
        ("orders", _route("a", perm=-1), "perm"),
        ("orders", _route("a", order="a:4\n"), "order_topic_conf"),
        ("orders", _route("a", order="\ud800"), "no record"),
        ("orders", _at({-1: "a:1"}), "addresses"),
        ("orders", _at({0: "host name:1", 1: "é:1"}), "addresses"),
        ("orders", _at(dict.fromkeys(range(3_000), "a" * 250)), "record"),
    ],
)
def test_topics_that_no_bridge_can_serve_are_named(topic: str, route: TopicRoute, why: str) -> None:
    """Each is refused with the reason, instead of a part of its queues."""
    look = look_at_routes(topic, {"n1": route}, _view())
    assert isinstance(look, TopicRefused)
    assert why in look.why
