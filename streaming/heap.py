"""Watches how full the JVM's heap is, and what share of its time the JVM collects garbage.

A heap that is slightly too small does not end Java: each collection frees a little, so Java
collects all the time and the engine nearly stands still. Only this watch notices it.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import structlog
from pyspark.sql import SparkSession

from fairlead.settings import EngineSettings
from streaming.jvm_end import HeapExhaustedError

__all__ = ["HeapReading", "HeapWatch", "JvmHeap"]

log = structlog.get_logger()

_LOOK_SECONDS: Final = 2.0
_WINDOW_SECONDS: Final = 20.0
"""Java has limits of the same kind, but only some of its collectors apply them."""

_TIGHT_USED, _TIGHT_COLLECTING = 0.9, 0.5
_FULL_USED, _FULL_COLLECTING = 0.85, 0.9
_CONCURRENT: Final = ("Concurrent", "Cycles")
"""Collectors that run beside the program, so their time is no pause."""


@dataclass(frozen=True, slots=True)
class HeapReading:
    """The heap's figures at one moment.

    Attributes:
        at: the moment, on the watch's clock.
        used: bytes in use, garbage included.
        most: the largest size of the heap, in bytes.
        collecting: seconds that the JVM has paused for its collectors since its start.
    """

    at: float
    used: int
    most: int
    collecting: float


class JvmHeap:
    """Reads the heap's figures through the classes that Spark uses for its own metrics."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._gauges: tuple[Any, Any, list[Any]] | None = None

    def read(self, at: float) -> HeapReading:
        """Return the current figures.

        Raises:
            Py4JError, OSError: the JVM is gone.
        """
        if self._gauges is None:
            self._gauges = self._find_gauges()
        used, most, times = self._gauges
        collecting = sum(int(each.getValue()) for each in times) / 1_000
        return HeapReading(at, int(used.getValue()), int(most.getValue()), collecting)

    def _find_gauges(self) -> tuple[Any, Any, list[Any]]:
        gateway: Any = self._spark.sparkContext._gateway  # noqa: SLF001 - the only way to Java's classes
        package = gateway.jvm.com.codahale.metrics.jvm
        memory = package.MemoryUsageGaugeSet().getMetrics()
        collectors = package.GarbageCollectorMetricSet().getMetrics()
        times = [
            collectors.get(name)
            for name in map(str, collectors.keySet())
            if name.endswith(".time") and not any(word in name for word in _CONCURRENT)
        ]
        return memory.get("heap.used"), memory.get("heap.max"), times


class HeapWatch:
    """Reads the heap regularly and judges the readings of the last seconds."""

    def __init__(
        self,
        read: Callable[[float], HeapReading],
        engine: EngineSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Describe the watch.

        Args:
            read: reads the JVM's figures, given the moment.
            engine: names the setting in messages.
            clock: monotonic seconds.
        """
        self._read = read
        self._engine = engine
        self._clock = clock
        self._readings: deque[HeapReading] = deque()
        self._warned = False

    @property
    def newest(self) -> HeapReading | None:
        """The last reading; None before the first."""
        return self._readings[-1] if self._readings else None

    @property
    def used_bytes(self) -> int:
        """The smallest use in the window: what no collection frees."""
        return min((each.used for each in self._readings), default=0)

    def check(self) -> None:
        """Read the heap if a reading is due.

        Raises:
            HeapExhaustedError: during the whole window the JVM did hardly anything but collect,
                and freed hardly anything.
            Py4JError, OSError: the JVM is gone.
        """
        now = self._clock()
        if self._readings and now - self._readings[-1].at < _LOOK_SECONDS:
            return
        self._readings.append(self._read(now))
        # One reading as old as the window stays, so that the window is covered.
        while len(self._readings) > 1 and now - self._readings[1].at >= _WINDOW_SECONDS:
            self._readings.popleft()
        if self._is(_FULL_USED, _FULL_COLLECTING):
            raise HeapExhaustedError(self._engine, self._summary())
        tight = self.pressure
        if tight and not self._warned:
            log.warning("the Java heap is nearly too small", reason=self._summary())
        self._warned = bool(tight)

    @property
    def pressure(self) -> str:
        """What is wrong with the heap, in words; empty if nothing is."""
        tight = self._is(_TIGHT_USED, 0.0) or self._is(0.0, _TIGHT_COLLECTING)
        return f"the Java heap is nearly too small: {self._summary()}" if tight else ""

    def _is(self, used: float, collecting: float) -> bool:
        readings = self._readings
        return (
            len(readings) > 1
            and readings[-1].at - readings[0].at >= _WINDOW_SECONDS
            and self.used_bytes >= used * readings[-1].most
            and self._share() >= collecting
        )

    def _share(self) -> float:
        first, last = self._readings[0], self._readings[-1]
        return (last.collecting - first.collecting) / (last.at - first.at)

    def _summary(self) -> str:
        first, last = self._readings[0], self._readings[-1]
        return (
            f"for {last.at - first.at:.0f} s the JVM spent {self._share():.0%} of its time on "
            f"garbage collection, with at least {self.used_bytes / last.most:.0%} of the heap in "
            "use"
        )
