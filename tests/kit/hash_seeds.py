"""Another process with another hash seed: what it works out is to be the same."""

import os
import subprocess
import sys
from pathlib import Path

from tests.kit.awaiting import LONGEST_SECONDS

__all__ = ["printed_under"]


def printed_under(seed: str, program: str) -> bytes:
    """Return what a program prints in a process with this hash seed."""
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        check=True,
        timeout=LONGEST_SECONDS,
    ).stdout
