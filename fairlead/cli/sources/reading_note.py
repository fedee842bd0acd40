"""What a command that reads for long says meanwhile."""

import time
from typing import Final

import typer

__all__ = ["ReadingNote"]

_SECONDS: Final = 2.0


class ReadingNote:
    """Says on the standard error how far reading has come, every two seconds; first after two."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def __call__(self, topic: str, records: int) -> None:
        """Note that so many records of a topic were read."""
        now = time.monotonic()
        if now - self._said >= _SECONDS:
            self._said = now
            typer.echo(f"reading {topic}: {records:,} records", err=True)
