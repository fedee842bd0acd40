"""The metrics that engine, `fairlead serve` and clients export, each sample with its labels."""

from collections.abc import Iterator, Mapping
from typing import Final

from fairlead_client.metrics import ClientMetrics, Families
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from fairlead.bridges.figures import BridgeFigures, BridgeMetrics
from fairlead.kafka.topic_follower import FollowedTopic, Following
from fairlead.serve.group_families import COUNTERS, GAUGES, HISTOGRAMS
from fairlead.serve.native_families import NATIVE_FAMILIES
from fairlead.serve.serve_metrics import ServeMetrics
from streaming.ages import Ages
from streaming.families import COUNTED
from streaming.metrics import EngineMetrics
from tests.monitoring.lively_gateway import add_gateway

_OF_PROMETHEUS: Final = {
    "ALERTS": frozenset({"alertname", "alertstate", "severity", "service", "group"})
}


def exported() -> Mapping[str, frozenset[str]]:
    """Return the labels of each sample that a process of ours shows, or Prometheus makes of rules.

    The samples are taken from what the processes really show once every family has a value.
    """
    shown = {
        sample.name: frozenset(sample.labels)
        for registry in (_engine(), _bridge(), _serve(), _client())
        for family in text_string_to_metric_families(generate_latest(registry).decode())
        for sample in family.samples
    }
    return {**_OF_PROMETHEUS, **shown, **dict(_of_groups())}


def _engine() -> CollectorRegistry:
    """Return the registry of a driver that has counted everything once."""
    metrics = EngineMetrics("4.2.0")
    for word, family in COUNTED.items():
        metrics.add_counts(0, {"/".join((word, *family.labels)): 1})
    metrics.batch_duration.labels("total").observe(0.3)
    metrics.input_lag.labels("heartbeats").set(0)
    metrics.state_rows.labels("state").set(4)
    metrics.state_bytes.labels("state").set(1_000)
    metrics.publish_errors.labels("timeout")
    metrics.ages.add({"heartbeat": Ages()})
    metrics.watermark.update(0, 1)
    return metrics.registry


def _bridge() -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(BridgeMetrics(BridgeFigures()))
    return registry


def _serve() -> CollectorRegistry:
    following = Following(
        caught_up=True, trouble="", topics={"decisions": FollowedTopic(0, 1)}, read=1, wanted=1
    )
    registry = ServeMetrics(lambda: following).registry
    add_gateway(registry)
    return registry


def _client() -> CollectorRegistry:
    registry = CollectorRegistry()
    ClientMetrics("orders", Families(registry))
    return registry


def _of_groups() -> Iterator[tuple[str, frozenset[str]]]:
    for family in (*GAUGES, *COUNTERS, *NATIVE_FAMILIES):
        yield family.name, frozenset(family.labels)
    for family in HISTOGRAMS:
        yield f"{family.name}_bucket", frozenset({*family.labels, "le"})
