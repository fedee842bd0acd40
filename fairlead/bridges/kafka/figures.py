"""What a bridge does, in figures: for `/metrics`, and for `/readyz` as a verdict."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

__all__ = ["BridgeFigures", "BridgeMetrics", "BridgeVerdict"]

_PATIENCE_LOOKS: Final = 5
_PATIENCE_SECONDS_MIN: Final = 15.0
"""A look may take three answers of a cluster, of five seconds each."""

State = Literal["starting", "running", "look_ups_fail", "stalled"]


@dataclass(frozen=True, slots=True)
class BridgeVerdict:
    """What a bridge is doing: one word, and the same for people, with numbers."""

    state: State
    reason: str
    topics: int
    last_look_seconds: float | None

    @property
    def ready(self) -> bool:
        """Whether routes are carried and requests answered."""
        return self.state == "running"


@dataclass(slots=True)
class BridgeFigures:
    """Counted by the bridge's own thread, one field at a time; read by any.

    Attributes:
        poll_ms: between two looks.
        clock: seconds that never go back.
        now: seconds since 1970.
        topics: watched at the last look.
        looks: at the watched topics, that the data cluster answered.
        failed_looks: that it did not answer, or not for a topic.
        last_look: when the data cluster last answered one, by `now`; 0: never.
        requests: that were read.
        refused: records that were no request or route.
        answered: requests that were answered in full.
        last_answer: when a route or offsets were last written, by `now`; 0: never.
        waiting: requests that wait for an answer.
        failed_writes: records that the control cluster did not take.
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
        """The loop goes on."""
        self._turned_at = self.clock()

    def looked(self, topics: int, *, failed: bool) -> None:
        """The topics were looked at; ``failed``: the data cluster did not answer for one."""
        self.topics = topics
        self._last_failed = failed
        if failed:
            self.failed_looks += 1
            return
        self.looks += 1
        self.last_look = self.now()
        self._looked_at = self.clock()

    def wrote(self) -> None:
        """A route or offsets are in the log."""
        self.last_answer = self.now()

    def verdict(self) -> BridgeVerdict:
        """Say what the bridge is doing now."""
        now = self.clock()
        state, reason = self._judge(now)
        since = None if self._looked_at is None else round(now - self._looked_at, 3)
        return BridgeVerdict(state, reason, self.topics, since)

    def _judge(self, now: float) -> tuple[State, str]:
        if self._turned_at is None:
            return "starting", "the routes that stand already are being read"
        patience = max(_PATIENCE_LOOKS * self.poll_ms / 1_000, _PATIENCE_SECONDS_MIN)
        still = now - self._turned_at
        if still > patience:
            return (
                "stalled",
                f"the loop has stood still for {still:.0f} s: a cluster does not answer",
            )
        if self._looked_at is None:
            return "starting", "no look at the topics is over yet"
        if self._last_failed and now - self._looked_at > patience:
            return "look_ups_fail", (
                f"the data cluster has not told the topics for {now - self._looked_at:.0f} s; "
                "routes stay as they are, and it goes on by itself"
            )
        return "running", f"{self.topics} topics were looked at {now - self._looked_at:.1f} s ago"


class BridgeMetrics(Collector):
    """The families of a bridge, asked at each scrape."""

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
                "When the data cluster last told all watched topics; 0: it has not yet.",
                of.last_look,
            ),
            (
                "last_answer_timestamp_seconds",
                "When the bridge last wrote a route or offsets; 0: it has not yet.",
                of.last_answer,
            ),
        )
        counters: tuple[tuple[str, str, int], ...] = (
            ("requests", "Requests of the engine that were read.", of.requests),
            ("requests_answered", "Requests that were answered in full.", of.answered),
            (
                "records_refused",
                "Requests and routes that are not what the protocol says: logged and passed over.",
                of.refused,
            ),
            (
                "write_errors",
                "Routes and offsets that the control cluster did not take; they are written again.",
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
            "tell one of them.",
            labels=["outcome"],
        )
        looks.add_metric(["answered"], of.looks)
        looks.add_metric(["failed"], of.failed_looks)
        yield looks
