"""The last line of a run in the log: why it ended, with which exit code, and what it had done."""

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
    """Writes the line when its context ends, whatever ended it.

    Args:
        health: what is known of the run.
        clock: seconds that never go back.
    """

    def __init__(self, health: Health, clock: Callable[[], float] = time.monotonic) -> None:
        self._health = health
        self._clock = clock
        self._asked_by = _UNASKED

    def asked_by(self, who: str) -> None:
        """Note who asked for the stop, such as a signal's name; the first one counts."""
        if self._asked_by == _UNASKED:
            self._asked_by = who

    @contextmanager
    def written(self) -> Iterator[None]:
        """Write the line at the end of this context, and pass on what ended it."""
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
    """Return the exit code that the command line makes of an error."""
    if isinstance(error, FairleadError):
        return error.exit_code
    return ExitCode.INTERRUPTED if isinstance(error, KeyboardInterrupt) else ExitCode.DEFECT


def _why(error: BaseException) -> str:
    return error.message if isinstance(error, FairleadError) else repr(error)
