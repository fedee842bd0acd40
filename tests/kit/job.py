"""The job in a thread of the test's process, on the one Spark session of the run."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fairlead.core.allocation import Strategy
from fairlead.settings import Settings
from fairlead.stop_signal import StopSignal
from strategies.registry import STRATEGIES
from streaming.job import JobOptions, run_job
from streaming.skipping import SkippedPlace
from tests.kit.awaiting import LONGEST_SECONDS, await_seen, ended
from tests.kit.kafka_log import Log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class GivenSession:
    """A session that is there already, and stays."""

    def __init__(self, spark: "SparkSession") -> None:
        self._spark = spark

    def result(self, stop: StopSignal) -> "SparkSession":
        """Return it."""
        del stop
        return self._spark

    def close(self) -> None:
        """Leave it running."""


class RunningJob:
    """A run of the job, and how it ended."""

    def __init__(self, settings: Settings, options: JobOptions) -> None:
        self._stop = StopSignal()
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(settings, options), daemon=True)
        self._thread.start()

    def _run(self, settings: Settings, options: JobOptions) -> None:
        try:
            run_job(settings, options, self._stop)
        except BaseException as error:  # noqa: BLE001 - the test looks at it, whatever it is
            self.error = error

    def check(self) -> None:
        """Raise what ended the run, if it has ended."""
        if self.error is not None:
            raise self.error

    def await_state(self, reached: Callable[[], bool]) -> None:
        """Wait until the run has come so far; raise what ended it, if it ends before that."""

        def look() -> bool:
            self.check()
            return reached()

        await_seen(look, what="such state of the job", seconds=LONGEST_SECONDS)

    def stop(self) -> None:
        """Ask for a clean stop and wait for it; raise what ended the run instead, if anything."""
        self._stop.set()
        self.join()
        self.check()

    def join(self) -> BaseException | None:
        """Wait for the end; return the error, None after a clean stop."""
        ended(self._thread, LONGEST_SECONDS)
        return self.error


@contextmanager
def job(
    spark: "SparkSession",
    settings: Settings,
    log: Log,
    strategies: Mapping[str, Strategy] = STRATEGIES,
    *,
    accept_lost_input: bool = False,
    skips: tuple[SkippedPlace, ...] = (),
) -> Iterator[RunningJob]:
    """Run the job while the context is open, then stop it cleanly unless it has ended.

    If the job ends meanwhile, whoever awaits a record of the log gets its error.
    """
    options = JobOptions(
        GivenSession(spark), strategies=strategies, accept_lost_input=accept_lost_input, skips=skips
    )
    running = RunningJob(settings, options)
    log.check = running.check
    try:
        yield running
    finally:
        if running.error is None:
            running.stop()
