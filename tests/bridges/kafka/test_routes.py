"""The bridge at work on a real broker: routes."""

import re

import pytest

from fairlead.bridges.kafka.bridge import BridgeTimes, KafkaBridge
from fairlead.core.model import Route, RouteBroker
from fairlead.core.outputs import Request
from fairlead.core.records import RouteChanged
from fairlead.errors import EnvironmentMissingError, UsageError
from fairlead.wire.encode_bridge import encode_route
from fairlead.wire.topics import TopicNames
from tests.kit.bridge import running
from tests.kit.bridge_ledger import Ledger

TIMES = BridgeTimes(poll_ms=200, discovery_ms=200)


def make_bridge(
    ledger: Ledger, bootstrap: str, *topics: str, pattern: str | None = None
) -> KafkaBridge:
    """A quick bridge of cluster ``main`` for these topics."""
    return KafkaBridge(
        control_bootstrap=bootstrap,
        prefix=ledger.names.prefix,
        topics=topics,
        topic_pattern=pattern,
        cluster_name="main",
        times=TIMES,
    )


def route_request(topic: str) -> Request:
    """A request for the route of a topic."""
    return Request("g", "route", topic, None, None)


def test_life_of_a_topic(ledger: Ledger, bootstrap: str, topic: str) -> None:
    """A topic's making, growth from 32 to 48, deletion and second life each become one record."""
    with running(make_bridge(ledger, bootstrap, topic)):
        first = ledger.make_topic(topic, 32)
        ledger.await_route(topic, 32)
        ledger.admin.create_partitions({topic: 48})
        ledger.await_route(topic, 48)
        ledger.admin.delete_topics([topic])
        ledger.await_route(topic, None)
        second = ledger.make_topic(topic, 4)
        ledger.await_route(topic, 4)
    ledger.read_all()
    identities = [change.route and change.route.identity for change in ledger.routes]
    assert identities == [first, first, None, second]
    assert first != second


def test_a_route_has_queues_address_leaders_and_zones(
    ledger: Ledger, bootstrap: str, topic: str
) -> None:
    """A route is whole: perm, queues, address, and per queue the leader and the zone."""
    identity = ledger.make_topic(topic, 2)
    with running(make_bridge(ledger, bootstrap, topic)):
        route = ledger.await_route(topic, 2).route
    broker = RouteBroker(
        broker_name="main",
        perm=6,
        read_queue_nums=2,
        write_queue_nums=2,
        cluster="main",
        addresses={"0": bootstrap},
        leaders=("1", "1"),
        zones=(None, None),
    )
    assert route == Route(topic, identity, (broker,))


def test_a_cluster_without_a_name_is_called_by_its_id(
    ledger: Ledger, bootstrap: str, topic: str
) -> None:
    """Without a name of its own the cluster is called by its id."""
    ledger.make_topic(topic, 1)
    bridge = KafkaBridge(
        control_bootstrap=bootstrap, prefix=ledger.names.prefix, topics=[topic], times=TIMES
    )
    with running(bridge):
        route = ledger.await_route(topic, 1).route
    assert route is not None
    assert route.brokers[0].broker_name == ledger.admin.describe_cluster()["cluster_id"]


def test_recreated_between_looks(ledger: Ledger, bootstrap: str, topic: str) -> None:
    """The bridge publishes the new identity of a topic that was recreated while it was off."""
    first = ledger.make_topic(topic, 8)
    with running(make_bridge(ledger, bootstrap, topic)):
        ledger.await_route(topic, 8)
    ledger.admin.delete_topics([topic])
    second = ledger.make_topic(topic, 3)
    with running(make_bridge(ledger, bootstrap)):
        ledger.await_route(topic, 3)
    ledger.read_all()
    identities = [change.route and change.route.identity for change in ledger.routes]
    assert identities == [first, second]


def test_a_requested_route_is_published_again(ledger: Ledger, bootstrap: str, topic: str) -> None:
    """A requested route is published although it stands already, and stays watched."""
    ledger.make_topic(topic, 2)
    with running(make_bridge(ledger, bootstrap)):
        ledger.ask(route_request(topic))
        first = ledger.await_route(topic, 2)
        ledger.ask(route_request(topic))
        assert ledger.await_route(topic, 2, after=1) == first
        ledger.admin.create_partitions({topic: 3})
        ledger.await_route(topic, 3)


def test_a_requested_topic_is_published_when_it_is_made(
    ledger: Ledger, bootstrap: str, topic: str
) -> None:
    """A topic that is asked for before it exists is published when it does."""
    with running(make_bridge(ledger, bootstrap)):
        ledger.ask(route_request(topic))
        ledger.make_topic(topic, 2)
        ledger.await_route(topic, 2)


def test_forgotten_and_made_anew(ledger: Ledger, bootstrap: str, topic: str) -> None:
    """The bridge publishes a forgotten and recreated topic when the engine asks."""
    first = ledger.make_topic(topic, 2)
    forgetful = BridgeTimes(poll_ms=200, forget_ms=0, give_up_ms=1_000)
    bridge = KafkaBridge(
        control_bootstrap=bootstrap,
        prefix=ledger.names.prefix,
        cluster_name="main",
        times=forgetful,
    )
    with running(bridge):
        ledger.ask(route_request(topic))
        ledger.await_route(topic, 2)
        ledger.admin.delete_topics([topic])
        ledger.await_route(topic, None)
        second = ledger.make_topic(topic, 3)
        # So much the bridge has done since: it looks at other topics, and no more at this one.
        other = f"{topic}-other"
        ledger.make_topic(other, 1)
        ledger.ask(route_request(other))
        ledger.await_route(other, 1)
        ledger.admin.create_partitions({other: 2})
        ledger.await_route(other, 2)
        assert topic not in [change.topic for change in ledger.routes[3:]]
        ledger.ask(route_request(topic))
        told = ledger.await_route(topic, 3).route
    assert told is not None
    assert told.identity == second != first


