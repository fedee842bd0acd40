"""A damaged checkpoint: the error that reports it, and where its copy is kept.

No restart repairs one, so the engine refuses to go on. The way out is always the same: somebody
moves the folder aside (nobody deletes it), and an engine without state asks its clients.

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
"""A disk with less free space counts as full: an engine could not recover on it."""


class DamagedError(RefusedError):
    """A checkpoint is damaged: no restart repairs it, but it can be moved aside.

    Attributes:
        folder: the checkpoint.
        path: the damaged file or folder in it.
    """

    def __init__(self, folder: Path, path: Path, what: str) -> None:
        """Describe the damage.

        Args:
            folder: the checkpoint.
            path: the damaged file or folder in it.
            what: what is wrong; it follows the path in the message, such as "is empty".
        """
        named = path.relative_to(folder) if path.is_relative_to(folder) else path
        super().__init__(
            f"engine.checkpoint: {folder} is damaged: {named} {what}.", remedy=_way_out(folder)
        )
        self.folder = folder
        self.path = path


def not_permitted(folder: Path, path: Path, what: str) -> RefusedError:
    """Return the error for a path in a checkpoint that this user may not read or write."""
    return RefusedError(
        f"engine.checkpoint: {path} may not be {what} by this user (uid {os.geteuid()}), or its "
        "file system is read-only.",
        remedy=f"Run as its owner, or chown -R the folder {folder}. If the disk went read-only "
        "by itself, dmesg says why: repair it first, or name a folder on another disk "
        "(--checkpoint): the engine then recovers from the clients' claims.",
    )


def copies_of(folder: Path) -> list[Path]:
    """Return the damaged checkpoints kept beside a folder, oldest first."""
    real = folder.resolve()
    numbered = []
    for path in real.parent.glob(f"{_escaped(real.name)}{_COPY}*"):
        number = path.name.rpartition(_COPY)[2]
        if number.isascii() and number.isdigit():
            numbered.append((int(number), path))
    return [path for _, path in sorted(numbered)]


def next_copy(folder: Path) -> Path:
    """Return the path that a damaged checkpoint moves to: a free name beside the folder."""
    real = folder.resolve()
    taken = [int(path.name.rpartition(_COPY)[2]) for path in copies_of(folder)]
    return real.with_name(f"{real.name}{_COPY}{max(taken, default=0) + 1}")


def is_full(folder: Path) -> bool:
    """Tell whether the disk of a folder has no space left."""
    return shutil.disk_usage(folder).free < _FULL_BYTES


def _way_out(folder: Path) -> str:
    """Return the remedy: one command, and what the engine does afterwards."""
    real = folder.resolve()
    first = f"mv {shlex.quote(str(real))} {shlex.quote(str(next_copy(folder)))}"
    if folder.is_symlink():
        first += f" && mkdir {shlex.quote(str(real))}"
    space = ""
    if folder.exists() and is_full(folder):
        space = "Its disk is full: free space first. "
    return (
        f"{space}Move it away: {first} - then start again. The engine recovers from its topics "
        "within seconds: owners work on, and no queue moves until every live client has said what "
        "it holds, so no queue gets two owners. fairlead run --supervise --recover-damaged does "
        "both by itself. Or restore a consistent copy of the folder, all files from one moment."
    )


def _escaped(name: str) -> str:
    """Return a glob pattern that matches only this file name."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
