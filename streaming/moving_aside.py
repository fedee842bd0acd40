"""Moves a damaged checkpoint out of the way, so that the next driver starts without state.

Nothing is deleted. A JVM that outlives its driver by a moment may still write into the folder, so
both locks of the folder are taken first. There is a limit to what is kept: a disk that damages one
checkpoint after the other is not mended by new ones.
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
    """Rename a damaged checkpoint; return its new name, beside the old one.

    Args:
        folder: the checkpoint. If it is a link, what it leads to is moved.
        kept_max: so many damaged checkpoints may be kept.
        jvm_seconds_max: how long a JVM that still uses the folder is waited for.

    Raises:
        RefusedError: so many are kept already, the disk is full, somebody uses the folder, or it
            cannot be renamed.
        EnvironmentMissingError: its lock cannot be opened.
    """
    kept = copies_of(folder)
    if len(kept) >= kept_max:
        raise RefusedError(
            f"engine.checkpoint: {len(kept)} damaged checkpoints are kept beside {folder}: the "
            "next one is not moved aside.",
            remedy=f"Look at the disk (dmesg), then delete {kept[0]} and the others, or raise "
            "engine.damaged_kept.",
        )
    if is_full(folder):
        raise RefusedError(
            f"engine.checkpoint: the disk of {folder} is full: an engine without state could "
            "write nothing either.",
            remedy="Free space and start again.",
        )
    target = next_copy(folder)
    with Checkpoint(folder).owned(), _jvm_gone(folder, jvm_seconds_max):
        try:
            folder.resolve().rename(target)
        except OSError as error:
            raise RefusedError(
                f"engine.checkpoint: {folder} cannot be moved to {target} ({error.strerror}).",
                remedy="Where it is the mount point of a volume, set engine.checkpoint to a folder "
                "inside it. Else let this user write the folder above it.",
            ) from error
    if folder.is_symlink():
        folder.resolve().mkdir(mode=0o700)
    log.warning(
        "a damaged checkpoint was moved aside: the engine recovers without it",
        checkpoint=str(folder),
        kept_as=str(target),
        kept=len(kept) + 1,
        bytes_free=shutil.disk_usage(target).free,
    )
    return target


@contextlib.contextmanager
def _jvm_gone(folder: Path, seconds_max: float) -> Iterator[None]:
    """Hold the JVM's lock: nothing of a killed driver writes any more.

    Raises:
        RefusedError: a JVM keeps it.
    """
    deadline = time.monotonic() + seconds_max
    # Java locks by fcntl, so a flock would not see it.
    with (folder / "jvm.lock").open("a+b") as handle:
        while True:
            try:
                fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    raise RefusedError(
                        f"engine.checkpoint: a JVM still uses {folder}: it is not moved aside.",
                        remedy="End that process: it belongs to a driver that was killed.",
                    ) from error
                time.sleep(0.1)
        yield
