"""The engine's metrics.

docs/metrics.md lists every family. Labels use the words of docs/protocol.md; no label names a
group, a client or a queue, so the number of series does not grow with the fleet.
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
from fairlead.engine.round import GROUPS_NOW, READ_UNTIL_MS, RECOVERING_NOW
from fairlead.engine.state_share import FULL_NOW
from fairlead.kafka.passed_over_metric import PassedOverMetric
from streaming.ages import EventAges
from streaming.clock import TickerCounts
from streaming.families import COUNTED, labels_of
from streaming.full_shards import FullShards
from streaming.heap import HeapWatch
from streaming.recovering_shards import RecoveringShards

log = structlog.get_logger()

_SECONDS_BUCKETS: Final = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 5.0, 10.0, 30.0)

OF_NOW: Final = frozenset((GROUPS_NOW, TRIGGERED_MS, READ_UNTIL_MS, RECOVERING_NOW, FULL_NOW))
"""The shards' words that are no counters: they say how things are."""


class GroupsByState(Collector):
    """The number of groups in each phase, built at each scrape so that no old phase stays."""

    def __init__(self) -> None:
        self._shards: dict[int, Mapping[str, int]] = {}

    def replace(self, shard: int, groups: Mapping[str, int]) -> None:
        """Replace the counts of one shard."""
        self._shards = {**self._shards, shard: groups}

    def collect(self) -> Iterator[Metric]:
        """Yield one gauge with a series for each phase that has groups."""
        total: Counts[str] = Counts()
        for groups in self._shards.values():
            total.update(groups)
        family = GaugeMetricFamily(
            "fairlead_groups",
            "Groups that the engine remembers, by the phase of their last decision.",
            labels=["phase"],
        )
        for phase, count in sorted(total.items()):
            family.add_metric([phase], count)
        yield family


class WatermarkGap(Collector):
    """How far the slowest shard is behind the wall clock, built at each scrape."""

    def __init__(self) -> None:
        self._read_until_ms: dict[int, int] = {}

    def update(self, shard: int, read_until_ms: int) -> None:
        """Note the append time of the newest record of heartbeats that a shard has read."""
        self._read_until_ms = {**self._read_until_ms, shard: read_until_ms}

    def collect(self) -> Iterator[Metric]:
        """Yield the gauge, without a value until a batch has reported one."""
        family = GaugeMetricFamily(
            "fairlead_watermark_gap_seconds",
            "Now minus the append time of the newest heartbeat or tick that the slowest shard has "
            "read. One or two seconds are normal; it grows while batches stand still or no tick "
            "can be appended.",
        )
        if self._read_until_ms:
            gap = time.time() - min(self._read_until_ms.values()) / 1_000
            family.add_metric([], max(0.0, gap))
        yield family


class TicksByOutcome(Collector):
    """The ticker's counts of appended and lost ticks, read at each scrape."""

    def __init__(self) -> None:
        self._counts: Callable[[], TickerCounts] = lambda: TickerCounts(0, 0)

    def follow(self, counts: Callable[[], TickerCounts]) -> None:
        """Read the counts from this function from now on."""
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        """Yield one counter with both outcomes."""
        counts = self._counts()
        family = CounterMetricFamily(
            "fairlead_ticks",
            "Ticks sent to a partition: appended, or lost because no broker accepted them within "
            "five seconds. Without appended ticks the clock of the log stands still: nothing is "
            "lost, and no member lapses.",
            labels=["outcome"],
        )
        family.add_metric(["appended"], counts.appended)
        family.add_metric(["lost"], counts.lost)
        yield family


class HeapNow(Collector):
    """The newest readings of the JVM's heap; without values before the first reading."""

    def __init__(self) -> None:
        self._watch: HeapWatch | None = None

    def follow(self, watch: HeapWatch) -> None:
        """Read from this watch from now on."""
        self._watch = watch

    def collect(self) -> Iterator[Metric]:
        """Yield the largest size, the use, and the time spent on collecting."""
        newest = None if self._watch is None else self._watch.newest
        most = GaugeMetricFamily(
            "fairlead_jvm_heap_max_bytes", "Largest size of the heap of Spark's JVM."
        )
        used = GaugeMetricFamily(
            "fairlead_jvm_heap_used_bytes",
            "Smallest heap use in the last 20 s, so hardly any garbage counts. Above 90 % of the "
            "largest size the heap is nearly too small.",
        )
        collecting = CounterMetricFamily(
            "fairlead_jvm_gc_seconds",
            "Time that the JVM has paused for garbage collection. At 90 % of the time with a heap "
            "that stays full, the engine ends with exit code 6.",
        )
        if self._watch is not None and newest is not None:
            most.add_metric([], newest.most)
            used.add_metric([], self._watch.used_bytes)
            collecting.add_metric([], newest.collecting)
        yield from (most, used, collecting)


