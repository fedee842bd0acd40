"""Processes: told apart, signalled, waited for, stopped in time or killed."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairlead.broker.processes import (
    ChildProcess,
    ProcessIdentity,
    identify,
    quorum_of,
    terminate,
)
from tests.kit.awaiting import await_seen, child_process, ended

_STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(300)
"""


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that does nothing and stops at SIGTERM."""
    with child_process([sys.executable, "-c", "import time; time.sleep(300)"]) as process:
        yield process
        process.kill()


@pytest.fixture
def stubborn() -> Iterator[subprocess.Popen[str]]:
    """A process that ignores SIGTERM, and is known to do so."""
    command = [sys.executable, "-c", _STUBBORN]
    with child_process(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "deaf\n"
        yield process
        process.kill()


def test_a_later_process_of_the_same_pid_is_another(sleeper: subprocess.Popen[bytes]) -> None:
    """The pid lives, but did not start when the recorded one did: it gets no signal."""
    now = identify(sleeper.pid)
    before = ProcessIdentity(now.pid, now.started_ticks - 1)
    assert now.is_alive()
    assert not before.is_alive()
    assert not before.signal(signal.SIGKILL)
    assert before.wait(0.0)
    assert sleeper.poll() is None


def test_a_pid_without_a_start_is_taken_as_it_is(sleeper: subprocess.Popen[bytes]) -> None:
    """Where the start is not known, the pid alone decides."""
    assert ProcessIdentity(sleeper.pid, 0).is_alive()


def test_a_zombie_is_gone(sleeper: subprocess.Popen[bytes]) -> None:
    """A killed child that nobody has waited for yet does not count as alive."""
    identity = identify(sleeper.pid)
    assert identity.signal(signal.SIGKILL)
    assert identity.wait(10.0)
    assert not identity.is_alive()
    assert sleeper.wait(10) == -signal.SIGKILL


def test_a_process_that_is_gone_is_waited_for_in_no_time() -> None:
    """Neither a signal nor a wait minds that nobody is there any more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    identity = identify(process.pid)
    process.wait(10)
    assert identity.wait(0.0)
    assert identity.wait_by_looking(0.0)
    assert not identity.signal(signal.SIGTERM)
    assert not identify(process.pid).is_alive()


@pytest.mark.parametrize("by_looking", [False, True])
def test_a_wait_ends_with_the_process_or_with_the_time(
    sleeper: subprocess.Popen[bytes], *, by_looking: bool
) -> None:
    """Both ways of waiting, with a descriptor and by looking, tell the two ends apart."""
    identity = identify(sleeper.pid)
    wait = identity.wait_by_looking if by_looking else identity.wait
    assert not wait(0.1)
    threading.Timer(0.2, sleeper.kill).start()
    begun = time.monotonic()
    assert wait(30.0)
    assert time.monotonic() - begun < 10.0


def test_who_does_not_stop_in_time_is_killed(
    sleeper: subprocess.Popen[bytes], stubborn: subprocess.Popen[str]
) -> None:
    """The obedient one stops by itself; the deaf one is killed when the time is over, and named."""
    both = [identify(sleeper.pid), identify(stubborn.pid)]
    assert terminate(both, 0.5) == (stubborn.pid,)
    assert sleeper.wait(10) == -signal.SIGTERM
    assert stubborn.wait(10) == -signal.SIGKILL


def test_who_is_left_alone_is_not_waited_for(
    sleeper: subprocess.Popen[bytes], stubborn: subprocess.Popen[str]
) -> None:
    """Without a majority nobody gives a node leave: it is killed long before the time is over."""
    both = [identify(sleeper.pid), identify(stubborn.pid)]
    begun = time.monotonic()
    assert terminate(both, 100.0, quorum=quorum_of(2), alone_s=0.2) == (stubborn.pid,)
    assert time.monotonic() - begun < 50.0


def test_a_paused_process_is_stopped_too(sleeper: subprocess.Popen[bytes]) -> None:
    """It is woken to hear the request: no kill is needed."""
    identity = identify(sleeper.pid)
    identity.signal(signal.SIGSTOP)
    assert terminate([identity], 10.0) == ()
    assert sleeper.wait(10) == -signal.SIGTERM


