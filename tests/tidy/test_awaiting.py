"""Long commands are waited for as long as they say something."""

import sys

import pytest

from tests.kit.awaiting import run_talking


def test_a_command_that_tells_how_far_it_is() -> None:
    """Whatever it says is returned, with its end, though it takes longer than one wait."""
    code = (
        "import sys, time\n"
        "for number in range(4):\n"
        "    time.sleep(0.3)\n"
        "    print(number, file=sys.stderr, flush=True)\n"
        "print('done')\n"
        "sys.exit(3)\n"
    )
    found = run_talking([sys.executable, "-c", code], seconds=1.0)
    assert (found.returncode, found.stdout) == (3, b"done\n")
    assert found.stderr.split() == [b"0", b"1", b"2", b"3"]


def test_a_command_that_falls_silent() -> None:
    """It is ended, and the error tells its last words."""
    code = "import time; print('began', flush=True); time.sleep(100)"
    with pytest.raises(TimeoutError, match=r"no word of .* within 0\.5 s"):
        run_talking([sys.executable, "-c", code], seconds=0.5)
