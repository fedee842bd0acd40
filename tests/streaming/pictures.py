"""What a SIGKILL would leave of a checkpoint: copies made while all who write it stand still."""

import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.faults.standstill import thread_states
from tests.kit.awaiting import await_seen
from tests.kit.engine_process import children_of

_SECONDS_MAX: Final = 20.0


def pictures(driver: int, checkpoint: Path, folder: Path, count: int) -> Iterator[Path]:
    """Yield copies of a checkpoint, each made in the midst of writing a file.

    The processes are stopped as soon as a temporary file is seen, so a copy is what is on the disk
    when they are killed at that moment.

    Args:
        driver: the process id of the engine's Python; its JVM is its child.
        checkpoint: of the engine.
        folder: takes the copies.
        count: so many copies; fewer, if no file is caught in time.
    """
    writing = [checkpoint / "query" / name for name in ("offsets", "commits", "state/0/0")]
    (jvm,) = children_of(driver)
    made, deadline = 0, time.monotonic() + _SECONDS_MAX
    while made < count and time.monotonic() < deadline:
        if not any(path.suffix == ".tmp" for each in writing for path in each.iterdir()):
            continue
        os.kill(jvm, signal.SIGSTOP)
        try:
            await_seen(lambda: set(thread_states(jvm)) <= {"T"}, what="standstill", pause=0)
            # What was seen may have its name by now: that is a moment like any other.
            copy = folder / f"picture-{made}"
            shutil.copytree(checkpoint, copy, ignore=shutil.ignore_patterns("*lock"))
        finally:
            os.kill(jvm, signal.SIGCONT)
        made += 1
        yield copy
