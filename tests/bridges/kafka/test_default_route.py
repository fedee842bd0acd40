"""The default route that the bridge publishes for producers."""

import structlog

from fairlead.bridges.kafka.bridge import BridgeTimes, KafkaBridge
from fairlead.core.model import Route, RouteBroker
from fairlead.core.records import RouteChanged
from fairlead.wire.encode_bridge import encode_route
from tests.kit.bridge import running
from tests.kit.bridge_ledger import Ledger


def make_bridge(
    ledger: Ledger, bootstrap: str, queue_nums: int, pattern: str | None = None
) -> KafkaBridge:
    """A quick bridge of cluster ``main`` with a default route of so many queues."""
    return KafkaBridge(
        control_bootstrap=bootstrap,
        prefix=ledger.names.prefix,
        cluster_name="main",
        topic_pattern=pattern,
        times=BridgeTimes(poll_ms=200, discovery_ms=200),
        default_topic_queue_nums=queue_nums,
    )


def test_the_default_route_follows_its_setting(ledger: Ledger, bootstrap: str, topic: str) -> None:
    """The default route stands once, changes with the setting, and goes when there is none."""
    nobody = f"{topic}-nobody"
    with running(make_bridge(ledger, bootstrap, 8, nobody)):
        route = ledger.await_route("TBW102", 8).route
    broker = RouteBroker("main", 7, 8, 8, cluster="main", addresses={"0": bootstrap})
    assert route == Route("TBW102", "default", (broker,))
    with running(make_bridge(ledger, bootstrap, 4, nobody)):
        ledger.await_route("TBW102", 4)
    with running(make_bridge(ledger, bootstrap, 0)):
        ledger.await_route("TBW102", None)
    ledger.read_all()
    assert [change.topic for change in ledger.routes] == ["TBW102"] * 3


def test_all_topics_are_routed(ledger: Ledger, bootstrap: str, topic: str) -> None:
    """With a default route a topic that is there has its own, though nobody has asked for it."""
    ledger.make_topic(topic, 3)
    with running(make_bridge(ledger, bootstrap, 8)):
        ledger.await_route(topic, 3)


def test_of_another_cluster(ledger: Ledger, bootstrap: str, topic: str) -> None:
    """The default route of another cluster is left to it."""
    foreign = Route("TBW102", "default", (RouteBroker("elsewhere", 7, 8, 8),))
    record = encode_route(RouteChanged("TBW102", foreign), ledger.names)
    assert record.key is not None
    ledger.write("routes", record.key, record.value)
    ledger.make_topic(topic, 1)
    with structlog.testing.capture_logs(), running(make_bridge(ledger, bootstrap, 8, topic)):
        ledger.await_route(topic, 1)
    ledger.read_all()
    assert [change.topic for change in ledger.routes] == ["TBW102", topic]