class EngineMetrics:
    """All metric families of the driver, in their own registry."""

    def __init__(self, spark_version: str, restarts: int = 0) -> None:
        """Create every family, so that the first scrape shows all of them.

        Args:
            spark_version: for `build_info`.
            restarts: how often the supervisor has restarted the driver.
        """
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self.groups = GroupsByState()
        self.registry.register(self.groups)
        self.recovery = RecoveringShards()
        self.registry.register(self.recovery)
        self.fullness = FullShards()
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
        self._unknown: set[str] = set()
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
            "the decision had read, Unix time. The trigger named trigger is the periodic one "
            "(trigger_ms); it leads to a decision only if there is something to heal.",
            "trigger",
        )
        self._triggered_ms: dict[str, int] = {}
        self.topics_wrong = self._gauge(
            "topic_settings_wrong",
            "Topic settings with which an engine would refuse to start, at the last check (every "
            "30 s); the log and fairlead doctor name each.",
        )
        self.query_restarts = self._counter(
            "query_restarts_total", "Times that --supervise has restarted the driver."
        )
        self.query_restarts.inc(restarts)
        self.damaged = self._gauge(
            "damaged_checkpoints",
            "Damaged checkpoints that --recover-damaged has moved aside and that nobody had "
            "deleted at this driver's start.",
        )

    def _make_batch_families(self) -> None:
        self.batches = self._counter(
            "batches_total",
            "Committed micro-batches, and micro-batches in which the query failed.",
            "outcome",
        )
        for outcome in ("committed", "failed"):
            self.batches.labels(outcome)
        self.batch_duration = Histogram(
            "fairlead_batch_duration_seconds",
            "Duration of committed micro-batches and their parts: total, latest_offset (asking for "
            "the ends), planning, offset_log, execution (reading, deciding, writing), commit.",
            ["phase"],
            buckets=_SECONDS_BUCKETS,
            registry=self.registry,
        )
        self.publish_errors = self._counter(
            "publish_errors_total",
            "Attempts of a task that failed because Kafka did not accept its records, by reason: "
            "no answer in time (timeout), too_large, not_allowed, too_few_replicas, or other. "
            "Spark tries eight times by default; then the query dies. Counted over all drivers of "
            "a checkpoint.",
            "reason",
        )
        self.last_batch = self._gauge(
            "last_batch_timestamp_seconds",
            "When the last micro-batch was committed, Unix time; 0 before the first. The engine "
            "commits at least one batch per tick.",
        )
        self.input_lag = self._gauge(
            "input_lag_records",
            "Records of an input topic that the last batch has left unread.",
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

    def add_counts(self, shard: int, counts: Mapping[str, int]) -> None:
        """Add what one shard counted in one batch.

        A name is the family's word and its labels, joined by ``/``. A word of no family is logged
        once; a name that does not fit its family is logged, and only its own number is lost.
        """
        now: dict[str, int] = {}
        for name, number in counts.items():
            try:
                self._add_count(shard, name, number, now)
            except ValueError:
                log.warning("a shard's count fits no family; ignored", count=name[:100])
        self.groups.replace(shard, now)
        self.recovery.update(shard, counts)
        self.fullness.update(shard, counts)

    def _add_count(self, shard: int, name: str, number: int, now: dict[str, int]) -> None:
        word, _, rest = name.partition("/")
        counter = self._counted.get(word)
        if word == GROUPS_NOW:
            now[rest] = number
        elif word == TRIGGERED_MS:
            newest = max(number, self._triggered_ms.get(rest, 0))
            self._triggered_ms[rest] = newest
            self.triggered.labels(rest).set(newest / 1_000)
        elif word == READ_UNTIL_MS:
            self.watermark.update(shard, number)
        elif counter is not None:
            labels = labels_of(word, rest)
            (counter.labels(*labels) if labels else counter).inc(number * COUNTED[word].unit)
        elif word not in OF_NOW and word not in self._unknown:
            self._unknown.add(word)
            log.warning("shards count what no metric shows; ignored", word=word)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"fairlead_{name}", text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"fairlead_{name}", text, labels, registry=self.registry)