def test_a_child_is_followed_to_its_end(tmp_path: Path) -> None:
    """What it prints is in its file, and its exit code is known when it has ended."""
    output = tmp_path / "output.log"
    command = [sys.executable, "-c", "print('hello'); raise SystemExit(7)"]
    child = ChildProcess(command, output, detached=False)
    assert child.exited.wait(10)
    assert child.exit_code == 7
    assert output.read_text() == "hello\n"
    assert not child.identity.is_alive()


def test_a_paused_child_does_nothing_more(tmp_path: Path) -> None:
    """None of its threads runs when pause returns; let go on, it ends as it would have."""
    program = (
        "import os, signal, threading\n"
        "def work():\n"
        "    while os.write(1, b'works'): pass\n"
        "for _ in range(4): threading.Thread(target=work, daemon=True).start()\n"
        "signal.pause()\n"
    )
    output = tmp_path / "output.log"
    child = ChildProcess([sys.executable, "-c", program], output, detached=False)
    await_seen(lambda: output.stat().st_size, lambda size: size >= 10_000, what="output")
    for _ in range(20):
        child.pause()
        said = output.stat().st_size
        assert not child.exited.wait(0.01)
        assert output.stat().st_size == said
        child.identity.signal(signal.SIGCONT)
    assert terminate([child.identity], 10.0) == ()
    assert child.exited.wait(10)
    child.pause()
    assert not child.identity.is_alive()


def test_a_program_that_does_not_exist_is_told_to_the_caller(tmp_path: Path) -> None:
    """A detached child's program must be there; the error reaches the thread that asked."""
    with pytest.raises(FileNotFoundError):
        ChildProcess(["/nowhere/java"], tmp_path / "output.log", detached=True)


def test_a_child_outlives_the_thread_that_started_it(tmp_path: Path) -> None:
    """The parent-death signal must not follow from the end of a thread."""
    children: list[ChildProcess] = []
    command = [sys.executable, "-c", "import time; time.sleep(300)"]

    def begin() -> None:
        children.append(ChildProcess(command, tmp_path / "output.log", detached=False))

    thread = threading.Thread(target=begin)
    thread.start()
    ended(thread)
    (child,) = children
    assert not child.exited.wait(1.0)
    child.identity.signal(signal.SIGKILL)
    assert child.exited.wait(10)


_PARENT = """
import sys, time
from pathlib import Path
from fairlead.broker.processes import ChildProcess
command = [sys.executable, "-c", "import time; time.sleep(300)"]
child = ChildProcess(command, Path(sys.argv[1]), detached=sys.argv[2] == "detached")
print(child.identity.pid, flush=True)
time.sleep(300)
"""


@pytest.mark.parametrize("kind", ["attached", "detached"])
def test_the_death_of_the_parent(tmp_path: Path, kind: str) -> None:
    """When its parent is killed, an attached child dies and a detached one lives on."""
    command = [sys.executable, "-c", _PARENT, str(tmp_path / "output.log"), kind]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    with child_process(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        child = identify(int(parent.stdout.readline()))
        # The launcher asks for the signal before it becomes the program.
        _await_program(child.pid)
        parent.kill()
    try:
        assert child.wait(3.0 if kind == "attached" else 0.5) == (kind == "attached")
    finally:
        child.signal(signal.SIGKILL)


def _await_program(pid: int) -> None:
    """Wait until a process has become the sleeping program."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if b"-c" in arguments:
                return
        time.sleep(0.02)
    raise AssertionError(f"{pid} did not become the program")


def test_a_launcher_whose_parent_is_gone_starts_nothing() -> None:
    """The parent may die before the launcher has asked for the signal: then it ends itself."""
    launcher = Path(__file__).parents[2] / "fairlead" / "broker" / "launcher.py"
    # Not the pid of this process, which is the launcher's real parent.
    command = [sys.executable, str(launcher), str(os.getppid()), "/bin/echo", "started"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert (answer.returncode, answer.stdout) == (1, "")
