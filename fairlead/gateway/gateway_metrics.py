"""The metrics of a gateway; no label names a group, a client or a session."""

from collections.abc import Iterator
from typing import Final, Protocol

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from fairlead.gateway.outputs import REASONS
from fairlead.kafka.topic_follower import Following

__all__ = ["GatewayMetrics", "GatewayState", "StateMetrics"]

_SECONDS: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_WRITTEN: Final = ("heartbeats", "releases", "handovers")
_BYTES: Final = (256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 65_536)


class GatewayState(Protocol):
    """What a scrape asks a gateway for."""

    @property
    def following(self) -> Following:
        """How far it has read the log."""

    @property
    def trouble(self) -> str:
        """Why it is not ready; empty: it is."""

    @property
    def sessions(self) -> int:
        """How many sessions it serves."""


class StateMetrics(Collector):
    """What a gateway is doing, at each scrape."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    def collect(self) -> Iterator[Metric]:
        """Yield whether it is ready, its sessions, and how far behind the log it is."""
        ready = GaugeMetricFamily(
            "fairlead_gateway_ready",
            "1 if the gateway follows the log, has read it to its end and can write, else 0.",
        )
        sessions = GaugeMetricFamily(
            "fairlead_gateway_sessions",
            "Sessions that this gateway has answered last, and whose lease goes on.",
        )
        behind = GaugeMetricFamily(
            "fairlead_gateway_lag_records",
            "Records of a topic that the gateway has not read yet.",
            labels=["topic"],
        )
        ready.add_metric([], int(not self._state.trouble))
        sessions.add_metric([], self._state.sessions)
        for topic, followed in sorted(self._state.following.topics.items()):
            behind.add_metric([topic], followed.behind)
        yield ready
        yield sessions
        yield behind


class GatewayMetrics:
    """What a gateway counts.

    Args:
        registry: where the families are registered.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.polls = Counter(
            "fairlead_gateway_polls_total",
            "Polls by how they ended: news, quiet (the wait was over), superseded (a newer poll of "
            "the session came), left, lost (the session is over) or refused.",
            ["outcome"],
            registry=registry,
        )
        self.joins = Counter(
            "fairlead_gateway_joins_total",
            "Joins by how they ended: joined or refused.",
            ["outcome"],
            registry=registry,
        )
        self.lost = Counter(
            "fairlead_gateway_sessions_lost_total",
            "Sessions that the gateway has ended, by reason.",
            ["reason"],
            registry=registry,
        )
        self.refused = Counter(
            "fairlead_gateway_refused_total",
            "Requests that were refused, by the kind of the refusal; lost sessions are not among "
            "them.",
            ["kind"],
            registry=registry,
        )
        self._make_flows(registry)
        # From the first scrape on: an increase from nothing to one is not seen.
        for reason in REASONS:
            self.lost.labels(reason)
        for topic in _WRITTEN:
            for outcome in ("appended", "failed"):
                self.appends.labels(topic, outcome)

    def _make_flows(self, registry: CollectorRegistry) -> None:
        self.requests = Counter(
            "fairlead_gateway_requests_total",
            "Requests by route and status.",
            ["route", "code"],
            registry=registry,
        )
        self.request_seconds = Histogram(
            "fairlead_gateway_request_seconds",
            "Time until an answer was ready; of polls most of it is the wait for news.",
            ["route"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.appends = Counter(
            "fairlead_gateway_appends_total",
            "Appends to a topic: appended, or failed (the records may not be in the log).",
            ["topic", "outcome"],
            registry=registry,
        )
        self.heartbeat_seconds = Histogram(
            "fairlead_gateway_heartbeat_seconds",
            "Time from the receipt of a poll or a join until the brokers acknowledged its "
            "heartbeat.",
            buckets=_SECONDS,
            registry=registry,
        )
        self.news_seconds = Histogram(
            "fairlead_gateway_news_seconds",
            "Time from the append of a record until the answer that tells of it, of polls that "
            "waited when it came; the brokers' clocks against this machine's.",
            buckets=_SECONDS,
            registry=registry,
        )
        self.state_bytes = Histogram(
            "fairlead_gateway_state_bytes",
            "Length of the state in an answer.",
            buckets=_BYTES,
            registry=registry,
        )
