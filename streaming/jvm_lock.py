"""The JVM's own lock on a checkpoint, since a JVM outlives a killed driver by a moment."""

import contextlib
import time
from collections.abc import Iterator
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from fairlead.errors import RefusedError
from streaming.checkpoint import Checkpoint

_SECONDS_MAX: Final = 30.0


@contextlib.contextmanager
def jvm_owns(spark: SparkSession, checkpoint: Checkpoint) -> Iterator[None]:
    """Have the JVM lock the checkpoint as well.

    The JVM of a killed driver lives on for a moment and may still write; the next driver waits here
    until that JVM is gone.

    Raises:
        RefusedError: another JVM keeps the lock.
    """
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - there is no public way to Java's classes
    file = jvm.java.io.RandomAccessFile(str(checkpoint.jvm_lock), "rw")
    deadline = time.monotonic() + _SECONDS_MAX
    while file.getChannel().tryLock() is None:
        if time.monotonic() > deadline:
            raise RefusedError(
                f"engine.checkpoint: a JVM still uses {checkpoint.folder}.",
                remedy="End that process: it belongs to a driver that was killed.",
            )
        time.sleep(0.1)
    try:
        yield
    finally:
        with contextlib.suppress(Py4JError, OSError):
            file.close()
