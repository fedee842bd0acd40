"""The recording that a command reads: a folder, or the live topics, recorded temporarily."""

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fairlead.core.allocation import Strategy
    from fairlead.recording import RecordingFolder
    from fairlead.settings import Settings

__all__ = ["RecordingArgument", "SourceOption", "recorded"]

RecordingArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="RECORDING", help="A folder of `fairlead record`. Default: the live topics."
    ),
]
SourceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        help="A topic that clients read: use the offsets of its messages too. Repeatable.",
    ),
]


@contextlib.contextmanager
def recorded(
    folder: Path | None,
    settings: "Settings",
    strategies: "Mapping[str, Strategy]",
    sources: Sequence[str] = (),
) -> "Iterator[RecordingFolder]":
    """Open a recording; a temporary one of live topics is removed at the end.

    Raises:
        UsageError: the folder is no recording.
        EnvironmentMissingError: the live topics cannot be read.
    """
    from fairlead.recording import open_recording

    if folder is not None:
        yield open_recording(folder)
        return
    from fairlead.recording.capture import Capture, capture, driver_settings

    with tempfile.TemporaryDirectory(prefix="fairlead-recording-") as made:
        ran_under = driver_settings(settings, strategies)
        yield capture(Capture(settings.kafka, Path(made), ran_under, sources))
