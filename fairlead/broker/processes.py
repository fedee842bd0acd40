"""Processes of the embedded broker: started, signalled, waited for, told apart from later ones.

A process is known by its pid and the moment the kernel started it, because a pid alone may belong
to somebody else by the time another command reads it from a file.
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
    """A process, for as long as it lives and after.

    Attributes:
        pid: its process id.
        started_ticks: when it started, in clock ticks since boot (/proc); 0 where /proc is missing.
    """

    pid: int
    started_ticks: int

    def is_alive(self) -> bool:
        """Tell whether this very process runs; a zombie does not, nor a later one of its pid."""
        try:
            view = _kernel_view(self.pid)
        except ProcessLookupError:
            return False
        # A killed process is a zombie by its first thread while others still hold its sockets.
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
        """Wait until the process is gone; return False when the time is over first."""
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
        """Wait by looking again and again: for systems without process descriptors."""
        deadline = time.monotonic() + timeout_s
        while self.is_alive():
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_SECONDS)
        return True


class ChildProcess:
    """A process this one started.

    It is started by a thread that then waits for it. That thread lives exactly as long as the
    child, so the child's parent-death signal, which Linux ties to a thread, means the death of this
    process.
    """

    def __init__(self, command: list[str], output: Path, *, detached: bool) -> None:
        """Start the command.

        Args:
            command: the program, by its full path, and its arguments.
            output: the file to which what it prints is appended.
            detached: True if it shall outlive this process.
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
                    # Ctrl-C at the terminal is for the command, which stops its brokers in order.
                    start_new_session=True,
                )
        except BaseException as error:  # noqa: BLE001 - carried to the thread that asked
            self._failure = error
            self._started.set()
            return
        self._started.set()
        self.exit_code = self._process.wait()
        self.exited.set()

    def pause(self) -> None:
        """Stop it (SIGSTOP), and return when every thread of it stands still, or it has ended.

        A signal is only sent when `kill` returns: other threads than the one that takes it may
        answer requests for a while. A system without `waitid` is not waited for.
        """
        if self.identity.signal(signal.SIGSTOP) and hasattr(os, "waitid"):
            # It stays for the keeper to collect; if that has happened it is no child any more.
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, self.identity.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


def identify(pid: int) -> ProcessIdentity:
    """Return the identity of a process that runs now (or has just ended)."""
    try:
        return ProcessIdentity(pid, _kernel_view(pid).started_ticks)
    except ProcessLookupError:
        return ProcessIdentity(pid, 0)


def quorum_of(nodes: int) -> int:
    """Return how many of a cluster's nodes must be there for its controllers to decide anything."""
    return nodes // 2 + 1


def terminate(
    processes: list[ProcessIdentity], timeout_s: float, *, quorum: int = 0, alone_s: float = 5.0
) -> tuple[int, ...]:
    """Ask all to stop, and kill those still there when the time is over.

    A broker leaves in order with the consent of its controllers, of which a majority must be there.
    All nodes are asked at once, so one that is slow may find that the others have gone: it would
    wait for minutes.

    Args:
        processes: who shall stop; those already gone are passed over.
        timeout_s: for all together, in seconds.
        quorum: if fewer than so many are left, nobody can give them leave; 0: they need none.
        alone_s: so long those have that are left then.

    Returns:
        the pids of those that had to be killed.
    """
    deadline = time.monotonic() + timeout_s
    for process in processes:
        if process.signal(signal.SIGTERM):
            process.signal(signal.SIGCONT)  # a paused one could not hear
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
    """What the kernel says of a process."""

    state: str
    threads: int
    started_ticks: int


def _kernel_view(pid: int) -> _KernelView:
    """Look a process up in /proc; where that is missing, only whether it is there is known.

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
    # The second field, the program's name, stands in parentheses and may contain anything.
    fields = text.rpartition(")")[2].split()
    return _KernelView(fields[0], int(fields[17]), int(fields[19]))
