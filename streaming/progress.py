"""From Spark's reports of its batches to the numbers of the engine.

Spark calls the listener on a thread of its own, some time after each batch. It must be quick, and
what goes wrong in it must not reach Spark.
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import structlog
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark reader knows
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
    StreamingQueryProgress,
)

from streaming.metrics import EngineMetrics
from streaming.report import ShardReport, read_report

log = structlog.get_logger()

OBSERVED: Final = "shards"
"""The name under which the reports of a batch travel in Spark's report."""

PHASES: Final = {
    "triggerExecution": "total",
    "latestOffset": "latest_offset",
    "queryPlanning": "planning",
    "walCommit": "offset_log",
    "addBatch": "execution",
    "commitOffsets": "commit",
}
"""Spark's names of the parts of a batch, and ours."""


def observe_reports(output: DataFrame, shards: int) -> DataFrame:
    """Take the reports of the shards out of the output; Spark carries them to the driver.

    There is at most one such row per shard and batch, so a maximum picks it. A task that is tried
    again is counted once.
    """
    report = F.when(F.col("topic").isNull(), F.col("value").cast("string"))
    picked = [
        F.max(F.when(F.col("partition") == shard, report)).alias(str(shard))
        for shard in range(shards)
    ]
    return output.observe(OBSERVED, *picked).where(F.col("topic").isNotNull())


class ProgressListener(StreamingQueryListener):
    """Fills the metrics, and says when the query has ended."""

    def __init__(self, metrics: EngineMetrics, on_end: Callable[[], None]) -> None:
        """Describe the listener; `on_end` is called on Spark's thread."""
        self._metrics = metrics
        self._on_end = on_end

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """Nothing: start() waits for this call."""

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802 - Spark's name
        """Nothing: ticks make sure that it is never idle for long."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 - Spark's name
        """Take over the numbers of a batch."""
        try:
            take_progress(event.progress, self._metrics)
        except Exception:
            log.exception("a report of a batch could not be read; its numbers are lost")

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 - Spark's name
        """Pass the end on."""
        if event.exception is not None:
            self._metrics.batches.labels("failed").inc()
        self._on_end()


def take_progress(progress: StreamingQueryProgress, metrics: EngineMetrics) -> None:
    """Add one batch to the metrics."""
    metrics.batches.labels("committed").inc()
    metrics.last_batch.set(time.time())
    for name, phase in PHASES.items():
        if name in progress.durationMs:
            metrics.batch_duration.labels(phase).observe(progress.durationMs[name] / 1000)
    for source in progress.sources:
        for topic, records in lag(source.endOffset, source.latestOffset).items():
            metrics.input_lag.labels(topic).set(records)
    for operator in progress.stateOperators:
        metrics.state_rows.set(operator.numRowsTotal)
        metrics.state_bytes.set(operator.memoryUsedBytes)
    observed = progress.observedMetrics.get(OBSERVED)
    if observed is not None:
        for shard, text in observed.asDict().items():
            if text is not None:
                take_report(int(shard), read_report(text), metrics)


def take_report(shard: int, report: ShardReport, metrics: EngineMetrics) -> None:
    """Add what one shard told of a batch."""
    metrics.take_counts(shard, report.counts)
    for failure in report.failures:
        log.error(
            "a step failed, its group was set back",
            shard=shard,
            group=failure.group,
            error=failure.error,
            traceback=failure.traceback,
        )


def lag(end: str | None, latest: str | None) -> dict[str, int]:
    """Return how far each topic's end is ahead of what was read, from Spark's two offset texts."""
    read, ends = _offsets(end), _offsets(latest)
    return {
        topic: sum(max(0, offset - read.get(topic, {}).get(p, 0)) for p, offset in parts.items())
        for topic, parts in ends.items()
    }


def _offsets(text: str | None) -> Mapping[str, Mapping[str, int]]:
    """Read topic -> partition -> offset.

    Spark says "null" or nothing before the first batch. Of a batch that is run again after a death
    it has not looked for the latest offsets, and PySpark writes that as "None".
    """
    found: Any = json.loads(text) if text and text != "None" else None
    return found if isinstance(found, dict) else {}
