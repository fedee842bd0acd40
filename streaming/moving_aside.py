"""Moves a damaged checkpoint out of the way, so that the next driver starts without state.

It deletes nothing. A JVM that outlives its driver by a moment may still write into the folder, so
the move takes both locks of the folder first. The number of copies is limited: a disk that damages
one checkpoint after the other needs a person.
"""

import contextlib
import fcntl
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import structlog

from fairlead.errors import RefusedError
from streaming.checkpoint import Checkpoint
from streaming.damage import copies_of, is_full, next_copy

__all__ = ["move_aside"]

log = structlog.get_logger()

_JVM_SECONDS_MAX: Final = 30.0


def move_aside(folder: Path, kept_max: int, jvm_seconds_max: float = _JVM_SECONDS_MAX) -> Path:
    """Rename a damaged checkpoint; return its new path, beside the old one.

    Args:
        folder: the checkpoint. If it is a link, the target is moved.
        kept_max: the most damaged checkpoints to keep.
        jvm_seconds_max: how long to wait for a JVM that still uses the folder.

    Raises:
        RefusedError: too many copies are kept already, the disk is full, somebody uses the folder,
            or it cannot be renamed.
        EnvironmentMissingError: its lock cannot be opened.
    """
    kept = copies_of(folder)
    if len(kept) >= kept_max:
        raise RefusedError(
            f"engine.checkpoint: {folder} is not moved aside: {len(kept)} damaged checkpoints are "
            "already kept beside it.",
            remedy=f"Check the disk (dmesg), then delete {kept[0]} and the others, or raise "
            "engine.damaged_kept.",
        )
    if is_full(folder):
        raise RefusedError(
            f"engine.checkpoint: the disk of {folder} is full, so an engine without state could "
            "not write either.",
            remedy="Free space and start again.",
        )
    target = next_copy(folder)
    with Checkpoint(folder).owned(), _jvm_gone(folder, jvm_seconds_max):
        try:
            folder.resolve().rename(target)
        except OSError as error:
            raise RefusedError(
                f"engine.checkpoint: {folder} cannot be moved to {target} ({error.strerror}).",
                remedy="If it is the mount point of a volume, set engine.checkpoint to a folder "
                "inside it. Otherwise give this user write permission on the folder above it.",
            ) from error
    if folder.is_symlink():
        folder.resolve().mkdir(mode=0o700)
    log.warning(
        "moved a damaged checkpoint aside; the engine recovers without it",
        checkpoint=str(folder),
        kept_as=str(target),
        kept=len(kept) + 1,
        bytes_free=shutil.disk_usage(target).free,
    )
    return target


@contextlib.contextmanager
def _jvm_gone(folder: Path, seconds_max: float) -> Iterator[None]:
    """Hold the JVM's lock, so that no JVM of a killed driver still writes.

    Raises:
        RefusedError: a JVM keeps the lock.
    """
    deadline = time.monotonic() + seconds_max
    # Java locks with fcntl, which flock would not notice.
    with (folder / "jvm.lock").open("a+b") as handle:
        while True:
            try:
                fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    raise RefusedError(
                        f"engine.checkpoint: {folder} is not moved aside: a JVM still uses it.",
                        remedy="End that process: it belongs to a driver that was killed.",
                    ) from error
                time.sleep(0.1)
        yield
