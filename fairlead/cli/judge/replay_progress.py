"""The progress of a replay, and its errors in words."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from fairlead.cli.render.comparison import NOT_RECORDED
from fairlead.errors import NothingProvedError, UsageError, VerdictError

if TYPE_CHECKING:
    from fairlead.recording import RecordingFolder
    from fairlead.replay.shard_replay import Replayed

__all__ = ["refusing", "watching"]


@contextlib.contextmanager
def watching(cuts: int) -> "Iterator[Callable[[Replayed], None]]":
    """Show on a terminal how many cuts have run again."""
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
    """Turn the errors of a replay into errors for the user."""
    from fairlead.engine.drivers import UnknownStrategiesError
    from fairlead.replay.shard_replay import ReplayError

    try:
        yield
    except UnknownStrategiesError as error:
        raise UsageError(
            f"engine.strategies: generation {error.generation} had {', '.join(error.missing)}, "
            "unknown here.",
            remedy="Give --config as to `fairlead run`, so that its own strategies are known.",
        ) from error
    except ReplayError as error:
        gaps = recording.gaps()
        if gaps:
            raise NothingProvedError(
                f"recording: it cannot be replayed: {error}.",
                remedy=f"The topics had lost records of {', '.join(gaps)}. {NOT_RECORDED}",
            ) from error
        raise VerdictError(
            f"recording: {error}.",
            remedy="The recording is complete and contradicts itself.",
        ) from error
