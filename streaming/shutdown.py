"""How a run of the driver ends: who asked for it first, and what it means."""

import contextlib
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.sql.streaming.query import StreamingQuery

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
"""How Python prints an error of the engine at the end of a worker's traceback."""

_SUPERSEDED: Final = "HigherGenerationError"
_REFUSED: Final = frozenset({"AppendTimeMissingError", "UnknownVersionError"})
_TEXT_CHARACTERS_MAX: Final = 500
_CAUSES_MAX: Final = 20

_CODEC_ERROR: Final = re.compile(r"fairlead\.codec\.errors\.CodecError: ([^\n]+)")
_WRITTEN_WRONG: Final = re.compile(r"cannot be written|does not fit|names other members")
"""What the codec says of a state that it was to write: nothing is damaged then."""

_DAMAGE: Final = re.compile(
    r"\[CANNOT_LOAD_STATE_STORE\.(?:CANNOT_READ_\w+|\w+_ROW_FORMAT_VALIDATION_FAILURE"
    r"|AUTO_SNAPSHOT_REPAIR_FAILED)\]"
    r"|\[STATE_STORE_\w+_ROW_FORMAT_VALIDATION_FAILURE\]"
    r"|\[STREAMING_CHECKPOINT_MISSING_METADATA_FILE\]"
    r"|\[STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY\]"
    r"|Failed to read log file \S+/(?:offsets|commits)/[0-9]+\."
    r"|batch [0-9]+ doesn't exist"
)
"""What Spark says of a checkpoint in which something is missing or wrong."""
_UNREADABLE: Final = re.compile(
    r"org\.apache\.hadoop\.fs\.ChecksumException|java\.io\.EOFException|Stream is corrupted"
)
"""What Java says of a file that is cut off or changed."""
_LOADING: Final = "[CANNOT_LOAD_STATE_STORE."


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


NEWER_STATE_REMEDY: Final = (
    "If the other engine runs, leave this one stopped, or stop that one first. If no other has run "
    "(fairlead doctor tells the newest generation that was claimed), this state is of other "
    "topics, or an older version has believed a tick that no engine wrote: move the folder of "
    "engine.checkpoint away and start again; the groups recover, and owners go on meanwhile."
)
"""The state was last run under a generation above our own, and ours is the newest claim."""


def classify(text: str) -> FairleadError:
    """Return what the end of the query means, from the text of its exception.

    The engine's own errors cross the JVM as text: the last line of a Python traceback.
    """
    found = _SHARD_ERROR.search(text)
    if found is not None:
        name, message = found.groups()
        if name == _SUPERSEDED:
            return SupersededError(message, remedy=NEWER_STATE_REMEDY)
        if name in _REFUSED:
            return RefusedError(message)
    return QueryDiedError(
        f"the streaming query ended: {_last_words(text)}",
        remedy="The log above has the whole text. With --supervise it is started again.",
    )


def cause_of_end(text: str, checkpoint: Checkpoint, causes: Sequence[str] = ()) -> FairleadError:
    """Return what the end of the query means, after a look at its checkpoint.

    What refuses the next start ends this one in the same way: no restart mends it. Beyond that
    Spark's word counts where it names the checkpoint; any other error of a disk may pass.

    Args:
        text: of the query's exception.
        checkpoint: of the query; no query uses it any more.
        causes: of the exception, in Java's words.
    """
    error = classify(text)
    if not isinstance(error, QueryDiedError):
        return error
    state = checkpoint.query / "state"
    found = _CODEC_ERROR.search(text)
    if found is not None and _WRITTEN_WRONG.search(found[1]) is None:
        return DamagedError(checkpoint.folder, state, f"cannot be understood ({found[1]})")
    refusal = refusal_of(checkpoint)
    if refusal is not None:
        return refusal
    told = [text, *causes]
    loading = any(_LOADING in each for each in told)
    if loading and any(_UNREADABLE.search(each) for each in causes):
        return DamagedError(checkpoint.folder, state, f"cannot be read ({causes[-1][:200]})")
    if any(_DAMAGE.search(each) for each in told):
        return DamagedError(
            checkpoint.folder, checkpoint.query, f"cannot be read ({_last_words(text)})"
        )
    return error


def java_causes(query: StreamingQuery) -> list[str]:
    """Return the chain of exceptions that ended a query, in Java's words, the first cause last."""
    texts: list[str] = []
    with contextlib.suppress(Py4JError, OSError):
        ended: Any = query._jsq.exception()  # noqa: SLF001 - PySpark keeps no Java class of a cause
        cause = ended.get() if ended.isDefined() else None
        while cause is not None and len(texts) < _CAUSES_MAX:
            texts.append(str(cause.toString()))
            cause = cause.getCause()
    return texts


def _last_words(text: str) -> str:
    """Return what says most in the text of an exception: the Python error, or the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    python = [line for line in lines if re.match(r"[A-Za-z_.]+(Error|Exception)\b", line)]
    return (python or lines or ["no reason was given"])[0][:_TEXT_CHARACTERS_MAX]


def quietly(act: Callable[[], object]) -> None:
    """Do something to a JVM that may be gone."""
    with contextlib.suppress(Py4JError, OSError):
        act()
