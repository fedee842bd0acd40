"""The last log line of a run: why it ended, its exit code, and how far it had come."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import structlog

from fairlead.errors import ExitCode, FairleadError
from streaming.health import Health

__all__ = ["LastLine"]

_UNASKED: Final = "nobody asked for a stop"

log = structlog.get_logger()


class LastLine:
    """Writes the line when its context ends, for whatever reason.

    Args:
        health: the facts of the run.
        clock: monotonic seconds.
    """

    def __init__(self, health: Health, clock: Callable[[], float] = time.monotonic) -> None:
        self._health = health
        self._clock = clock
        self._asked_by = _UNASKED

    def asked_by(self, who: str) -> None:
        """Note who asked for the stop, such as a signal; only the first call counts."""
        if self._asked_by == _UNASKED:
            self._asked_by = who

    @contextmanager
    def written(self) -> Iterator[None]:
        """Write the line at the end of this context, and re-raise the error that ended it."""
        began = self._clock()
        try:
            yield
        except BaseException as error:
            self._write(began, _code_of(error), _why(error), failed=True)
            raise
        self._write(began, ExitCode.OK, self._asked_by, failed=False)

    def _write(self, began: float, code: int, why: str, *, failed: bool) -> None:
        (log.error if failed else log.info)(
            "engine ended",
            why=why,
            exit_code=int(code),
            uptime_seconds=round(self._clock() - began, 1),
            generation=self._health.generation,
            batches=self._health.batches,
        )


def _code_of(error: BaseException) -> int:
    """Return the exit code of the command line for an error."""
    if isinstance(error, FairleadError):
        return error.exit_code
    return ExitCode.INTERRUPTED if isinstance(error, KeyboardInterrupt) else ExitCode.DEFECT


def _why(error: BaseException) -> str:
    return error.message if isinstance(error, FairleadError) else repr(error)
