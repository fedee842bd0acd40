"""What the processes really show at /metrics: clean by promtool, with all that alerts ask for."""

import re
from collections.abc import Callable

import pytest
from fairlead_client.metrics import ClientMetrics, Families, ProducerFamilies, ProducerMetrics
from prometheus_client import CollectorRegistry, generate_latest

from fairlead.bridges.figures import BridgeFigures, BridgeMetrics
from fairlead.kafka.topic_follower import FollowedTopic, Following
from fairlead.serve.group_metrics import GroupMetrics
from fairlead.serve.serve_metrics import ServeMetrics
from streaming.metrics import EngineMetrics
from tests.kit.observed_world import Followed
from tests.kit.world import world_of
from tests.monitoring.lively_gateway import add_gateway
from tests.monitoring.promtool import promtool
from tools.alerts import ALERTS, GROWTHS
from tools.alerts.alert import BRIDGE, CLIENTS, ENGINE, SERVE, Job

ASKED = re.compile(r"\bfairlead_\w+")


def engine_registry() -> CollectorRegistry:
    """The registry of a driver that has worked."""
    metrics = EngineMetrics("4.0.1")
    metrics.add_counts(0, {"rejects/not_json": 2, "rows/read": 3, "groups_now/stable": 1})
    metrics.batch_duration.labels("total").observe(0.3)
    metrics.input_lag.labels("fairlead.heartbeats").set(3)
    metrics.state_bytes.labels("applyInPandasWithState").set(100_000)
    return metrics.registry


def bridge_registry() -> CollectorRegistry:
    """The registry of a bridge that has looked once."""
    figures = BridgeFigures()
    figures.turned()
    figures.looked(3, failed=False)
    registry = CollectorRegistry()
    registry.register(BridgeMetrics(figures))
    return registry


def client_registry() -> CollectorRegistry:
    """The registry of an application with a consumer and a producer."""
    registry = CollectorRegistry()
    consumer = ClientMetrics("orders", Families(registry))
    consumer.polled()
    consumer.revoke_took(0.2)
    producer = ProducerMetrics("orders", ProducerFamilies(registry))
    producer.attempt_succeeded("main", 12)
    producer.attempt_failed("main", 2_000, "timeout")
    return registry


def serve_registry() -> CollectorRegistry:
    """The registry of a `fairlead serve` that follows, after a join, with a gateway."""
    world = world_of("c1", "c2", queues={"orders": 12})
    followed = Followed(world)
    world.join("c3", subscribed=("orders",))
    followed.pass_seconds(8)
    snapshot = followed.view.snapshot(10)
    at = Following(
        caught_up=True, trouble="", topics={"heartbeats": FollowedTopic(3, 1_000)}, read=9, wanted=9
    )
    metrics = ServeMetrics(lambda: at)
    metrics.requests.labels("/metrics", "200").inc()
    metrics.request_seconds.labels("/metrics").observe(0.01)
    metrics.registry.register(GroupMetrics(lambda: snapshot))
    add_gateway(metrics.registry)
    return metrics.registry


REGISTRIES: dict[Job, Callable[[], CollectorRegistry]] = {
    ENGINE: engine_registry,
    BRIDGE: bridge_registry,
    SERVE: serve_registry,
    CLIENTS: client_registry,
}


@pytest.mark.parametrize("job", REGISTRIES)
def test_promtool_has_nothing_to_improve(job: Job) -> None:
    """Promtool finds nothing to improve: names, units, texts, kinds."""
    exposition = generate_latest(REGISTRIES[job]())
    assert exposition.count(b"\n") > 20
    assert promtool("check", "metrics", given=exposition) == (0, "")


def test_promtool_finds_an_unclean_family() -> None:
    """The check names a counter without its ending, and a family without a text."""
    code, said = promtool("check", "metrics", given=b"# TYPE polls counter\npolls 3\n")
    assert code != 0
    assert "polls" in said


@pytest.mark.parametrize("job", REGISTRIES)
def test_asked_metrics_exist(job: Job) -> None:
    """Every metric that an alert reads is one that its process shows."""
    text = generate_latest(REGISTRIES[job]()).decode()
    shown = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    shown |= {f"{name}_bucket" for name in shown}
    asked = {
        name
        for alert in ALERTS
        if alert.job == job
        for name in ASKED.findall(re.sub(r"\w+:\w+:\w+", "", alert.expression))
    }
    asked |= {growth.counter for growth in GROWTHS if growth.job == job}
    assert asked
    assert asked - shown == set()
