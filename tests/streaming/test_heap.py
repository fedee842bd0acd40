"""A heap that is too small: what is said before, when it is the end, and what the end is called."""

from collections.abc import Callable
from typing import Final

import pytest

from fairlead.errors import ExitCode, QueryDiedError
from fairlead.settings import load_settings
from streaming.health import Health
from streaming.heap import HeapReading, HeapWatch
from streaming.jvm_end import HeapExhaustedError, error_of_end, heap_error
from streaming.metrics import EngineMetrics

ENGINE: Final = load_settings(overrides={"engine.java_heap": "512m"}).engine
MOST: Final = 1_000


class Jvm:
    """A JVM whose heap is as full, and that collects as much, as the test says."""

    def __init__(self) -> None:
        self.now = 100.0
        self.used = 100
        self.collecting = 0.0
        self.watch = HeapWatch(self.read, ENGINE, clock=lambda: self.now)

    def read(self, at: float) -> HeapReading:
        """Answer."""
        return HeapReading(at, self.used, MOST, self.collecting)

    def live(self, seconds: int, used: Callable[[int], int], share: float) -> None:
        """Let so many seconds pass."""
        for second in range(seconds):
            self.now += 1
            self.used = used(second)
            self.collecting += share
            self.watch.check()


@pytest.fixture
def jvm() -> Jvm:
    """A JVM that has lived a minute in peace."""
    made = Jvm()
    made.live(60, lambda second: 100 + 400 * (second % 2), 0.02)
    return made


def test_a_heap_that_is_emptied_again_is_no_matter(jvm: Jvm) -> None:
    """A heap that fills and is emptied again is no matter, however full it is before."""
    jvm.live(60, lambda second: 950 if second % 4 else 300, 0.2)
    assert jvm.watch.pressure == ""
    assert jvm.watch.used_bytes == 300


def test_a_nearly_full_heap_is_reported_before_the_end(jvm: Jvm) -> None:
    """/readyz and /metrics show a nearly full heap before it is the end."""
    health, metrics = Health(), EngineMetrics("4")
    health.pressure = lambda: jvm.watch.pressure
    metrics.heap.follow(jvm.watch)
    assert "heap" not in health.verdict().reason
    jvm.live(40, lambda _: 920, 0.4)
    assert (
        "40% of its time on garbage collection, with at least 92% of the heap"
        in health.verdict().reason
    )
    assert health.verdict().state == "starting"
    value = metrics.registry.get_sample_value
    assert value("fairlead_jvm_heap_max_bytes") == MOST
    assert value("fairlead_jvm_heap_used_bytes") == 920
    assert value("fairlead_jvm_gc_seconds_total") == pytest.approx(60 * 0.02 + 40 * 0.4, abs=0.5)
    jvm.live(40, lambda _: 300, 0.01)
    assert jvm.watch.pressure == ""


def test_collects_much_in_a_heap_that_is_emptied(jvm: Jvm) -> None:
    """Much collecting alone shows and ends nothing: it frees what it looks for."""
    jvm.live(300, lambda second: 950 if second % 4 else 300, 0.95)
    assert "95% of its time" in jvm.watch.pressure


def test_a_heap_full_for_twenty_seconds_is_the_end(jvm: Jvm) -> None:
    """Twenty seconds of nothing but collecting in a full heap are the end, and no less."""
    with pytest.raises(HeapExhaustedError) as end:
        jvm.live(60, lambda _: 990, 0.99)
    assert 20 <= jvm.now - 160 <= 25
    assert end.value.exit_code == ExitCode.QUERY_DIED
    assert end.value.message.startswith(
        "the Java heap of 512m (engine.java_heap) is too small: for"
    )
    assert "Double engine.java_heap" in end.value.remedy


@pytest.mark.parametrize(
    "code, kind, words",
    [
        (3, HeapExhaustedError, "Java ended with OutOfMemoryError"),
        (52, HeapExhaustedError, "Java ended with OutOfMemoryError"),
        (-9, QueryDiedError, "the JVM was killed"),
        (1, QueryDiedError, "the JVM is gone (no answer)"),
        (None, QueryDiedError, "the JVM is gone (no answer)"),
    ],
)
def test_end_of_the_jvm(code: int | None, kind: type[QueryDiedError], words: str) -> None:
    """The exit code of the JVM tells a full heap from a kill."""
    error = error_of_end(code, ENGINE, "no answer")
    assert type(error) is kind
    assert words in error.message


def test_words_of_a_dead_query() -> None:
    """A query that died of Arrow's memory died of the heap's bound."""
    arrow = "org.apache.arrow.memory.OutOfMemoryException: Unable to allocate buffer of size 8"
    found = heap_error(ENGINE, ["java.lang.RuntimeException: x", arrow])
    assert found is not None
    assert "OutOfMemoryException: Unable to allocate buffer" in found.message
    assert heap_error(ENGINE, ["java.lang.IllegalStateException: memory"]) is None
