"""The recording that a command is about: a folder, or the live topics, recorded for the moment."""

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fairlead.core.allocation import Strategy
    from fairlead.core.records import DriverSettings
    from fairlead.recording import RecordingFolder
    from fairlead.settings import Settings

__all__ = ["RecordingArgument", "SourceOption", "driver_settings", "recorded"]

RecordingArgument = Annotated[
    Path | None,
    typer.Argument(help="A folder of `fairlead record`; without it the live topics are read."),
]
SourceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--source", help="A topic that clients read: the offsets of its messages count too."
    ),
]


def driver_settings(settings: "Settings", strategies: "Mapping[str, Strategy]") -> "DriverSettings":
    """Return what a driver runs under by these settings."""
    from fairlead.core.records import DriverSettings
    from fairlead.core.rules import CHAIN_CAP

    return DriverSettings(
        tick_ms=settings.engine.tick_ms,
        auto_create=settings.groups.auto_create,
        evict_after_ms=settings.groups.evict_after_ms,
        chain_cap=CHAIN_CAP,
        strategies=tuple(sorted(strategies)),
    )


@contextlib.contextmanager
def recorded(
    folder: Path | None,
    settings: "Settings",
    strategies: "Mapping[str, Strategy]",
    sources: Sequence[str] = (),
) -> "Iterator[RecordingFolder]":
    """Open a recording while the context is open; of live topics it is gone afterwards.

    Raises:
        UsageError: the folder is no recording.
        EnvironmentMissingError: the live topics cannot be read.
    """
    from fairlead.recording import open_recording

    if folder is not None:
        yield open_recording(folder)
        return
    from fairlead.recording.capture import Capture, capture

    with tempfile.TemporaryDirectory(prefix="fairlead-recording-") as made:
        ran_under = driver_settings(settings, strategies)
        yield capture(Capture(settings.kafka, Path(made), ran_under, sources))
