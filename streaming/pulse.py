"""Looks for signs that a query goes on, while no batch of it is committed."""

from collections.abc import Hashable

from pyspark.sql import SparkSession

from streaming.checkpoint import Checkpoint
from streaming.health import Health


class Pulse:
    """Tells the health that the JVM answers, and, in a long batch, what has moved in it."""

    def __init__(self, health: Health, checkpoint: Checkpoint, spark: SparkSession) -> None:
        self._health = health
        self._checkpoint = checkpoint
        self._tracker = spark.sparkContext.statusTracker()

    def feel(self) -> None:
        """Look once; call it after the JVM has answered something.

        Raises:
            Py4JError, OSError: the JVM is gone.
        """
        self._health.looked(self._sign() if self._health.wants_sign else None)

    def _sign(self) -> Hashable:
        """Return what differs when a batch was planned, or a task has ended well or badly."""
        stages = [self._tracker.getStageInfo(each) for each in self._tracker.getActiveStageIds()]
        tasks = sorted(
            (stage.stageId, stage.numCompletedTasks, stage.numFailedTasks)
            for stage in stages
            if stage is not None
        )
        return self._checkpoint.newest_plan(), tuple(tasks)
