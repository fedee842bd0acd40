"""Starts the Spark session on a thread, beside the other work of a start.

This module imports little, so that the JVM starts before the rest of the job is loaded.
"""

import contextlib
import re
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import structlog
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from fairlead.errors import EnvironmentMissingError, UsageError
from fairlead.settings import EngineSettings
from fairlead.settings.java_heap import heap_given
from fairlead.stop_signal import StopSignal
from streaming.session import build_session

if TYPE_CHECKING:
    import pandas as pd

log = structlog.get_logger()

_HEAP_REFUSED: Final = "[INVALID_DRIVER_MEMORY]"


class SessionSource(Protocol):
    """Provides the job's session."""

    def result(self, stop: StopSignal) -> SparkSession | None:
        """Wait for the session; return None if a stop was requested meanwhile."""
        ...

    def close(self) -> None:
        """Give the session back."""
        ...


class SessionStart:
    """The job's own session; its start begins at once, on a thread."""

    def __init__(
        self, engine: EngineSettings, jars: Path, java_options: tuple[str, ...] = ()
    ) -> None:
        """Begin the start.

        Args:
            engine: the section [engine] of the settings.
            jars: the folder of the connector jars.
            java_options: more options of the JVM.
        """
        self._engine = engine
        self._session: SparkSession | None = None
        self._error: Exception | None = None
        self._ready = threading.Event()
        # A daemon: a refused start does not wait for it, and the JVM ends with this process.
        threading.Thread(
            target=self._start, args=(engine, jars, java_options), name="session", daemon=True
        ).start()

    def result(self, stop: StopSignal) -> SparkSession | None:
        """Wait for the session; return None if a stop was requested meanwhile.

        Raises:
            UsageError: Spark refuses the size of its heap.
            EnvironmentMissingError: Spark did not start.
        """
        while not self._ready.wait(0.1):
            if stop.is_set:
                return None
        if self._error is not None:
            if _HEAP_REFUSED in str(self._error):
                raise _heap_refused(self._engine, str(self._error)) from self._error
            raise EnvironmentMissingError(
                f"spark: it did not start ({self._error}).",
                remedy="Read the log lines above; run fairlead setup jars, and check Java.",
            ) from self._error
        return self._session

    def close(self) -> None:
        """Stop the session; a JVM that has died cannot be stopped."""
        if self._session is not None:
            with contextlib.suppress(Py4JError, OSError):
                self._session.stop()

    def _start(self, engine: EngineSettings, jars: Path, java_options: tuple[str, ...]) -> None:
        try:
            self._session = build_session(engine, jars, java_options)
        except Exception as error:  # noqa: BLE001 - result() raises it
            self._error = error
        self._ready.set()
        if self._session is not None:
            warm_up(self._session, engine.shuffle_partitions)


def _heap_refused(engine: EngineSettings, answer: str) -> UsageError:
    """Return the error for a heap that Spark refuses; the usable part depends on the collector."""
    key, text = heap_given(engine)
    sizes = re.search(r"System memory (\d+) must be at least (\d+)", answer)
    there, least = (
        (f"{int(size) // 2**20}m" for size in sizes.groups()) if sizes else (text, "more")
    )
    return UsageError(
        f"{key}: Spark may use {there} of a heap of {text}, and needs {least}.",
        remedy=f"Set {key} to at least 512m; the default is 1g.",
    )


def warm_up(session: SparkSession, tasks: int) -> None:
    """Start the Python workers before the first batch needs them.

    It runs while the job claims its generation and plans its query. Nothing depends on it.
    """
    try:
        session.range(0, tasks, 1, tasks).mapInPandas(_same, "id long").collect()
    except Exception as error:  # noqa: BLE001 - mostly a start that is stopped meanwhile
        log.info("warming up the Python workers failed", error=str(error)[:200])


def _same(frames: "Iterable[pd.DataFrame]") -> "Iterator[pd.DataFrame]":
    yield from frames