def test_a_request_from_before_the_start_is_answered(
    ledger: Ledger, bootstrap: str, topic: str
) -> None:
    """A request written shortly before the start is answered; what is no request is passed over."""
    ledger.make_topic(topic, 2)
    ledger.write("requests", b"g", b"\xff")
    ledger.write("requests", b"g", b'{"v":1,"kind":"request"}')
    ledger.ask(route_request(topic))
    with running(make_bridge(ledger, bootstrap)):
        ledger.await_route(topic, 2)


def test_a_restarted_bridge_repeats_no_route(ledger: Ledger, bootstrap: str, topic: str) -> None:
    """A bridge that starts again repeats no route, and goes on watching what it once published."""
    ledger.make_topic(topic, 2)
    with running(make_bridge(ledger, bootstrap)):
        ledger.ask(route_request(topic))
        ledger.await_route(topic, 2)
    ledger.write("routes", topic.encode(), b"no route at all")
    last = encode_route(ledger.routes[-1], ledger.names)
    assert last.key is not None
    ledger.write("routes", last.key, last.value)
    other = f"{topic}-other"
    ledger.make_topic(other, 1)
    quick = BridgeTimes(poll_ms=200, look_back_ms=0)
    bridge = KafkaBridge(
        control_bootstrap=bootstrap,
        prefix=ledger.names.prefix,
        topics=[other],
        cluster_name="main",
        times=quick,
    )
    before = len(ledger.routes)
    with running(bridge):
        ledger.admin.create_partitions({topic: 5})
        ledger.await_route(topic, 5)
    ledger.read_all()
    told = [change.topic for change in ledger.routes[before + 1 :]]
    assert sorted(told) == sorted([topic, other])
    assert ledger.refused == [b"no route at all"]


def test_two_bridges_of_one_cluster_write_the_same(
    ledger: Ledger, bootstrap: str, topic: str
) -> None:
    """Two bridges of one cluster write the same records."""
    with running(make_bridge(ledger, bootstrap)), running(make_bridge(ledger, bootstrap)):
        ledger.make_topic(topic, 2)
        ledger.ask(route_request(topic))
        ledger.await_that(lambda: len(ledger.routes) == 2)
    assert ledger.routes[0] == ledger.routes[1]


def test_topics_of_the_pattern_are_found_except_our_own(
    ledger: Ledger, bootstrap: str, topic: str
) -> None:
    """Topics that match the pattern are found, those made later too, Fairlead's own never."""
    ledger.make_topic(topic, 1)
    hidden = re.escape(ledger.names.prefix)
    with running(make_bridge(ledger, bootstrap, pattern=f"{topic}.*|{hidden}.*")):
        ledger.await_route(topic, 1)
        ledger.make_topic(f"{topic}-later", 2)
        ledger.await_route(f"{topic}-later", 2)
    ledger.read_all()
    assert [change.topic for change in ledger.routes] == [topic, f"{topic}-later"]


def test_a_request_for_another_cluster_is_left_to_its_bridge(
    ledger: Ledger, bootstrap: str, topic: str
) -> None:
    """A request for a topic whose route is another cluster's is left to that cluster's bridge."""
    other = f"{topic}-other"
    ledger.make_topic(topic, 2)
    ledger.make_topic(other, 1)
    route = Route(topic, "elsewhere", (RouteBroker("elsewhere", 6, 9, 9),))
    record = encode_route(RouteChanged(topic, route), ledger.names)
    assert record.key is not None
    ledger.write("routes", record.key, record.value)
    with running(make_bridge(ledger, bootstrap)):
        ledger.ask(route_request(topic))
        ledger.ask(route_request(other))
        ledger.await_route(other, 1)
    ledger.read_all()
    assert [change.topic for change in ledger.routes] == [topic, other]


def test_a_bridge_without_our_topics_does_not_start(bootstrap: str, topic_prefix: str) -> None:
    """Where Fairlead's topics are missing the bridge says which, and does not start."""
    bridge = KafkaBridge(control_bootstrap=bootstrap, prefix=topic_prefix)
    missing = re.escape(TopicNames(topic_prefix).name("routes"))
    with pytest.raises(EnvironmentMissingError, match=missing), running(bridge):
        pass


def test_a_cluster_that_does_not_answer_is_named(bootstrap: str, topics: TopicNames) -> None:
    """A cluster that does not answer is named, be it Fairlead's or the data's."""
    nobody = "127.0.0.1:1"
    for control, data in ((nobody, bootstrap), (bootstrap, nobody)):
        bridge = KafkaBridge(
            control_bootstrap=control, data_bootstrap=data, prefix=topics.prefix, times=TIMES
        )
        with pytest.raises(EnvironmentMissingError, match=nobody), running(bridge):
            pass


@pytest.mark.parametrize(
    "arguments, field",
    [
        ({"topics": ["bad topic"]}, "topics"),
        ({"topics": ["__consumer_offsets"]}, "topics"),
        ({"topic_pattern": "orders["}, "topic_pattern"),
        ({"cluster_name": "my cluster"}, "cluster_name"),
        ({"data_bootstrap": "x" * 256}, "data_bootstrap"),
    ],
)
def test_a_name_that_no_record_can_carry_is_refused(arguments: dict[str, str], field: str) -> None:
    """A name that no record could carry is refused before anything is asked."""
    with pytest.raises(UsageError, match=field):
        KafkaBridge(control_bootstrap="localhost:9092", **arguments)  # type: ignore[arg-type]
