"""`--supervise`: a parent that starts the driver again when it died of something that may pass.

Some ends are meant or would come again at once: those are passed on. Everything else is restarted,
after a pause that doubles with each early death, until there were too many of them.

A refusal is passed on too, but for one: a driver that found its checkpoint damaged says so through
a pipe, and a supervisor that may do so moves that folder aside and starts the driver again.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from fairlead.errors import ExitCode, FairleadError
from fairlead.stop_signal import StopSignal, on_signals

log = structlog.get_logger()

FINAL_CODES: Final = frozenset(
    {
        ExitCode.OK,
        ExitCode.USAGE,
        ExitCode.REFUSED,
        # Another driver runs: starting again would put that one out, and so on for ever.
        ExitCode.SUPERSEDED,
        # A restart would make the loser of a client id its winner.
        ExitCode.DUPLICATE_CLIENT,
    }
)
"""Exit codes of the child that the supervisor passes on instead of starting it again."""

_SAID_BYTES_MAX: Final = 8_192

_FORWARDED: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """How often, and how soon.

    Attributes:
        pause_seconds: before the first restart; doubles with each death that comes early.
        pause_seconds_max: no pause is longer.
        healthy_seconds: a child that lived so long was well: the pause starts from the beginning.
        deaths_max: so many deaths within `window_seconds` are a crash loop.
        window_seconds: see `deaths_max`.
    """

    pause_seconds: float = 1.0
    pause_seconds_max: float = 30.0
    healthy_seconds: float = 60.0
    deaths_max: int = 6
    window_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class Recovery:
    """What the supervisor does about a damaged checkpoint.

    Attributes:
        checkpoint: the folder that the driver uses; no other one is moved.
        move: moves it aside; raises FairleadError if that must not or cannot be.
        flag: the option by which the driver is given the number of the pipe's file.
    """

    checkpoint: Path
    move: Callable[[Path], object]
    flag: str


def tell_damage(pipe: int, folder: Path) -> None:
    """Tell the supervisor, from its child, which checkpoint is damaged."""
    with contextlib.suppress(OSError):
        os.write(pipe, os.fsencode(folder.absolute()))


class Supervisor:
    """Runs a command until it ends for good."""

    def __init__(
        self,
        command: Callable[[int], Sequence[str]],
        policy: RestartPolicy | None = None,
        recovery: Recovery | None = None,
    ) -> None:
        """Describe the supervisor.

        Args:
            command: the child's command line, given how often it was restarted before.
            policy: when to restart.
            recovery: what to do about a damaged checkpoint; None: nothing, like any refusal.
        """
        self._command = command
        self._policy = policy or RestartPolicy()
        self._recovery = recovery
        self._child: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        """Keep the child running; return the exit code that this process should end with.

        SIGTERM, SIGINT and SIGHUP are passed on to the child, which then decides how it ends. Call
        it on the main thread.
        """
        with StopSignal() as stop:

            def pass_on(number: signal.Signals) -> None:
                stop.set()
                if self._child is not None:
                    # An ended child is not signalled: Popen looks first.
                    self._child.send_signal(number)

            with on_signals(_FORWARDED, pass_on):
                return self._run_until_final(stop)

    def _run_until_final(self, stop: StopSignal) -> int:
        """Start the child again and again; return the code to end with."""
        deaths: deque[float] = deque(maxlen=self._policy.deaths_max)
        pause = self._policy.pause_seconds
        restarts = 0
        while True:
            started = time.monotonic()
            code, damaged = self._run_child(restarts, stop)
            recovers = code == ExitCode.REFUSED and not stop.is_set and self._recovers(damaged)
            if (code in FINAL_CODES and not recovers) or stop.is_set:
                return _exit_code(code)
            now = time.monotonic()
            deaths.append(now)
            if _is_crash_loop(deaths, self._policy):
                log.error("the driver dies again and again, giving up", deaths=len(deaths))
                return ExitCode.CRASH_LOOP
            if now - started >= self._policy.healthy_seconds:
                pause = self._policy.pause_seconds
            log.warning("the driver died, starting it again", code=code, pause_seconds=pause)
            if stop.wait(pause):
                return ExitCode.OK
            pause = min(2 * pause, self._policy.pause_seconds_max)
            restarts += 1

    def _run_child(self, restarts: int, stop: StopSignal) -> tuple[int, Path | None]:
        """Start the child; return its exit code and the checkpoint that it found damaged, if any.

        A negative code: it was ended by that signal.
        """
        command = self._command(restarts)
        if self._recovery is None:
            return self._await_child(command, stop), None
        ours, its = os.pipe()
        try:
            # Whatever the child has started may hold the other end open.
            os.set_blocking(ours, False)
            try:
                code = self._await_child([*command, self._recovery.flag, str(its)], stop, its)
            finally:
                os.close(its)
            with contextlib.suppress(BlockingIOError):
                said = os.read(ours, _SAID_BYTES_MAX)
                return code, Path(os.fsdecode(said)) if said else None
            return code, None
        finally:
            os.close(ours)

    def _await_child(self, command: Sequence[str], stop: StopSignal, *pipes: int) -> int:
        self._child = subprocess.Popen(command, pass_fds=pipes)
        if stop.is_set:  # the signal came before there was a child to pass it on to
            self._child.terminate()
        return self._child.wait()

    def _recovers(self, damaged: Path | None) -> bool:
        """Move a damaged checkpoint aside; return whether the next driver can start without it."""
        recovery = self._recovery
        if recovery is None or damaged is None or damaged != recovery.checkpoint:
            return False
        try:
            recovery.move(damaged)
        except FairleadError as error:
            log.error(  # noqa: TRY400 - a refusal with its remedy, no defect with a traceback
                "the damaged checkpoint stays where it is",
                reason=error.message,
                remedy=error.remedy,
            )
            return False
        return True


def _is_crash_loop(deaths: deque[float], policy: RestartPolicy) -> bool:
    """Tell whether the last deaths came too close together."""
    return len(deaths) == policy.deaths_max and deaths[-1] - deaths[0] <= policy.window_seconds


def _exit_code(code: int) -> int:
    """Return a code that a process can end with: the shell's 128 + n for a signal."""
    return 128 - code if code < 0 else code
