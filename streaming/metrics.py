"""The numbers of the engine.

Every family is listed in docs/metrics.md. Labels use the words of docs/protocol.md; no label names
a group, a client or a queue, so the number of series does not grow with the fleet.
"""

import time
from collections import Counter as Counts
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import prometheus_client
import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from fairlead import __version__
from fairlead.engine.outgoing import TRIGGERED_MS
from fairlead.engine.round import READ_UNTIL_MS
from fairlead.kafka.passed_over_metric import PassedOverMetric
from streaming.ages import EventAges
from streaming.clock import TickerCounts
from streaming.families import COUNTED, labels_of
from streaming.fullness import Fullness
from streaming.heap import HeapWatch
from streaming.recovery import Recovery

log = structlog.get_logger()

_SECONDS_BUCKETS: Final = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 5.0, 10.0, 30.0)


GROUPS_NOW: Final = "groups_now"
"""The word under which a shard tells how many groups it has in each phase."""


class GroupsByState(Collector):
    """How many groups are in which phase: asked at each scrape, so no old phase stays behind."""

    def __init__(self) -> None:
        self._shards: dict[int, Mapping[str, int]] = {}

    def replace(self, shard: int, groups: Mapping[str, int]) -> None:
        """Take the counts of one shard from now on."""
        self._shards = {**self._shards, shard: groups}

    def collect(self) -> Iterator[Metric]:
        """Yield one gauge with a series for each phase that has groups."""
        total: Counts[str] = Counts()
        for groups in self._shards.values():
            total.update(groups)
        family = GaugeMetricFamily(
            "fairlead_groups",
            "Groups that the engine remembers, by the phase in their last decision.",
            labels=["phase"],
        )
        for phase, count in sorted(total.items()):
            family.add_metric([phase], count)
        yield family


class WatermarkGap(Collector):
    """How far behind the shard is that has read least: asked at each scrape, by the wall clock."""

    def __init__(self) -> None:
        self._read_until_ms: dict[int, int] = {}

    def take(self, shard: int, read_until_ms: int) -> None:
        """Take the append time of the newest record of heartbeats that a shard has read."""
        self._read_until_ms = {**self._read_until_ms, shard: read_until_ms}

    def collect(self) -> Iterator[Metric]:
        """Yield the gauge; without a number until a batch has told one."""
        family = GaugeMetricFamily(
            "fairlead_watermark_gap_seconds",
            "From the append time of the newest heartbeat or tick that the shard farthest behind "
            "has read, until now. A second or two is well; it grows while batches stand still or "
            "no tick can be appended, whatever the reason.",
        )
        if self._read_until_ms:
            gap = time.time() - min(self._read_until_ms.values()) / 1_000
            family.add_metric([], max(0.0, gap))
        yield family


class TicksByOutcome(Collector):
    """How many ticks were appended or lost: the ticker counts, and is asked at each scrape."""

    def __init__(self) -> None:
        self._counts: Callable[[], TickerCounts] = lambda: TickerCounts(0, 0)

    def follow(self, counts: Callable[[], TickerCounts]) -> None:
        """Ask this function from now on."""
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        """Yield one counter with both outcomes."""
        counts = self._counts()
        family = CounterMetricFamily(
            "fairlead_ticks",
            "Ticks sent to a partition: appended, or lost because no broker took them in five "
            "seconds. Without appended ticks the clock of the log stands still: nothing is lost, "
            "and nobody lapses.",
            labels=["outcome"],
        )
        family.add_metric(["appended"], counts.appended)
        family.add_metric(["lost"], counts.lost)
        yield family


class HeapNow(Collector):
    """The JVM's heap, as the newest looks at it found it; without numbers until there is one."""

    def __init__(self) -> None:
        self._watch: HeapWatch | None = None

    def follow(self, watch: HeapWatch) -> None:
        """Ask this watch from now on."""
        self._watch = watch

    def collect(self) -> Iterator[Metric]:
        """Yield the bound, what is in use, and the time that collecting took."""
        newest = None if self._watch is None else self._watch.newest
        most = GaugeMetricFamily(
            "fairlead_jvm_heap_max_bytes", "What the heap of Spark's JVM may have at most."
        )
        used = GaugeMetricFamily(
            "fairlead_jvm_heap_used_bytes",
            "The least that was in use at any look of the last 20 s, so hardly any garbage counts. "
            "Above nine tenths of the bound the heap is nearly too small.",
        )
        collecting = CounterMetricFamily(
            "fairlead_jvm_gc_seconds",
            "Time that the JVM has stood still to collect garbage. At nine tenths of the time, and "
            "a heap that stays full, the engine ends with exit code 6.",
        )
        if self._watch is not None and newest is not None:
            most.add_metric([], newest.most)
            used.add_metric([], self._watch.used_bytes)
            collecting.add_metric([], newest.collecting)
        yield from (most, used, collecting)


