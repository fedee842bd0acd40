"""A bridge's figures: metrics for `/metrics`, and a verdict for `/readyz`."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

__all__ = ["BridgeFigures", "BridgeMetrics", "BridgeVerdict"]

_PATIENCE_LOOKS: Final = 5
_PATIENCE_SECONDS_MIN: Final = 15.0
"""A look may need three answers of a cluster, five seconds each."""

State = Literal["starting", "running", "look_ups_fail", "stalled"]


@dataclass(frozen=True, slots=True)
class BridgeVerdict:
    """What a bridge is doing: one word, and a sentence with numbers."""

    state: State
    reason: str
    topics: int
    last_look_seconds: float | None

    @property
    def ready(self) -> bool:
        """Whether the bridge carries routes and answers requests."""
        return self.state == "running"


@dataclass(slots=True)
class BridgeFigures:
    """The figures. The bridge's thread writes them, one field at a time; any thread may read.

    Attributes:
        poll_ms: the time between two looks.
        clock: monotonic seconds.
        now: seconds since 1970.
        topics: the number of watched topics at the last look.
        looks: looks at the watched topics that the data cluster answered.
        failed_looks: looks that it did not answer, or not for every topic.
        last_look: when the data cluster last answered a look, by `now`; 0: never.
        requests: requests read.
        refused: records that were neither a request nor a route.
        answered: requests answered in full.
        last_answer: when the bridge last wrote a route or offsets, by `now`; 0: never.
        waiting: requests that wait for an answer.
        failed_writes: records that the control cluster did not accept.
    """

    poll_ms: int = 2_000
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    topics: int = 0
    looks: int = 0
    failed_looks: int = 0
    last_look: float = 0.0
    requests: int = 0
    refused: int = 0
    answered: int = 0
    last_answer: float = 0.0
    waiting: int = 0
    failed_writes: int = 0
    _looked_at: float | None = None
    _last_failed: bool = field(default=False)
    _turned_at: float | None = None

    def turned(self) -> None:
        """Note that the loop runs."""
        self._turned_at = self.clock()

    def looked(self, topics: int, *, failed: bool) -> None:
        """Note a look at the topics; ``failed``: the data cluster did not answer for one."""
        self.topics = topics
        self._last_failed = failed
        if failed:
            self.failed_looks += 1
            return
        self.looks += 1
        self.last_look = self.now()
        self._looked_at = self.clock()

    def wrote(self) -> None:
        """Note that a route or offsets were written."""
        self.last_answer = self.now()

    def verdict(self) -> BridgeVerdict:
        """Return what the bridge is doing now."""
        now = self.clock()
        state, reason = self._judge(now)
        since = None if self._looked_at is None else round(now - self._looked_at, 3)
        return BridgeVerdict(state, reason, self.topics, since)

    def _judge(self, now: float) -> tuple[State, str]:
        if self._turned_at is None:
            return "starting", "reading the existing routes"
        patience = max(_PATIENCE_LOOKS * self.poll_ms / 1_000, _PATIENCE_SECONDS_MIN)
        still = now - self._turned_at
        if still > patience:
            return (
                "stalled",
                f"the loop has stood still for {still:.0f} s: a cluster does not answer",
            )
        if self._looked_at is None:
            return "starting", "first look at the topics not finished yet"
        if self._last_failed and now - self._looked_at > patience:
            return "look_ups_fail", (
                f"the data cluster has not described the topics for {now - self._looked_at:.0f} s; "
                "routes stay as they are, and the bridge goes on by itself"
            )
        return "running", f"looked at {self.topics} topics {now - self._looked_at:.1f} s ago"


class BridgeMetrics(Collector):
    """The metric families of a bridge, built at each scrape."""

    def __init__(self, figures: BridgeFigures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """Yield each family."""
        of = self._figures
        gauges: tuple[tuple[str, str, float], ...] = (
            ("topics", "Topics that the bridge watches.", of.topics),
            ("requests_waiting", "Requests that wait for an answer.", of.waiting),
            (
                "last_look_timestamp_seconds",
                "When the data cluster last described all watched topics; 0: not yet.",
                of.last_look,
            ),
            (
                "last_answer_timestamp_seconds",
                "When the bridge last wrote a route or offsets; 0: not yet.",
                of.last_answer,
            ),
        )
        counters: tuple[tuple[str, str, int], ...] = (
            ("requests", "Requests read.", of.requests),
            ("requests_answered", "Requests answered in full.", of.answered),
            (
                "records_refused",
                "Requests and routes that break the protocol; the bridge logs and skips them.",
                of.refused,
            ),
            (
                "write_errors",
                "Routes and offsets that the control cluster did not accept; the bridge retries.",
                of.failed_writes,
            ),
        )
        for name, text, value in gauges:
            yield GaugeMetricFamily(f"fairlead_bridge_{name}", text, value=value)
        for name, text, count in counters:
            yield CounterMetricFamily(f"fairlead_bridge_{name}", text, value=count)
        looks = CounterMetricFamily(
            "fairlead_bridge_looks",
            "Looks at the watched topics: answered, or failed because the data cluster did not "
            "describe one of them.",
            labels=["outcome"],
        )
        looks.add_metric(["answered"], of.looks)
        looks.add_metric(["failed"], of.failed_looks)
        yield looks
