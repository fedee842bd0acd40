"""Starts, signals and awaits the embedded broker's processes.

A process is identified by its pid and its start time, because the pid alone may belong to another
process when a later command reads it from a file.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

_LAUNCHER: Final = Path(__file__).with_name("launcher.py")
_POLL_SECONDS: Final = 0.05
_LOOK_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process, alive or ended.

    Attributes:
        pid: its process id.
        started_ticks: its start, in clock ticks since boot (/proc); 0 without /proc.
    """

    pid: int
    started_ticks: int

    def is_alive(self) -> bool:
        """Tell whether this process runs; a zombie or a later process of its pid does not."""
        try:
            view = _kernel_view(self.pid)
        except ProcessLookupError:
            return False
        # The first thread of a killed process is a zombie while others still hold its sockets.
        ended = view.state == "Z" and view.threads <= 1
        return not ended and self.started_ticks in (0, view.started_ticks)

    def signal(self, number: signal.Signals) -> bool:
        """Send a signal; return False if the process is gone."""
        if not self.is_alive():
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)
            return True
        return False

    def wait(self, timeout_s: float) -> bool:
        """Wait until the process is gone; return False after a timeout."""
        if hasattr(os, "pidfd_open"):
            return self._wait_on_descriptor(timeout_s)
        return self.wait_by_looking(timeout_s)

    def _wait_on_descriptor(self, timeout_s: float) -> bool:
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return True
        try:
            if not self.is_alive():
                return True
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            return bool(poll.poll(max(0.0, timeout_s) * 1000))
        finally:
            os.close(descriptor)

    def wait_by_looking(self, timeout_s: float) -> bool:
        """Wait by polling, for systems without process descriptors."""
        deadline = time.monotonic() + timeout_s
        while self.is_alive():
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_SECONDS)
        return True


class ChildProcess:
    """A child process.

    A thread starts it and then waits for it. That thread lives exactly as long as the child. Linux
    ties the parent-death signal to a thread, so the child gets it when this process dies.
    """

    def __init__(self, command: list[str], output: Path, *, detached: bool) -> None:
        """Start the command.

        Args:
            command: the program's full path, and its arguments.
            output: the file to which its output is appended.
            detached: True if it should outlive this process.
        """
        self.exited = threading.Event()
        self.exit_code: int | None = None
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._process: subprocess.Popen[bytes] | None = None
        arguments = (command, output, detached)
        threading.Thread(target=self._keep, args=arguments, name="keeper", daemon=True).start()
        self._started.wait()
        if self._failure is not None:
            raise self._failure
        assert self._process is not None
        self.identity: ProcessIdentity = identify(self._process.pid)

    def _keep(self, command: list[str], output: Path, detached: bool) -> None:  # noqa: FBT001
        if not detached:
            launcher = [sys.executable, "-I", "-S", str(_LAUNCHER), str(os.getpid())]
            command = [*launcher, *command]
        try:
            with output.open("ab") as stream:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    # Ctrl-C should only reach the command, which stops its brokers in order.
                    start_new_session=True,
                )
        except BaseException as error:  # noqa: BLE001 - raised on the thread that asked
            self._failure = error
            self._started.set()
            return
        self._started.set()
        self.exit_code = self._process.wait()
        self.exited.set()

    def pause(self) -> None:
        """Pause it (SIGSTOP), and return when all its threads stand still, or it has ended.

        When `kill` returns, the signal is only sent: other threads may answer requests for a while.
        Without `waitid` this does not wait.
        """
        if self.identity.signal(signal.SIGSTOP) and hasattr(os, "waitid"):
            # The other thread collects the process; afterwards it is no child any more.
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, self.identity.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


def identify(pid: int) -> ProcessIdentity:
    """Return the identity of a process that runs now or has just ended."""
    try:
        return ProcessIdentity(pid, _kernel_view(pid).started_ticks)
    except ProcessLookupError:
        return ProcessIdentity(pid, 0)


def quorum_of(nodes: int) -> int:
    """Return how many of a cluster's nodes its controllers need for any decision."""
    return nodes // 2 + 1


def terminate(
    processes: list[ProcessIdentity], timeout_s: float, *, quorum: int = 0, alone_s: float = 5.0
) -> tuple[int, ...]:
    """Ask all processes to stop, and kill those that remain after the timeout.

    A broker needs the consent of a majority of the controllers for an orderly stop. All nodes are
    asked at once, so a slow one may find the others gone, and would wait for minutes.

    Args:
        processes: the processes to stop; ended ones are ignored.
        timeout_s: the limit for all together, in seconds.
        quorum: if fewer remain, they can get no consent; 0: they need none.
        alone_s: the time limit for those that remain then.

    Returns:
        The pids that had to be killed.
    """
    deadline = time.monotonic() + timeout_s
    for process in processes:
        if process.signal(signal.SIGTERM):
            process.signal(signal.SIGCONT)  # a paused process could not react
    left = [one for one in processes if one.is_alive()]
    while left and time.monotonic() < deadline:
        if len(left) < quorum:
            deadline, quorum = min(deadline, time.monotonic() + alone_s), 0
        left[0].wait(min(_LOOK_SECONDS, max(0.0, deadline - time.monotonic())))
        left = [one for one in left if one.is_alive()]
    for process in left:
        process.signal(signal.SIGKILL)
    for process in left:
        process.wait(timeout_s)
    return tuple(process.pid for process in left)


class _KernelView(NamedTuple):
    """The kernel's view of a process."""

    state: str
    threads: int
    started_ticks: int


def _kernel_view(pid: int) -> _KernelView:
    """Look up a process in /proc; without /proc, only its existence is known.

    Raises:
        ProcessLookupError: there is no such process.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        if Path("/proc/self/stat").exists():
            raise ProcessLookupError(pid) from None
        os.kill(pid, 0)
        return _KernelView("?", 1, 0)
    # The second field, the program's name, is in parentheses and may contain anything.
    fields = text.rpartition(")")[2].split()
    return _KernelView(fields[0], int(fields[17]), int(fields[19]))
