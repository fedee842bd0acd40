"""Every family that a process of ours exports, as the code has it."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fairlead_client.metrics import Families, ProducerFamilies
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric

from fairlead.bridges.figures import BridgeFigures, BridgeMetrics
from fairlead.gateway.gateway_metrics import GatewayMetrics, StateMetrics
from fairlead.kafka.topic_follower import Following
from fairlead.serve.group_families import COUNTERS, GAUGES, HISTOGRAMS, family
from fairlead.serve.native_families import NATIVE_FAMILIES
from fairlead.serve.serve_metrics import ServeMetrics
from streaming.metrics import EngineMetrics

__all__ = ["Family", "exported"]


class Family(NamedTuple):
    """A family as the page shows it: its whole name, its type, what it means."""

    name: str
    kind: str
    text: str


def exported() -> Mapping[str, Mapping[str, Family]]:
    """Return the families of each part of the page, by name: who exports them, or of what."""
    client, producer = CollectorRegistry(), CollectorRegistry()
    Families(client)
    ProducerFamilies(producer)
    nothing = Following(caught_up=False, trouble="", topics={}, read=0, wanted=0)
    return {
        "engine": _named(EngineMetrics("0").registry.collect()),
        "bridge": _named(BridgeMetrics(BridgeFigures()).collect()),
        "groups_now": _named(family(each) for each in GAUGES),
        "groups_counted": _named(family(each) for each in (*COUNTERS, *HISTOGRAMS)),
        "native": _named(family(each) for each in NATIVE_FAMILIES),
        "serve": _named(ServeMetrics(lambda: nothing).registry.collect()),
        "gateway": _named(_gateway(nothing).collect()),
        "client": _named(client.collect()),
        "producer": _named(producer.collect()),
    }


class _NoGateway(NamedTuple):
    """A gateway that does nothing."""

    following: Following
    trouble: str = ""
    sessions: int = 0


def _gateway(following: Following) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(StateMetrics(_NoGateway(following)))
    GatewayMetrics(registry)
    return registry


def _named(metrics: Iterable[Metric]) -> Mapping[str, Family]:
    named = {}
    for metric in metrics:
        name = f"{metric.name}_total" if metric.type == "counter" else metric.name
        named[name] = Family(name, metric.type, metric.documentation)
    return named
