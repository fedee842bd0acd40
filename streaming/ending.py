"""How a run of the driver ends: who asked for it first, and what it means."""

import contextlib
import re
from collections.abc import Callable
from typing import Final

from py4j.protocol import Py4JError

from fairlead.errors import (
    FairleadError,
    QueryDiedError,
    RefusedError,
    SupersededError,
)
from streaming.stopping import StopSignal

_SHARD_ERROR: Final = re.compile(r"fairlead\.engine\.errors\.(\w+): ([^\n]+)")
"""How Python prints an error of the engine at the end of a worker's traceback."""

_SUPERSEDED: Final = "HigherGenerationError"
_REFUSED: Final = frozenset({"AppendTimeMissingError"})
_TEXT_CHARACTERS_MAX: Final = 500


class Ending:
    """Wakes the main thread; keeps the first error that was reported."""

    def __init__(self, stop: StopSignal) -> None:
        self.stop = stop
        self.error: FairleadError | None = None
        self._query_ended = False

    @property
    def is_asked_for(self) -> bool:
        """Tell whether somebody outside wants the end: nothing here has failed."""
        return self.stop.is_set and self.error is None and not self._query_ended

    def fail(self, error: FairleadError) -> None:
        """Ask for the end because of an error; may be called from any thread."""
        if self.error is None:
            self.error = error
        self.stop.set()

    def note_query_end(self) -> None:
        """Take note that the query has ended, of whatever."""
        self._query_ended = True
        self.stop.set()

    def fail_ticker(self, error: Exception) -> None:
        """Ask for the end because the ticker has ended."""
        self.fail(
            QueryDiedError(
                f"the ticker ended: {error!r}.",
                remedy="Start again. If it comes back, please report it.",
            )
        )


def classify(text: str) -> FairleadError:
    """Return what the end of the query means, from the text of its exception.

    The engine's own errors cross the JVM as text: the last line of a Python traceback.
    """
    found = _SHARD_ERROR.search(text)
    if found is not None:
        name, message = found.groups()
        if name == _SUPERSEDED:
            return SupersededError(
                message, remedy="Leave this engine stopped, or stop the other one first."
            )
        if name in _REFUSED:
            return RefusedError(message)
    return QueryDiedError(
        f"the streaming query ended: {_last_words(text)}",
        remedy="The log above has the whole text. With --supervise it is started again.",
    )


def _last_words(text: str) -> str:
    """Return what says most in the text of an exception: the Python error, or the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    python = [line for line in lines if re.match(r"[A-Za-z_.]+(Error|Exception)\b", line)]
    return (python or lines or ["no reason was given"])[0][:_TEXT_CHARACTERS_MAX]


def quietly(act: Callable[[], object]) -> None:
    """Do something to a JVM that may be gone."""
    with contextlib.suppress(Py4JError, OSError):
        act()
