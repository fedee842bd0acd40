"""Shifts the wall clock of `fairlead run`, and of nothing else that finds this on its path.

libfaketime cannot do it: with it Python's own sleep fails (EINVAL) unless the clock that never goes
back is shifted as well, which no real clock does.
"""

import os
import sys
import time
from pathlib import Path

_FILE = os.environ.get("FAULTS_DRIVER_CLOCK")


def _shift(path: Path) -> None:
    now, now_ns = time.time, time.time_ns

    def seconds() -> int:
        return int(path.read_text(encoding="ascii"))

    def shifted() -> float:
        return now() + seconds()

    def shifted_ns() -> int:
        return now_ns() + seconds() * 1_000_000_000

    time.time, time.time_ns = shifted, shifted_ns


if _FILE is not None and sys.orig_argv[1:4] == ["-m", "fairlead", "run"]:
    _shift(Path(_FILE))
