"""Looks for signs that a query goes on, while no batch of it is committed."""

from collections.abc import Callable, Hashable

from pyspark.sql import SparkSession

from streaming.checkpoint import Checkpoint
from streaming.health import Health


class Pulse:
    """Tells the health that the JVM answers, and, in a long batch, what has moved in it."""

    def __init__(
        self,
        health: Health,
        checkpoint: Checkpoint,
        spark: SparkSession,
        on_failures: Callable[[], None],
    ) -> None:
        """Describe the looks.

        Args:
            health: is told.
            checkpoint: of the query.
            spark: its session.
            on_failures: called when more tries of a long batch's tasks have failed.
        """
        self._health = health
        self._checkpoint = checkpoint
        self._tracker = spark.sparkContext.statusTracker()
        self._on_failures = on_failures
        self._failed: Hashable = ()

    def feel(self) -> None:
        """Look once; call it after the JVM has answered something.

        Raises:
            Py4JError, OSError: the JVM is gone.
        """
        self._health.looked(self._sign() if self._health.wants_sign else None)

    def _sign(self) -> Hashable:
        """Return what differs when a batch was planned, or a task has ended well.

        A try that failed is no step forward: Spark runs the same task again.
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
