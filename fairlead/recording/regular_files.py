"""Opens untrusted files: only regular files, and with a bound on their size.

A recording from elsewhere may hold a FIFO, which blocks its reader, an endless device, or a
symbolic link out of the folder. So this opens each file without following a link and without
waiting, and checks it before reading.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

from fairlead.errors import UsageError

__all__ = ["NotRegularError", "open_regular", "read_regular"]

_BYTES_MAX: Final = 2**30
"""The most bytes of a manifest, a journal or a fault log to read into memory."""
_KINDS: Final = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class NotRegularError(UsageError):
    """A file is no regular file, or too long; ``detail`` says which."""

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(
            f"{path}: {detail}.", remedy="Put a regular file of a reasonable size there."
        )
        self.detail = detail


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading.

    Raises:
        NotRegularError: it is a link, a FIFO, a device, a socket or a folder.
        OSError: it is missing or unreadable.
    """
    mode = os.lstat(path).st_mode
    if not stat.S_ISREG(mode):
        raise NotRegularError(path, _refusal(mode))
    # Somebody may have replaced it since: do not follow or wait, and check again.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise NotRegularError(path, _refusal(mode))
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path, bytes_max: int = _BYTES_MAX) -> bytes:
    """Return the content of a regular file.

    Raises:
        NotRegularError: it is no regular file, or too long.
        OSError: it is missing or unreadable.
    """
    with open_regular(path) as stream:
        content = stream.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise NotRegularError(path, f"it has more than {bytes_max:,} bytes")
    return content


def _refusal(mode: int) -> str:
    what = next((name for is_one, name in _KINDS if is_one(mode)), "something else")
    return f"it is {what}, not a regular file"
