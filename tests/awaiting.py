"""How tests wait: for a state, with a bound, and with a message that tells what was seen last.

A single look where a state is still on its way fails on a busy machine, and a wait without a bound
hangs there. `await_seen` is for states, `ended` for threads, `child_process` for processes. The
tests of tidiness find whoever waits without a bound.
"""

import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

__all__ = ["LONGEST_SECONDS", "SECONDS", "await_seen", "child_process", "ended"]

LONGEST_SECONDS: Final = 120.0
"""No test waits longer for anything."""
SECONDS: Final = 60.0
"""How long a state is waited for unless somebody says otherwise."""

_Seen = TypeVar("_Seen")


def await_seen(
    look: Callable[[], _Seen],
    wanted: Callable[[_Seen], object] = bool,
    *,
    what: str,
    seconds: float = SECONDS,
    pause: float = 0.05,
) -> _Seen:
    """Look again and again until what is seen is wanted, and return it.

    Args:
        look: returns what is there now. An error that it raises ends the wait, so it also checks
            that whoever brings the state about is still alive.
        wanted: tells whether that is it; without it, anything that is true.
        what: the state, for the message.
        seconds: the bound. One look is made after it, so that a pause of the machine fails nobody.
        pause: seconds between two looks; 0 where the look itself waits.

    Raises:
        TimeoutError: it did not come about; tells what was seen last.
    """
    assert seconds <= LONGEST_SECONDS, f"{seconds} s for {what}: no test waits so long"
    deadline = time.monotonic() + seconds
    while True:
        is_last = time.monotonic() > deadline
        seen = look()
        if wanted(seen):
            return seen
        if is_last:
            raise TimeoutError(f"no {what} within {seconds:g} s; seen last: {seen!r}")
        time.sleep(pause)


def ended(thread: threading.Thread, seconds: float = SECONDS) -> None:
    """Wait for the end of a thread.

    Raises:
        TimeoutError: it goes on.
    """
    thread.join(seconds)
    if thread.is_alive():
        raise TimeoutError(f"{thread.name} did not end within {seconds:g} s")


@contextmanager
def child_process(
    command: Sequence[str], *, seconds: float = LONGEST_SECONDS, **options: Any
) -> Iterator["subprocess.Popen[Any]"]:
    """Start a process; on exit its pipes are closed, and its end is awaited.

    At the bound it is killed, and at once if the block fails: so nobody hangs. Its pipes close with
    it: who reads a line from it then gets an empty one, and fails there.

    Args:
        command: what to run.
        seconds: the bound.
        options: as `subprocess.Popen` takes them.
    """
    process = subprocess.Popen(command, **options)
    watchdog = threading.Timer(seconds, process.kill)
    watchdog.daemon = True
    watchdog.start()
    try:
        with process:
            try:
                yield process
            except BaseException:
                process.kill()
                raise
    finally:
        watchdog.cancel()
