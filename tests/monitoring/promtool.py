"""Runs the real promtool and tells what it says."""

import subprocess
from pathlib import Path

from tests.kit.awaiting import LONGEST_SECONDS
from tools.prometheus import find_program


def promtool(*arguments: str | Path, given: bytes = b"") -> tuple[int, str]:
    """Return its exit code and everything that it printed.

    Raises:
        EnvironmentMissingError: there is no promtool here; the remedy is in the message.
    """
    done = subprocess.run(
        [find_program("promtool"), *arguments],
        input=given,
        capture_output=True,
        check=False,
        timeout=LONGEST_SECONDS,
    )
    return done.returncode, (done.stdout + done.stderr).decode()
