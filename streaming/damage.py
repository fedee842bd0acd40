"""A checkpoint that is damaged: how it is told, and where it is kept once it is out of the way.

No restart mends one, so whoever meets it refuses to go on. The way out is always the same: the
folder is moved aside, never deleted, and an engine that starts without state asks its clients.

ADR 0104 gives the reasons.
"""

import os
import shlex
import shutil
from pathlib import Path
from typing import Final

from fairlead.errors import RefusedError

_COPY: Final = ".damaged-"
_FULL_BYTES: Final = 1 << 20
"""A disk with less free than this is full: nothing could recover on it."""


class DamagedError(RefusedError):
    """A checkpoint cannot be used, and no restart mends it; it can be moved aside.

    Attributes:
        folder: the checkpoint.
        path: what is damaged in it.
    """

    def __init__(self, folder: Path, path: Path, what: str) -> None:
        """Describe the damage.

        Args:
            folder: the checkpoint.
            path: the file or folder in it that is damaged.
            what: continues the path's name: "is empty".
        """
        named = path.relative_to(folder) if path.is_relative_to(folder) else path
        super().__init__(
            f"engine.checkpoint: {folder} is damaged: {named} {what}.", remedy=_way_out(folder)
        )
        self.folder = folder
        self.path = path


def not_permitted(folder: Path, path: Path, what: str) -> RefusedError:
    """Return the refusal of a folder in which something may not be read, or not be written."""
    return RefusedError(
        f"engine.checkpoint: {path} may not be {what} by this user (uid {os.geteuid()}), or its "
        "file system is read-only.",
        remedy=f"Run as its owner, or chown -R the folder {folder}. If the disk went read-only "
        "by itself, dmesg says why: mend it first, or name a folder on another disk "
        "(--checkpoint), on which the engine recovers from what clients claim.",
    )


def copies_of(folder: Path) -> list[Path]:
    """Return the damaged checkpoints that are kept beside a folder, the oldest first."""
    real = folder.resolve()
    numbered = []
    for path in real.parent.glob(f"{_escaped(real.name)}{_COPY}*"):
        number = path.name.rpartition(_COPY)[2]
        if number.isascii() and number.isdigit():
            numbered.append((int(number), path))
    return [path for _, path in sorted(numbered)]


def next_copy(folder: Path) -> Path:
    """Return where a damaged checkpoint goes: a name beside the folder that nothing has."""
    real = folder.resolve()
    taken = [int(path.name.rpartition(_COPY)[2]) for path in copies_of(folder)]
    return real.with_name(f"{real.name}{_COPY}{max(taken, default=0) + 1}")


def is_full(folder: Path) -> bool:
    """Tell whether the disk of a folder has no space left."""
    return shutil.disk_usage(folder).free < _FULL_BYTES


def _way_out(folder: Path) -> str:
    """Say what a person does, in one command, and what the engine does then."""
    real = folder.resolve()
    first = f"mv {shlex.quote(str(real))} {shlex.quote(str(next_copy(folder)))}"
    if folder.is_symlink():
        first += f" && mkdir {shlex.quote(str(real))}"
    space = ""
    if folder.exists() and is_full(folder):
        space = "Its disk is full: free space first, or nothing can be written. "
    return (
        f"{space}Move it away: {first} - then start again. The engine recovers from its topics "
        "within seconds: owners work on, and nothing moves until every live client has said what "
        "it holds, so no queue gets two owners. fairlead run --supervise --recover-damaged does "
        "both by itself. A copy of the folder can be put back instead, with every file of one "
        "moment."
    )


def _escaped(name: str) -> str:
    """Return a file's name as a pattern that only it fits."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
