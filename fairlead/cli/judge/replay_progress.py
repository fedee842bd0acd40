"""How far a replay has come, and its errors in words for the user."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from fairlead.errors import NothingProvedError, UsageError, VerdictError

if TYPE_CHECKING:
    from fairlead.recording import RecordingFolder
    from fairlead.replay.shard_replay import Replayed

__all__ = ["NOT_RECORDED", "refusing", "watching"]

NOT_RECORDED: Final = (
    "Record before retention takes what the engine has read since its state began, and keep the "
    "folder; `fairlead verify` judges the rest from the records alone."
)


@contextlib.contextmanager
def watching(cuts: int) -> "Iterator[Callable[[Replayed], None]]":
    """Show on a terminal how many of the cuts were run again."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("replay"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    shown = Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with shown:
        task = shown.add_task("", total=cuts)
        yield lambda _: shown.advance(task)


@contextlib.contextmanager
def refusing(recording: "RecordingFolder") -> Iterator[None]:
    """Turn what keeps a recording from being run again into an error for the user."""
    from fairlead.engine.drivers import UnknownStrategiesError
    from fairlead.replay.shard_replay import ReplayError

    try:
        yield
    except UnknownStrategiesError as error:
        raise UsageError(
            f"engine.strategies: generation {error.generation} had {', '.join(error.missing)}, "
            "which are not known here.",
            remedy="Give --config as to `fairlead run`, so that its own strategies are known.",
        ) from error
    except ReplayError as error:
        gaps = recording.gaps()
        if gaps:
            raise NothingProvedError(
                f"recording: it cannot be run again: {error}.",
                remedy=f"Of {', '.join(gaps)} the topics no longer held everything. {NOT_RECORDED}",
            ) from error
        raise VerdictError(
            f"recording: {error}.",
            remedy="Nothing is missing of the topics: what is recorded contradicts itself.",
        ) from error