class EngineMetrics:
    """All families of the driver, in a registry of their own."""

    def __init__(self, spark_version: str, restarts: int = 0) -> None:
        """Make every family, so that each is there from the first scrape on.

        Args:
            spark_version: for `build_info`.
            restarts: how often the supervisor has started the driver again.
        """
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self.groups = GroupsByState()
        self.registry.register(self.groups)
        self.recovery = Recovery()
        self.registry.register(self.recovery)
        self.fullness = Fullness()
        self.registry.register(self.fullness)
        self.ticks = TicksByOutcome()
        self.registry.register(self.ticks)
        self.ages = EventAges()
        self.registry.register(self.ages)
        self.watermark = WatermarkGap()
        self.registry.register(self.watermark)
        self.heap = HeapNow()
        self.registry.register(self.heap)
        self.registry.register(PassedOverMetric())
        self._make_driver_families(spark_version, restarts)
        self._make_batch_families()
        self._counted = {
            word: self._counter(family.name, family.text, *family.labels)
            for word, family in COUNTED.items()
        }
        for word, family in COUNTED.items():
            for value in family.known:
                self._counted[word].labels(value)

    def _make_driver_families(self, spark_version: str, restarts: int) -> None:
        self._gauge(
            "build_info", "Constant 1; the versions are in the labels.", "version", "spark"
        ).labels(__version__, spark_version).set(1)
        self.generation = self._gauge(
            "generation", "The generation of this driver; 0 until it has claimed one."
        )
        self.triggered = self._gauge(
            "trigger_timestamp_seconds",
            "When each trigger last led to a decision: the append time of the newest record that "
            "it had read, Unix time. The trigger named trigger is the periodic one (trigger_ms), "
            "which leads to a decision only if it finds something to heal.",
            "trigger",
        )
        self._triggered_ms: dict[str, int] = {}
        self.topics_wrong = self._gauge(
            "topic_settings_wrong",
            "Settings of Fairlead's topics that are not what an engine needs to start, as they "
            "were when it last looked (every 30 s); the log and fairlead doctor name each.",
        )
        self.query_restarts = self._counter(
            "query_restarts_total", "Times that --supervise has started the driver again."
        )
        self.query_restarts.inc(restarts)
        self.damaged = self._gauge(
            "damaged_checkpoints",
            "Damaged checkpoints that --recover-damaged has moved aside and nobody has deleted, as "
            "of this driver's start.",
        )

    def _make_batch_families(self) -> None:
        self.batches = self._counter(
            "batches_total",
            "Micro-batches that were committed, and queries that failed in one.",
            "outcome",
        )
        for outcome in ("committed", "failed"):
            self.batches.labels(outcome)
        self.batch_duration = Histogram(
            "fairlead_batch_duration_seconds",
            "Committed micro-batches and their parts: total, latest_offset (asking for the ends), "
            "planning, offset_log, execution (reading, deciding, writing), commit.",
            ["phase"],
            buckets=_SECONDS_BUCKETS,
            registry=self.registry,
        )
        self.publish_errors = self._counter(
            "publish_errors_total",
            "Tries of a task that failed because Kafka did not take its records: none answered in "
            "time (timeout), they were too_large or not_allowed, had too_few_replicas, or it was "
            "something other. Spark tries eight times by default; then the query dies. Counted "
            "over all drivers of a checkpoint, from 0 on.",
            "reason",
        )
        self.last_batch = self._gauge(
            "last_batch_timestamp_seconds",
            "When the last micro-batch was committed, Unix time; 0 before the first. A batch is "
            "committed at least at each tick.",
        )
        self.input_lag = self._gauge(
            "input_lag_records",
            "Records of an input topic that the last batch left unread.",
            "topic",
        )
        self.state_rows = self._gauge(
            "state_rows",
            "Rows in Spark's state store, by the operator they belong to: one per shard.",
            "operator",
        )
        self.state_bytes = self._gauge(
            "state_bytes",
            "Memory of the state store, as Spark estimates it, by operator.",
            "operator",
        )

    def take_counts(self, shard: int, counts: Mapping[str, int]) -> None:
        """Add what one shard counted in one batch.

        A name is the family's word and its labels, joined by ``/``. A name that is no family's is
        one that this driver does not show; one that does not fit its family is logged and costs
        its own number alone.
        """
        now: dict[str, int] = {}
        for name, number in counts.items():
            try:
                self._take_count(shard, name, number, now)
            except ValueError:
                log.warning("a number of a shard fits no family; it is left out", count=name[:100])
        self.groups.replace(shard, now)
        self.recovery.take(shard, counts)
        self.fullness.take(shard, counts)

    def _take_count(self, shard: int, name: str, number: int, now: dict[str, int]) -> None:
        word, _, rest = name.partition("/")
        counter = self._counted.get(word)
        if word == GROUPS_NOW:
            now[rest] = number
        elif word == TRIGGERED_MS:
            newest = max(number, self._triggered_ms.get(rest, 0))
            self._triggered_ms[rest] = newest
            self.triggered.labels(rest).set(newest / 1_000)
        elif word == READ_UNTIL_MS:
            self.watermark.take(shard, number)
        elif counter is not None:
            labels = labels_of(word, rest)
            (counter.labels(*labels) if labels else counter).inc(number * COUNTED[word].unit)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"fairlead_{name}", text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"fairlead_{name}", text, labels, registry=self.registry)
