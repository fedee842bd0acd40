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
"""With this option Java ends with its own exit code. Without it, only the thread dies that asked
for memory last, and the others wait for it."""

_FULL_HEAP: Final = frozenset({3, 52})
"""Java's exit code under that option, and Spark's own where Spark was quicker."""

_NO_MEMORY: Final = re.compile(r"OutOfMemory(?:Error|Exception)\b[^\n]{0,200}")
"""The errors of a heap at its limit; Arrow's memory has the same limit."""

_END_SECONDS_MAX: Final = 5.0


class HeapExhaustedError(QueryDiedError):
    """The heap of Spark's JVM is too small for the engine's work.

    Args:
        engine: names the setting and its size.
        evidence: how the engine noticed it.
    """

    def __init__(self, engine: EngineSettings, evidence: str) -> None:
        key, text = heap_given(engine)
        super().__init__(
            f"the Java heap of {text} ({key}) is too small: {evidence}.",
            remedy=f"Double {key}, and raise the memory of the machine or container with it "
            "(docs/running.md, The Java heap). --supervise starts the engine again with the same "
            "heap. If one record of hundreds of megabytes was the cause, the next start names it.",
        )


class JvmProcess:
    """The process of a session's JVM; unknown if this process did not start it."""

    def __init__(self, spark: SparkSession) -> None:
        gateway: Any = spark.sparkContext._gateway  # noqa: SLF001 - nobody else has the process
        self._process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)

    def kill(self) -> None:
        """Kill it: a JVM that only collects garbage reacts to nothing else."""
        if self._process is not None:
            self._process.kill()

    def exit_code(self) -> int | None:
        """Return its exit code; None if it runs or is unknown."""
        if self._process is None:
            return None
        try:
            return self._process.wait(_END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return None


def heap_error(engine: EngineSettings, texts: Iterable[str]) -> HeapExhaustedError | None:
    """Return the error if one of these texts of a dead query reports a lack of memory."""
    match = next((hit for hit in map(_NO_MEMORY.search, texts) if hit is not None), None)
    return None if match is None else HeapExhaustedError(engine, f"Java said {match[0]}")


def error_of_end(code: int | None, engine: EngineSettings, evidence: object) -> QueryDiedError:
    """Return the error for a JVM that is gone.

    Args:
        code: its exit code, negative for a signal; None if unknown.
        engine: the settings that it was started with.
        evidence: how the driver noticed that it is gone.
    """
    if code in _FULL_HEAP:
        return HeapExhaustedError(engine, "Java ended with OutOfMemoryError")
    if code == -signal.SIGKILL:
        return QueryDiedError(
            "the JVM was killed (SIGKILL).",
            remedy="If nobody killed it, the kernel did for lack of memory; dmesg says so. "
            "--supervise starts the engine again.",
        )
    return QueryDiedError(
        f"the JVM is gone ({evidence}).", remedy="--supervise starts the engine again."
    )
