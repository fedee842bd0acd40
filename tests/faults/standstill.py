"""SIGSTOP to processes and all that they started, certain before anything is concluded from it."""

import contextlib
import os
import signal
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from fairlead_proof.local.processes import PROC, family_of

_STOP_SECONDS_MAX: Final = 10.0
_LOOK_SECONDS: Final = 0.002
_DEAD: Final = frozenset("ZX")


def thread_states(pid: int) -> str:
    """Return the kernel's letter of each thread of a process: T is stopped; empty when it is gone.

    A thread that ends while it is looked at is left out.
    """
    states = []
    for path in sorted((PROC / str(pid) / "task").glob("[0-9]*/stat")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            states.append(_state(path))
    return "".join(states)


class Standstill:
    """As a context: a process and its descendants stand still, every thread of them.

    Attributes:
        since_ns: when all of them did for certain.
        until_ns: right before they were let go on; 0 while they stand.
    """

    def __init__(self, pid: int) -> None:
        """Describe it; ``pid`` is the process."""
        self._pid = pid
        self._pids: list[int] = []
        self.since_ns = self.until_ns = 0

    def __enter__(self) -> Self:
        """Stop them.

        Raises:
            TimeoutError: a thread went on.
        """
        deadline = time.monotonic() + _STOP_SECONDS_MAX
        # A process may have started another one before it was stopped.
        while not self.is_complete():
            self._pids = [process.pid for process in family_of(self._pid)]
            self._signal(signal.SIGSTOP)
            if time.monotonic() > deadline:
                self.go_on()
                raise TimeoutError(f"process {self._pid} did not stand still")
            time.sleep(_LOOK_SECONDS)
        self.since_ns = time.monotonic_ns()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let them go on."""
        self.go_on()

    @property
    def pids(self) -> list[int]:
        """The processes that stand still."""
        return list(self._pids)

    def is_complete(self) -> bool:
        """Tell whether every thread of every process stands still."""
        states = [set(thread_states(pid)) - _DEAD for pid in self._pids]
        # What has ended, and only waits to be collected, does nothing either.
        return bool(states) and states[0] == {"T"} and all(found <= {"T"} for found in states)

    def hold(self, seconds: float) -> None:
        """Return when they have stood still for so long.

        Raises:
            AssertionError: they have not, all the time.
        """
        time.sleep(max(0.0, self.since_ns / 1e9 + seconds - time.monotonic()))
        assert self.is_complete(), f"process {self._pid} went on by itself"

    def go_on(self) -> None:
        """Let them go on; a second time does nothing."""
        if self.until_ns == 0:
            self.until_ns = time.monotonic_ns()
            self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        for pid in self._pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def _state(path: Path) -> str:
    # The program's name stands in parentheses and may hold anything.
    text = path.read_text(encoding="ascii", errors="replace")
    return text.rpartition(")")[2].split()[0]
