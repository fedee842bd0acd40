"""A process of the local system: spoken to in lines, killed when asked, dead when we are dead."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from fairlead.broker import launcher
from fairlead_proof.local.processes import PROC, list_processes

_STOP_SECONDS: Final = 15.0
_GONE_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.005
_TAIL_LINES: Final = 15


@dataclass(frozen=True, slots=True)
class Killing:
    """When SIGKILL was sent and when the last process of the child was gone, in monotonic ns."""

    sent_ns: int
    dead_ns: int


class Child:
    """One child process and its own children.

    Start it on the main thread: Linux ties the death of a child to the thread that started it. It
    has a process group of its own, so that Ctrl-C at the terminal reaches this process alone, which
    then stops its children in order.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        *,
        environment: Mapping[str, str] | None = None,
        on_line: Callable[[str, bytes], None] | None = None,
    ) -> None:
        """Start the command.

        Args:
            name: what it is called in messages.
            command: the program, by its full path, and its arguments.
            log: where its standard error goes, and its standard output unless ``on_line`` is given.
            environment: variables over those of this process.
            on_line: called with the name and each line of its standard output, on a thread; with an
                empty line when there will be no more.
        """
        self.name = name
        self._gone = False
        self.log = log
        tether = [sys.executable, "-I", "-S", launcher.__file__, str(os.getpid())]
        with log.open("ab") as stream:
            self._process = subprocess.Popen(
                [*tether, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if on_line else stream,
                stderr=stream,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )
        self._reader = threading.Thread(target=self._read, args=(on_line,), name=name, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Its process id, which is that of its process group too."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How it ended; negative for a signal, None while it runs."""
        return self._process.poll()

    def send(self, **command: object) -> None:
        """Write one command, a line of JSON, to its standard input; a dead child hears nothing."""
        assert self._process.stdin is not None
        if self._process.stdin.closed:
            return
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(orjson.dumps(command) + b"\n")
            self._process.stdin.flush()

    def wait(self, timeout_s: float) -> int | None:
        """Return its exit code as soon as it ends, None when the time is over."""
        try:
            code = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None
        self._hang_up()
        return code

    def kill(self) -> Killing:
        """SIGKILL to all of its processes; return when all are gone. A second one does nothing.

        Raises:
            TimeoutError: the kernel did not remove them in time.
        """
        sent_ns = time.monotonic_ns()
        self._signal(signal.SIGKILL)
        self._process.wait()
        deadline = time.monotonic() + _GONE_SECONDS
        while not self._gone and _lives(self.pid):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.name}: processes of group {self.pid} did not end")
            time.sleep(_LOOK_SECONDS)
        dead_ns = time.monotonic_ns()
        self._close()
        return Killing(sent_ns, dead_ns)

    def stop(self, timeout_s: float = _STOP_SECONDS) -> int | None:
        """SIGTERM to it alone, so that it ends its own children in order; then SIGKILL to all.

        Returns:
            Its own exit code, None if it was still there when the time was over.
        """
        self._process.terminate()
        code = self.wait(timeout_s)
        if code is None:
            self.kill()
            return None
        if not self._gone and _lives(self.pid):
            self.kill()
        self._close()
        return code

    def log_tail(self) -> str:
        """The last lines it wrote, for a message about its end."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-_TAIL_LINES:])

    def _read(self, on_line: Callable[[str, bytes], None] | None) -> None:
        if on_line is None or self._process.stdout is None:
            return
        for line in self._process.stdout:
            on_line(self.name, line)
        on_line(self.name, b"")

    def _signal(self, number: signal.Signals) -> None:
        # The number of a group that is gone may belong to somebody else by now.
        if self._gone:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def _close(self) -> None:
        self._gone = True
        self._hang_up()

    def _hang_up(self) -> None:
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def _lives(group: int) -> bool:
    """Tell whether any process of the group runs; what only waits to be collected does not."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    if not (PROC / "self/stat").exists():
        return True
    return any(found.group == group and found.state not in "ZX" for found in list_processes())
