"""The metrics of ``fairlead serve`` itself: how far it follows, and the requests it gets."""

from collections.abc import Callable, Iterator
from typing import Final

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from fairlead import __version__
from fairlead.kafka.passed_over_metric import PassedOverMetric
from fairlead.kafka.topic_follower import Following
from fairlead.serve.readiness import readiness_of

__all__ = ["FollowingMetrics", "ServeMetrics"]

_SECONDS_BUCKETS: Final = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class FollowingMetrics(Collector):
    """How far the topics were read, at each scrape."""

    def __init__(self, following: Callable[[], Following]) -> None:
        self._following = following

    def collect(self) -> Iterator[Metric]:
        """Yield how far each topic was read, and whether the view is ready."""
        following = self._following()
        behind = GaugeMetricFamily(
            "fairlead_view_lag_records",
            "Records of a topic that the view has not read yet.",
            labels=["topic"],
        )
        newest = GaugeMetricFamily(
            "fairlead_view_last_record_timestamp_seconds",
            "When the newest record that the view has read of a topic was appended, Unix time.",
            labels=["topic"],
        )
        for topic, followed in sorted(following.topics.items()):
            behind.add_metric([topic], followed.behind)
            if followed.newest_ms:
                newest.add_metric([topic], followed.newest_ms / 1_000)
        yield behind
        yield newest
        ready = GaugeMetricFamily(
            "fairlead_view_ready",
            "1 if the view follows the topics and has read what stood in them, else 0.",
        )
        ready.add_metric([], int(readiness_of(following).ready))
        yield ready


class ServeMetrics:
    """All families of ``fairlead serve`` except those of groups, in their own registry."""

    def __init__(self, following: Callable[[], Following]) -> None:
        """Create every family, so that each is there from the first scrape on."""
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self.registry.register(FollowingMetrics(following))
        self.registry.register(PassedOverMetric())
        built = Gauge("fairlead_build_info", "Constant 1.", ["version"], registry=self.registry)
        built.labels(__version__).set(1)
        self.requests = Counter(
            "fairlead_api_requests_total",
            "Requests over HTTP, by route and status.",
            ["route", "code"],
            registry=self.registry,
        )
        self.request_seconds = Histogram(
            "fairlead_api_request_seconds",
            "Time until an answer was ready.",
            ["route"],
            buckets=_SECONDS_BUCKETS,
            registry=self.registry,
        )
        self.streams = Gauge(
            "fairlead_sse_clients",
            "Streams of events that are open.",
            registry=self.registry,
        )
        self._refusals = Counter(
            "fairlead_access_refusals_total",
            "Requests that were refused because of who sent them, by reason.",
            ["reason"],
            registry=self.registry,
        )
        self._files = Counter(
            "fairlead_access_files_refused_total",
            "New contents of a file that were refused, by what the file holds.",
            ["file"],
            registry=self.registry,
        )

    def caller_refused(self, reason: str) -> None:
        """Count a request that was refused because of who sent it."""
        self._refusals.labels(reason).inc()

    def file_refused(self, what: str) -> None:
        """Count a new content of a file that was refused."""
        self._files.labels(what).inc()
