"""How the JVM of the engine ended, by the exit code of its process."""

import re
import signal
import subprocess
from collections.abc import Iterable
from typing import Any, Final

from pyspark.sql import SparkSession

from fairlead.errors import QueryDiedError
from fairlead.settings import EngineSettings
from fairlead.settings.java_heap import heap_given

__all__ = ["EXIT_ON_FULL_HEAP", "HeapExhaustedError", "JvmProcess", "error_of_end", "heap_error"]

EXIT_ON_FULL_HEAP: Final = "-XX:+ExitOnOutOfMemoryError"
"""Java then ends with a code of its own. Otherwise the one thread dies that asked for memory last,
whichever it is, and the others wait for it."""

_FULL_HEAP: Final = frozenset({3, 52})
"""Java's code under that option, and Spark's where it was quicker."""

_NO_MEMORY: Final = re.compile(r"OutOfMemory(?:Error|Exception)\b[^\n]{0,200}")
"""What the heap's bound brings forth beyond the heap itself: Arrow's memory has the same bound."""

_END_SECONDS_MAX: Final = 5.0


class HeapExhaustedError(QueryDiedError):
    """The heap of Spark's JVM is too small for what the engine does.

    Args:
        engine: names the setting and its size.
        found: what showed it.
    """

    def __init__(self, engine: EngineSettings, found: str) -> None:
        key, text = heap_given(engine)
        super().__init__(
            f"the Java heap of {text} ({key}) is too small: {found}.",
            remedy=f"Raise {key} to twice as much, and the memory of the machine or container with "
            "it (docs/running.md, The Java heap). With --supervise it is started again, with the "
            "same heap. If it was one record of hundreds of megabytes, the next start names it.",
        )


class JvmProcess:
    """The process of a session's JVM; of one that this process did not start nothing is known."""

    def __init__(self, spark: SparkSession) -> None:
        gateway: Any = spark.sparkContext._gateway  # noqa: SLF001 - nobody else has the process
        self._process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)

    def kill(self) -> None:
        """End it at once: one that only collects garbage hears nothing else."""
        if self._process is not None:
            self._process.kill()

    def exit_code(self) -> int | None:
        """Return how it ended, None: it runs, or nothing is known of it."""
        if self._process is None:
            return None
        try:
            return self._process.wait(_END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return None


def heap_error(engine: EngineSettings, texts: Iterable[str]) -> HeapExhaustedError | None:
    """Return the error if one of these texts of a dead query says that memory was lacking."""
    found = next((hit for hit in map(_NO_MEMORY.search, texts) if hit is not None), None)
    return None if found is None else HeapExhaustedError(engine, f"Java said {found[0]}")


def error_of_end(code: int | None, engine: EngineSettings, said: object) -> QueryDiedError:
    """Return what it means that the JVM is gone.

    Args:
        code: its exit code, negative for a signal; None if that is not known.
        engine: what it was started with.
        said: how its absence was noticed.
    """
    if code in _FULL_HEAP:
        return HeapExhaustedError(engine, "Java ended with OutOfMemoryError")
    if code == -signal.SIGKILL:
        return QueryDiedError(
            "the JVM was killed (SIGKILL).",
            remedy="If nobody did it, the kernel did for want of memory: its log says so. With "
            "--supervise it is started again.",
        )
    return QueryDiedError(
        f"the JVM is gone ({said}).", remedy="With --supervise it is started again."
    )
