"""Turns Spark's report of each batch into the engine's metrics (ADR 0012).

Spark calls the listener on its own thread, some time after each batch. The listener must be quick,
and its errors must not reach Spark.
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

import structlog
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark reader knows
from structlog.contextvars import bound_contextvars

from fairlead.core.model import Epoch
from streaming.metrics import EngineMetrics
from streaming.report import ShardReport, read_report

log = structlog.get_logger()

OBSERVED: Final = "shards"
"""The name of the shards' reports within Spark's report."""

PHASES: Final = {
    "triggerExecution": "total",
    "latestOffset": "latest_offset",
    "queryPlanning": "planning",
    "walCommit": "offset_log",
    "addBatch": "execution",
    "commitOffsets": "commit",
}
"""Spark's name -> our name, of the parts of a batch."""


def observe_reports(output: DataFrame, shards: int) -> DataFrame:
    """Take the shards' reports out of the output; Spark carries them to the driver.

    There is at most one such row per shard and batch, so a maximum selects it. A retried task
    counts once.
    """
    report = F.when(F.col("topic").isNull(), F.col("value").cast("string"))
    picked = [
        F.max(F.when(F.col("partition") == shard, report)).alias(str(shard))
        for shard in range(shards)
    ]
    return output.observe(OBSERVED, *picked).where(F.col("topic").isNotNull())


class ProgressListener:
    """Fills the metrics, and reports the end of the query.

    The JVM calls it directly. PySpark's ``StreamingQueryListener`` would turn every report into
    objects, field by field over a socket, which costs the JVM 100 ms of CPU per batch; here the
    report crosses once, as JSON.
    """

    def __init__(
        self,
        metrics: EngineMetrics,
        on_end: Callable[[], None],
        on_tries: Callable[[str], None] = lambda _: None,
        on_commit: Callable[[], None] = lambda: None,
    ) -> None:
        """Describe the listener.

        Args:
            metrics: the metrics to fill.
            on_end: called on Spark's thread when the query has ended.
            on_tries: called on Spark's thread with the run's id when a task of a batch has failed
                before it succeeded.
            on_commit: called on Spark's thread when a batch was committed.
        """
        self._metrics = metrics
        self._on_tries = on_tries
        self._on_commit = on_commit
        self._on_end = on_end
        self._registered: Any = None

    def register(self, spark: SparkSession) -> None:
        """Ask Spark to report from now on."""
        gateway: Any = spark.sparkContext._gateway  # noqa: SLF001 - the only way to Java's classes
        ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
        package = gateway.jvm.org.apache.spark.sql.streaming
        self._registered = package.PythonStreamingQueryListenerWrapper(self)
        _query_manager(spark).addListener(self._registered)

    def unregister(self, spark: SparkSession) -> None:
        """Ask Spark to report no more."""
        _query_manager(spark).removeListener(self._registered)

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """Do nothing: start() waits for this call."""

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """Do nothing: because of the ticks the query is never idle for long."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """Add the numbers of a batch."""
        self._on_commit()
        try:
            progress = json.loads(event.progress().json())
            with bound_contextvars(batch=progress.get("batchId")):
                if record_progress(progress, self._metrics):
                    self._on_tries(progress["runId"])
        except Exception:
            log.exception("a batch's report cannot be read; its numbers are lost")

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """Report the end."""
        if event.exception().isDefined():
            self._metrics.batches.labels("failed").inc()
        self._on_end()

    class Java:
        """The Java interface that this object implements for the JVM."""

        implements: ClassVar = ["org.apache.spark.sql.streaming.PythonStreamingQueryListener"]


def record_progress(progress: Mapping[str, Any], metrics: EngineMetrics) -> bool:
    """Add one batch to the metrics, from the JSON of Spark's ``StreamingQueryProgress``.

    Spark leaves out empty parts; a missing part adds nothing, and the rest still counts.

    Returns:
        Whether a task of the batch has failed before it succeeded.

    Raises:
        KeyError, ValueError: a shard's report is malformed.
    """
    metrics.batches.labels("committed").inc()
    metrics.last_batch.set(time.time())
    durations = progress.get("durationMs", {})
    for name, phase in PHASES.items():
        if name in durations:
            metrics.batch_duration.labels(phase).observe(durations[name] / 1000)
    for source in progress.get("sources", ()):
        for topic, records in lag(source.get("endOffset"), source.get("latestOffset")).items():
            metrics.input_lag.labels(topic).set(records)
    for operator in progress.get("stateOperators", ()):
        metrics.state_rows.labels(operator["operatorName"]).set(operator["numRowsTotal"])
        metrics.state_bytes.labels(operator["operatorName"]).set(operator["memoryUsedBytes"])
    observed = progress.get("observedMetrics", {}).get(OBSERVED, {})
    reports = {int(shard): read_report(text) for shard, text in observed.items() if text}
    for shard, report in reports.items():
        record_report(shard, report, metrics)
    metrics.recovery.log_turn()
    metrics.fullness.log_turn()
    return any(report.tries_before for report in reports.values())


def record_report(shard: int, report: ShardReport, metrics: EngineMetrics) -> None:
    """Add one shard's report of a batch."""
    metrics.add_counts(shard, report.counts)
    metrics.ages.add(report.ages)
    for each in report.decided:
        alarms = {"alarms": list(each.alarms)} if each.alarms else {}
        log.info(
            "decided",
            group=each.group,
            epoch=_epoch_text(each.epoch),
            triggers=list(each.triggers),
            moves=dict(each.moves),
            phase=each.phase,
            **alarms,
        )
    if report.decided_in_all > len(report.decided):
        log.info(
            "more decisions than are logged one by one; the decisions topic has all of them",
            shard=shard,
            decisions=report.decided_in_all,
        )
    for failure in report.failures:
        log.error(
            "a group's step failed; the group keeps its state from before the batch",
            shard=shard,
            group=failure.group,
            error=failure.error,
            traceback=failure.traceback,
        )


def _epoch_text(epoch: Epoch) -> str:
    return f"{epoch.generation}.{epoch.number}"


def lag(end: object, latest: object) -> dict[str, int]:
    """Return each topic's number of unread records, from Spark's two sets of offsets."""
    read, ends = _offsets(end), _offsets(latest)
    return {
        topic: sum(max(0, offset - read.get(topic, {}).get(p, 0)) for p, offset in parts.items())
        for topic, parts in ends.items()
    }


def _offsets(reported: object) -> Mapping[str, Mapping[str, int]]:
    """Read topic -> partition -> offset.

    Spark reports null before the first batch, and for a batch that it runs again after a restart,
    because it has not asked for the latest offsets then.
    """
    return reported if isinstance(reported, dict) else {}


def _query_manager(spark: SparkSession) -> Any:
    return spark._jsparkSession.streams()  # noqa: SLF001 - PySpark's own takes its listeners only
