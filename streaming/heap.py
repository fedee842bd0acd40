"""How full the heap of the JVM is, and how much of its time the JVM collects garbage.

A heap that is a little too small does not end Java: it frees a little with each collection, and so
collects all the time. Nothing else would tell that: the engine stands still, or nearly so.
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

__all__ = ["HeapLook", "HeapWatch", "JvmHeap"]

log = structlog.get_logger()

_LOOK_SECONDS: Final = 2.0
_WINDOW_SECONDS: Final = 20.0
"""Java itself gives up a heap by shares of this kind where its collector can tell them."""

_TIGHT_USED, _TIGHT_COLLECTING = 0.9, 0.5
_FULL_USED, _FULL_COLLECTING = 0.85, 0.9
_CONCURRENT: Final = ("Concurrent", "Cycles")
"""Collectors whose time is no pause: the program goes on meanwhile."""


@dataclass(frozen=True, slots=True)
class HeapLook:
    """What one look found.

    Attributes:
        at: when, on the watch's clock.
        used: bytes, garbage included.
        most: bytes that the heap may have.
        collecting: seconds that the JVM has stood still for its collectors since its start.
    """

    at: float
    used: int
    most: int
    collecting: float


class JvmHeap:
    """Asks the JVM, by the classes that Spark has for its own metrics."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._gauges: tuple[Any, Any, list[Any]] | None = None

    def look(self, at: float) -> HeapLook:
        """Return what is so now.

        Raises:
            Py4JError, OSError: the JVM is gone.
        """
        if self._gauges is None:
            self._gauges = self._find_gauges()
        used, most, times = self._gauges
        collecting = sum(int(each.getValue()) for each in times) / 1_000
        return HeapLook(at, int(used.getValue()), int(most.getValue()), collecting)

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
    """Looks now and then, and judges what was seen in the last seconds.

    Attributes:
        newest: the last look, None before the first.
    """

    def __init__(
        self,
        look: Callable[[float], HeapLook],
        engine: EngineSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Describe the watch.

        Args:
            look: asks the JVM, given the moment.
            engine: names the setting in messages.
            clock: seconds that never go back.
        """
        self._look = look
        self._engine = engine
        self._clock = clock
        self._looks: deque[HeapLook] = deque()
        self._warned = False

    @property
    def newest(self) -> HeapLook | None:
        """The last look."""
        return self._looks[-1] if self._looks else None

    @property
    def used_bytes(self) -> int:
        """The least that was in use at any look of the window: what no collection frees."""
        return min((each.used for each in self._looks), default=0)

    def feel(self) -> None:
        """Look if it is time to.

        Raises:
            HeapExhaustedError: for the whole window the JVM did hardly anything but collect, and
                freed hardly anything by it.
            Py4JError, OSError: the JVM is gone.
        """
        now = self._clock()
        if self._looks and now - self._looks[-1].at < _LOOK_SECONDS:
            return
        self._looks.append(self._look(now))
        # The newest of those that are old enough stays: the window is whole.
        while len(self._looks) > 1 and now - self._looks[1].at >= _WINDOW_SECONDS:
            self._looks.popleft()
        if self._is(_FULL_USED, _FULL_COLLECTING):
            raise HeapExhaustedError(self._engine, self._found())
        tight = self.pressure
        if tight and not self._warned:
            log.warning("the Java heap is nearly too small", found=tight)
        self._warned = bool(tight)

    @property
    def pressure(self) -> str:
        """What is the matter with the heap in words, empty while nothing is."""
        tight = self._is(_TIGHT_USED, 0.0) or self._is(0.0, _TIGHT_COLLECTING)
        return f"the Java heap is nearly too small: {self._found()}" if tight else ""

    def _is(self, used: float, collecting: float) -> bool:
        looks = self._looks
        return (
            len(looks) > 1
            and looks[-1].at - looks[0].at >= _WINDOW_SECONDS
            and self.used_bytes >= used * looks[-1].most
            and self._share() >= collecting
        )

    def _share(self) -> float:
        first, last = self._looks[0], self._looks[-1]
        return (last.collecting - first.collecting) / (last.at - first.at)

    def _found(self) -> str:
        first, last = self._looks[0], self._looks[-1]
        return (
            f"for {last.at - first.at:.0f} s the JVM has collected garbage {self._share():.0%} of "
            f"the time, and at least {self.used_bytes / last.most:.0%} of the heap was in use"
        )
