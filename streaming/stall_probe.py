"""Looks for signs of progress while a query commits no batch."""

from collections.abc import Callable, Hashable

from pyspark.sql import SparkSession

from streaming.checkpoint import Checkpoint
from streaming.health import Health


class StallProbe:
    """Reports to the health that the JVM answers and, in a long batch, what has moved in it."""

    def __init__(
        self,
        health: Health,
        checkpoint: Checkpoint,
        spark: SparkSession,
        on_failures: Callable[[], None],
    ) -> None:
        """Describe the probe.

        Args:
            health: receives the signs.
            checkpoint: the query's checkpoint.
            spark: the query's session.
            on_failures: called when further tasks of a long batch have failed.
        """
        self._health = health
        self._checkpoint = checkpoint
        self._tracker = spark.sparkContext.statusTracker()
        self._on_failures = on_failures
        self._failed: Hashable = ()

    def check(self) -> None:
        """Look for a sign; call it after the JVM has answered a request.

        Raises:
            Py4JError, OSError: the JVM is gone.
        """
        self._health.note_answer(self._sign() if self._health.wants_sign else None)

    def _sign(self) -> Hashable:
        """Return a value that changes when a batch is planned or a task succeeds.

        A failed attempt is no progress: Spark runs the same task again.
        """
        stages = [self._tracker.getStageInfo(each) for each in self._tracker.getActiveStageIds()]
        known = [stage for stage in stages if stage is not None]
        failed = sorted(
            (each.stageId, each.numFailedTasks) for each in known if each.numFailedTasks
        )
        if tuple(failed) != self._failed:
            self._failed = tuple(failed)
            if failed:
                self._on_failures()
        tasks = sorted((each.stageId, each.numCompletedTasks) for each in known)
        return self._checkpoint.newest_plan(), tuple(tasks)
