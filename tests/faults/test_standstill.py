"""The injectors do what they say: a process that shall stand still does, with all it started."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from fairlead_proof.local.processes import processor_seconds

from tests.faults.standstill import Standstill, thread_states
from tests.kit.awaiting import SECONDS, child_process

BUSY = """
import subprocess, sys, threading
def run():
    while True: pass
threading.Thread(target=run, daemon=True).start()
code = "print('child', flush=True)\\nwhile True: pass"
subprocess.Popen([sys.executable, "-c", code])
run()
"""


@pytest.fixture
def busy() -> Iterator[int]:
    """A process with two threads and a child, and none of them rests."""
    with child_process(
        [sys.executable, "-c", BUSY], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"child\n"
        yield process.pid
        os.killpg(process.pid, signal.SIGKILL)


def test_a_standstill_stops_every_thread(busy: int) -> None:
    """Every thread is stopped, and no processor time passes until they go on."""
    with Standstill(busy) as still:
        assert len(still.pids) == 2
        assert thread_states(busy) == "TT"
        before = processor_seconds(busy)
        still.hold(0.2)
        assert processor_seconds(busy) == before
    assert still.until_ns - still.since_ns >= 200_000_000
    deadline = time.monotonic() + 20
    while processor_seconds(busy) == before:
        assert time.monotonic() < deadline, "it did not go on"
        time.sleep(0.01)


def test_a_process_that_was_let_go_is_no_standstill(busy: int) -> None:
    """A process that somebody else lets go on is no standstill: the error says so."""
    with Standstill(busy) as still:
        os.kill(busy, signal.SIGCONT)
        with pytest.raises(AssertionError, match="went on by itself"):
            still.hold(0.05)


def test_with_a_dead_child() -> None:
    """A child that has ended and was not collected is no reason to wait."""
    code = (
        "import subprocess, sys; p = subprocess.Popen(['true']); print(p.pid, flush=True); input()"
    )
    with child_process(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        deadline = time.monotonic() + 20
        while thread_states(child) != "Z":
            assert time.monotonic() < deadline, "the child goes on"
            time.sleep(0.01)
        with Standstill(process.pid) as still:
            assert child in still.pids
            still.hold(0.05)
        process.communicate(b"\n", timeout=SECONDS)


def test_a_process_that_is_gone_stands_still_no_more() -> None:
    """Nobody stands still who is not there."""
    with child_process([sys.executable, "-c", ""]) as process:
        process.wait()
    assert thread_states(process.pid) == ""
    with pytest.raises(ProcessLookupError):
        Standstill(process.pid).__enter__()
