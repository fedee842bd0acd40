"""Files that are read again when they change; a bad new content leaves the former in force."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Generic, TypeVar

import structlog

from fairlead.errors import FairleadError

__all__ = ["WatchedFiles"]

_LOOK_S: Final = 0.5
"""How often the files are looked at, at most."""

log = structlog.get_logger()
Content = TypeVar("Content")


class WatchedFiles(Generic[Content]):
    """The content of files that belong together.

    Args:
        what: what they are, for the log and the metric.
        paths: the files.
        read: reads them; it raises a FairleadError if it cannot.
        told: called with ``what`` for each new content that is bad.
        clock: a monotonic clock in seconds.

    Raises:
        FairleadError: they cannot be read now.
    """

    def __init__(
        self,
        what: str,
        paths: Sequence[Path],
        read: Callable[[], Content],
        told: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what = what
        self._paths = tuple(paths)
        self._read = read
        self._told = told
        self._clock = clock
        self._looked_s = clock()
        # Looked at before they are read: what changes in between is read again.
        self._marks = self._look()
        self._content = read()

    def current(self) -> Content:
        """Return the content in force."""
        now = self._clock()
        if now - self._looked_s >= _LOOK_S:
            self._looked_s = now
            marks = self._look()
            if marks != self._marks:
                self._marks = marks
                self._take()
        return self._content

    def _take(self) -> None:
        files = [str(path) for path in self._paths]
        try:
            self._content = self._read()
        except FairleadError as error:
            self._told(self._what)
            log.error(  # noqa: TRY400 - the file is at fault, and no line of this program
                "watched_file_refused",
                what=self._what,
                files=files,
                reason=error.message,
                remedy=error.remedy,
                in_force="the former content",
            )
        else:
            log.info("watched_file_read", what=self._what, files=files)

    def _look(self) -> list[tuple[int, int, int] | None]:
        return [_mark(path) for path in self._paths]


def _mark(path: Path) -> tuple[int, int, int] | None:
    """Return what changes with each new content; None: the file is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
