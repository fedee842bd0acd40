"""The client's clock counts the time that the machine was suspended."""

import shutil
import subprocess
import sys
import time

import pytest
from fairlead_client.session.clock import now_ms

from tests.kit.awaiting import LONGEST_SECONDS

DAY_SECONDS = 86_400


def test_the_clock_counts_whole_milliseconds_since_boot() -> None:
    """The clock is that of the time since boot, in milliseconds, and goes on."""
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    now = now_ms()
    assert before * 1_000 - 1 <= now <= time.clock_gettime(time.CLOCK_BOOTTIME) * 1_000


def test_not_the_monotonic_clock() -> None:
    """Where a day more has passed since boot than the monotonic clock knows of, it counts."""
    unshare = shutil.which("unshare")
    program = "import time; from fairlead_client.session.clock import now_ms; "
    program += "print(now_ms() / 1_000 - time.monotonic())"
    command = [
        str(unshare),
        "--time",
        "--boottime",
        str(DAY_SECONDS),
        sys.executable,
        "-c",
        program,
    ]
    ended = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS
    )
    if ended.returncode:
        pytest.skip("a time namespace needs unshare and the right to make one")
    ahead = time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()
    assert float(ended.stdout) == pytest.approx(ahead + DAY_SECONDS, abs=60)
