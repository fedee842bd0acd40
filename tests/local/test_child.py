"""Children of the local system: heard, told, killed with all they started, dead with us."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from fairlead_proof.local.child import Child

from tests.kit.awaiting import child_process

SECONDS = 20.0

ECHO = """
import json, sys
print(json.dumps({"event": "ready"}), flush=True)
for line in sys.stdin:
    print(json.dumps({"heard": json.loads(line)["do"]}), flush=True)
"""

WITH_GRANDCHILD = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
child.wait()
"""

PARENT = """
import sys, time
from pathlib import Path
from fairlead_proof.local.child import Child
child = Child("kept", [sys.executable, "-c", "import time; time.sleep(600)"], Path(sys.argv[1]))
print(child.pid, flush=True)
time.sleep(600)
"""


class Lines:
    """Collects what a child says, and lets a test wait for it."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self._changed = threading.Condition()

    def hear(self, _: str, line: bytes) -> None:
        """Take one line."""
        with self._changed:
            self.lines.append(line)
            self._changed.notify_all()

    def wait_for(self, count: int) -> list[bytes]:
        """Return the lines as soon as there are so many."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.lines) >= count, SECONDS)
            return list(self.lines)


def _python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def _is_gone(pid: int) -> bool:
    """Wait until the kernel has no such process, or only its remains."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state.split()[0] in "ZX":
            return True
        os.sched_yield()
    return False


def test_a_child_hears_commands_and_is_heard_by_line(tmp_path: Path) -> None:
    """A child takes commands, answers line by line, and ends with an empty line."""
    lines = Lines()
    child = Child("echo", _python(ECHO), tmp_path / "log", on_line=lines.hear)
    lines.wait_for(1)
    child.send(do="hold")
    assert lines.wait_for(2)[1] == b'{"heard": "hold"}\n'
    child.kill()
    assert lines.wait_for(3)[2] == b""
    child.send(do="resume")  # the dead hear nothing, and nobody minds


def test_kill_takes_all(tmp_path: Path) -> None:
    """A kill ends the child and what it started, and returns when both are gone."""
    lines = Lines()
    child = Child("family", _python(WITH_GRANDCHILD), tmp_path / "log", on_line=lines.hear)
    grandchild = int(lines.wait_for(1)[0])
    before_ns = time.monotonic_ns()
    killing = child.kill()
    assert before_ns <= killing.sent_ns <= killing.dead_ns <= time.monotonic_ns()
    assert child.exit_code == -signal.SIGKILL
    assert _is_gone(grandchild)


def test_stop_reports_exit_code(tmp_path: Path) -> None:
    """A child that ends on SIGTERM is not killed, and its exit code is handed on."""
    code = (
        "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(7));"
        "print('on', flush=True); signal.pause()"
    )
    lines = Lines()
    child = Child("obedient", _python(code), tmp_path / "log", on_line=lines.hear)
    lines.wait_for(1)
    assert child.stop() == 7


def test_stop_kills_the_deaf(tmp_path: Path) -> None:
    """A child that ignores SIGTERM is killed when the time is over."""
    code = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('on', flush=True); signal.pause()"
    )
    lines = Lines()
    child = Child("deaf", _python(code), tmp_path / "log", on_line=lines.hear)
    lines.wait_for(1)
    assert child.stop(timeout_s=0.2) is None
    assert child.exit_code == -signal.SIGKILL


def test_what_a_child_writes_is_in_its_log(tmp_path: Path) -> None:
    """What a child writes without being listened to is in its log."""
    child = Child("writer", _python("import sys; print('out'); sys.exit('err')"), tmp_path / "log")
    assert child.wait(SECONDS) == 1
    assert set(child.log_tail().split()) == {"out", "err"}
    child.stop()


def test_dies_with_its_parent(tmp_path: Path) -> None:
    """When the process that started it is killed, a child dies too."""
    with child_process(
        _python(PARENT, str(tmp_path / "log")), stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    assert _is_gone(pid)


def test_nothing_is_left_open_of_one_that_has_ended(tmp_path: Path) -> None:
    """Whoever only waits for a child closes its pipes; a command to it is in vain."""
    lines = Lines()
    child = Child("echo", _python(ECHO), tmp_path / "log", on_line=lines.hear)
    lines.wait_for(1)
    os.kill(child.pid, signal.SIGTERM)
    assert child.wait(SECONDS) == -signal.SIGTERM
    pipes = (child._process.stdin, child._process.stdout)  # noqa: SLF001 - what is left of it
    assert [pipe.closed for pipe in pipes if pipe is not None] == [True, True]
    child.send(do="more")
