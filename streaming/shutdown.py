"""How a run of the driver ends: who asked for it first, and which error it becomes."""

import contextlib
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.sql.streaming.query import StreamingQuery

from fairlead.codec.errors import CodecError, UnknownVersionError
from fairlead.engine.errors import AppendTimeMissingError, HigherGenerationError
from fairlead.errors import (
    FairleadError,
    QueryDiedError,
    RefusedError,
    SupersededError,
)
from fairlead.stop_signal import StopSignal
from streaming.checkpoint import Checkpoint
from streaming.damage import DamagedError
from streaming.inspection import refusal_of

_SHARD_ERROR: Final = re.compile(r"fairlead\.(?:engine|codec)\.errors\.(\w+): ([^\n]+)")
"""An error of the engine, as Python prints it at the end of a worker's traceback."""

_SUPERSEDED: Final = HigherGenerationError.__name__
_REFUSED: Final = frozenset({AppendTimeMissingError.__name__, UnknownVersionError.__name__})
_UNREADABLE_STATE: Final = CodecError.__name__
_TEXT_CHARACTERS_MAX: Final = 500
_CAUSES_MAX: Final = 20

_DAMAGE: Final = re.compile(
    r"\[CANNOT_LOAD_STATE_STORE\.(?:CANNOT_READ_\w+|\w+_ROW_FORMAT_VALIDATION_FAILURE"
    r"|AUTO_SNAPSHOT_REPAIR_FAILED)\]"
    r"|\[STATE_STORE_\w+_ROW_FORMAT_VALIDATION_FAILURE\]"
    r"|\[STREAMING_CHECKPOINT_MISSING_METADATA_FILE\]"
    r"|\[STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY\]"
    r"|Failed to read log file \S+/(?:offsets|commits)/[0-9]+\."
    r"|batch [0-9]+ doesn't exist"
)
"""Spark's errors about a checkpoint with missing or wrong files."""
_UNREADABLE: Final = re.compile(
    r"org\.apache\.hadoop\.fs\.ChecksumException|java\.io\.EOFException|Stream is corrupted"
)
"""Java's errors about a file that is cut off or changed."""
_LOADING: Final = "[CANNOT_LOAD_STATE_STORE."


class Ending:
    """Wakes the main thread, and keeps the first error reported."""

    def __init__(self, stop: StopSignal) -> None:
        self.stop = stop
        self.error: FairleadError | None = None
        self._query_ended = False

    @property
    def is_asked_for(self) -> bool:
        """Whether somebody outside asked for the end and nothing here has failed."""
        return self.stop.is_set and self.error is None and not self._query_ended

    def fail(self, error: FairleadError) -> None:
        """Ask for the end because of an error; any thread may call it."""
        if self.error is None:
            self.error = error
        self.stop.set()

    def note_query_end(self) -> None:
        """Note that the query has ended, for any reason."""
        self._query_ended = True
        self.stop.set()

    def fail_ticker(self, error: Exception) -> None:
        """Ask for the end because the ticker has ended."""
        self.fail(
            QueryDiedError(
                f"the ticker has died: {error!r}.",
                remedy="Start again. If it happens again, please report it.",
            )
        )


NEWER_STATE_REMEDY: Final = (
    "If another engine runs, leave this one stopped, or stop that one first. If no other has run "
    "(fairlead doctor shows the newest claimed generation), this state belongs to other topics, or "
    "an older version has accepted a tick that no engine wrote: move the folder engine.checkpoint "
    "away and start again; the groups recover, and owners go on meanwhile."
)
"""For a state whose generation is newer than ours although ours is the newest claim."""


def classify(text: str) -> FairleadError:
    """Return the error for the end of the query, from the text of its exception.

    The engine's own errors cross the JVM as text: the last line of a Python traceback.
    """
    shard_error = _SHARD_ERROR.search(text)
    if shard_error is not None:
        name, message = shard_error.groups()
        if name == _SUPERSEDED:
            return SupersededError(message, remedy=NEWER_STATE_REMEDY)
        if name in _REFUSED:
            return RefusedError(message)
    return QueryDiedError(
        f"the streaming query died: {_summary(text)}",
        remedy="The log above has the whole text. --supervise starts the engine again.",
    )


def cause_of_end(text: str, checkpoint: Checkpoint, causes: Sequence[str] = ()) -> FairleadError:
    """Return the error for the end of the query, after an inspection of its checkpoint.

    If the checkpoint would refuse the next start, this run ends with that refusal, since no restart
    repairs it. Otherwise an error of Spark's counts as damage only if it names the checkpoint; any
    other disk error may be temporary.

    Args:
        text: the text of the query's exception.
        checkpoint: the query's checkpoint; no query uses it any more.
        causes: the texts of the exception's causes in Java.
    """
    error = classify(text)
    if not isinstance(error, QueryDiedError):
        return error
    state = checkpoint.query / "state"
    shard_error = _SHARD_ERROR.search(text)
    if shard_error is not None and shard_error[1] == _UNREADABLE_STATE:
        return DamagedError(checkpoint.folder, state, f"cannot be parsed ({shard_error[2]})")
    refusal = refusal_of(checkpoint)
    if refusal is not None:
        return refusal
    texts = [text, *causes]
    loading = any(_LOADING in each for each in texts)
    if loading and any(_UNREADABLE.search(each) for each in causes):
        return DamagedError(checkpoint.folder, state, f"cannot be read ({causes[-1][:200]})")
    if any(_DAMAGE.search(each) for each in texts):
        return DamagedError(
            checkpoint.folder, checkpoint.query, f"cannot be read ({_summary(text)})"
        )
    return error


def java_causes(query: StreamingQuery) -> list[str]:
    """Return the texts of the Java exceptions that ended a query, the root cause last."""
    texts: list[str] = []
    with contextlib.suppress(Py4JError, OSError):
        ended: Any = query._jsq.exception()  # noqa: SLF001 - PySpark keeps no Java class of a cause
        cause = ended.get() if ended.isDefined() else None
        while cause is not None and len(texts) < _CAUSES_MAX:
            texts.append(str(cause.toString()))
            cause = cause.getCause()
    return texts


def _summary(text: str) -> str:
    """Return the most useful line of an exception's text: the Python error, or the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    python = [line for line in lines if re.match(r"[A-Za-z_.]+(Error|Exception)\b", line)]
    return (python or lines or ["no reason was given"])[0][:_TEXT_CHARACTERS_MAX]


def quietly(act: Callable[[], object]) -> None:
    """Call a function of a JVM that may be gone; ignore its errors."""
    with contextlib.suppress(Py4JError, OSError):
        act()
