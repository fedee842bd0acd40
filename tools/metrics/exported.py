"""Every family that a process of ours exports, as the code has it."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fairlead_client.metrics import Families, ProducerFamilies
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric

from fairlead.bridges.kafka.figures import BridgeFigures, BridgeMetrics
from fairlead.serve.following import Following
from fairlead.serve.group_families import COUNTERS, GAUGES, HISTOGRAMS, family
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
        "serve": _named(ServeMetrics(lambda: nothing).registry.collect()),
        "client": _named(client.collect()),
        "producer": _named(producer.collect()),
    }


def _named(metrics: Iterable[Metric]) -> Mapping[str, Family]:
    named = {}
    for metric in metrics:
        name = f"{metric.name}_total" if metric.type == "counter" else metric.name
        named[name] = Family(name, metric.type, metric.documentation)
    return named
