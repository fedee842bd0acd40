"""Progress of a command that reads for long."""

import time
from typing import Final

import typer

__all__ = ["ReadingNote"]

_SECONDS: Final = 2.0


class ReadingNote:
    """Writes to the standard error how far reading has come, every two seconds."""

    def __init__(self) -> None:
        self._noted = time.monotonic()

    def __call__(self, topic: str, records: int) -> None:
        """Note how many records of a topic have been read."""
        now = time.monotonic()
        if now - self._noted >= _SECONDS:
            self._noted = now
            typer.echo(f"reading {topic}: {records:,} records", err=True)
