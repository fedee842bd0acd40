"""How tests wait: for a state, with a bound, and with a message that tells what was seen last.

A single look where a state is still on its way fails on a busy machine, and a wait without a bound
hangs there. `await_seen` is for states, `ended` for threads, `child_process` for processes, and
`run_talking` for long ones that tell how far they are. The tests of tidiness find whoever waits
without a bound.
"""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import IO, Any, Final, TypeVar

__all__ = ["LONGEST_SECONDS", "SECONDS", "await_seen", "child_process", "ended", "run_talking"]

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


def run_talking(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    seconds: float = LONGEST_SECONDS,
) -> subprocess.CompletedProcess[bytes]:
    """Run a command that takes longer than one wait may, as long as it says something.

    Args:
        command: what to run.
        environment: its environment; None for this process's own.
        seconds: how long it may be silent.

    Raises:
        TimeoutError: it was silent for longer; tells what it had said until then.
    """
    heard: dict[str, bytearray] = {"output": bytearray(), "errors": bytearray()}

    def listen(pipe: IO[bytes], said: bytearray) -> None:
        while more := os.read(pipe.fileno(), 65_536):
            said += more

    def has_more(before: list[int]) -> bool:
        return process.poll() is not None or _sizes(heard) != before

    pipes = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipes, stderr=pipes) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        listeners = [
            threading.Thread(target=listen, args=(pipe, heard[name]), daemon=True)
            for name, pipe in (("output", process.stdout), ("errors", process.stderr))
        ]
        try:
            for listener in listeners:
                listener.start()
            while process.poll() is None:
                await_seen(
                    partial(has_more, _sizes(heard)),
                    what=f"word of {command}, which had said {heard['errors'][-2_000:]!r}",
                    seconds=seconds,
                )
        except BaseException:
            process.kill()
            raise
        for listener in listeners:
            ended(listener)
    return subprocess.CompletedProcess(
        command, process.returncode, bytes(heard["output"]), bytes(heard["errors"])
    )


def _sizes(heard: Mapping[str, bytearray]) -> list[int]:
    return [len(said) for said in heard.values()]
