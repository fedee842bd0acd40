"""Opens files that somebody else may have made: regular files alone, and none without a bound.

What was recorded elsewhere is not to be trusted. A FIFO would be waited for without an end, a
device never ends, and a symbolic link leads out of the folder. So each file is opened without
following a link and without waiting, and looked at before it is read.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

from fairlead.errors import UsageError

__all__ = ["NotRegularError", "open_regular", "read_regular"]

_BYTES_MAX: Final = 2**30
"""So much is read into memory at most: of a manifest, a journal or a fault log."""
_KINDS: Final = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class NotRegularError(UsageError):
    """What should be a file is none, or is longer than it may be; ``detail`` says which."""

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(
            f"{path}: {detail}.", remedy="Put a regular file of a sound size in its place."
        )
        self.detail = detail


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file to read it.

    Raises:
        NotRegularError: it is a link, a FIFO, a device, a socket or a folder.
        OSError: it is missing, or cannot be read.
    """
    mode = os.lstat(path).st_mode
    if not stat.S_ISREG(mode):
        raise NotRegularError(path, _refusal(mode))
    # It may have been exchanged since: neither follow nor wait, and look again.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise NotRegularError(path, _refusal(mode))
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path, bytes_max: int = _BYTES_MAX) -> bytes:
    """Return what a regular file holds.

    Raises:
        NotRegularError: it is no regular file, or holds more than it may.
        OSError: it is missing, or cannot be read.
    """
    with open_regular(path) as stream:
        content = stream.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise NotRegularError(path, f"it has more than {bytes_max:,} bytes")
    return content


def _refusal(mode: int) -> str:
    what = next((name for is_one, name in _KINDS if is_one(mode)), "something else")
    return f"it is {what}, and no regular file"
