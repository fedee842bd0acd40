"""`--supervise`: a parent process that restarts the driver after an error that may be temporary.

It exits with the driver's code if the end was intended or would happen again at once. Otherwise it
restarts the driver, after a pause that doubles with each early death, until there are too many.

It exits after a refusal too, with one exception: a driver with a damaged checkpoint reports it
through a pipe; the supervisor then moves that folder aside, if allowed, and restarts the driver.
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
        # Another driver runs: a restart would supersede it, and so on forever.
        ExitCode.SUPERSEDED,
        # A restart would make the loser of a client id its winner.
        ExitCode.DUPLICATE_CLIENT,
    }
)
"""The driver's exit codes after which the supervisor exits with the same code."""

_PATH_BYTES_MAX: Final = 8_192

_FORWARDED: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """How often and how soon to restart the driver.

    Attributes:
        pause_seconds: the pause before the first restart; doubles with each early death.
        pause_seconds_max: the longest pause.
        healthy_seconds: a driver that lived this long was healthy: the pause is reset.
        deaths_max: this many deaths within `window_seconds` are a crash loop.
        window_seconds: see `deaths_max`.
    """

    pause_seconds: float = 1.0
    pause_seconds_max: float = 30.0
    healthy_seconds: float = 60.0
    deaths_max: int = 6
    window_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class DamageRecovery:
    """What the supervisor does about a damaged checkpoint.

    Attributes:
        checkpoint: the driver's folder; the supervisor moves no other.
        move: moves it aside; raises FairleadError if it must not or cannot.
        flag: the option that passes the pipe's file number to the driver.
    """

    checkpoint: Path
    move: Callable[[Path], object]
    flag: str


def report_damage(pipe: int, folder: Path) -> None:
    """Report from the driver to the supervisor which checkpoint is damaged."""
    with contextlib.suppress(OSError):
        os.write(pipe, os.fsencode(folder.absolute()))


class Supervisor:
    """Runs a command until it ends for good."""

    def __init__(
        self,
        command: Callable[[int], Sequence[str]],
        policy: RestartPolicy | None = None,
        recovery: DamageRecovery | None = None,
    ) -> None:
        """Describe the supervisor.

        Args:
            command: returns the driver's command line, given the number of restarts so far.
            policy: when to restart.
            recovery: what to do about a damaged checkpoint; None: exit, as after any refusal.
        """
        self._command = command
        self._policy = policy or RestartPolicy()
        self._recovery = recovery
        self._child: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        """Keep the driver running; return the exit code for this process.

        It forwards SIGTERM, SIGINT and SIGHUP to the driver, which then decides how it ends. Call
        it on the main thread.
        """
        with StopSignal() as stop:

            def pass_on(number: signal.Signals) -> None:
                stop.set()
                if self._child is not None:
                    # Popen does not signal a child that has already ended.
                    self._child.send_signal(number)

            with on_signals(_FORWARDED, pass_on):
                return self._run_until_final(stop)

    def _run_until_final(self, stop: StopSignal) -> int:
        """Restart the driver until it ends for good; return the exit code."""
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
                log.error("the driver keeps dying, giving up", deaths=len(deaths))
                return ExitCode.CRASH_LOOP
            if now - started >= self._policy.healthy_seconds:
                pause = self._policy.pause_seconds
            log.warning("the driver died, restarting it", code=code, pause_seconds=pause)
            if stop.wait(pause):
                return ExitCode.OK
            pause = min(2 * pause, self._policy.pause_seconds_max)
            restarts += 1

    def _run_child(self, restarts: int, stop: StopSignal) -> tuple[int, Path | None]:
        """Run the driver; return its exit code and the damaged checkpoint that it reported, if any.

        A negative code is the signal that ended it.
        """
        command = self._command(restarts)
        if self._recovery is None:
            return self._await_child(command, stop), None
        ours, its = os.pipe()
        try:
            # Processes that the driver has started may hold the other end open.
            os.set_blocking(ours, False)
            try:
                code = self._await_child([*command, self._recovery.flag, str(its)], stop, its)
            finally:
                os.close(its)
            with contextlib.suppress(BlockingIOError):
                reported = os.read(ours, _PATH_BYTES_MAX)
                return code, Path(os.fsdecode(reported)) if reported else None
            return code, None
        finally:
            os.close(ours)

    def _await_child(self, command: Sequence[str], stop: StopSignal, *pipes: int) -> int:
        self._child = subprocess.Popen(command, pass_fds=pipes)
        if stop.is_set:  # the signal came before the driver was there
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
                "the damaged checkpoint was not moved aside",
                reason=error.message,
                remedy=error.remedy,
            )
            return False
        return True


def _is_crash_loop(deaths: deque[float], policy: RestartPolicy) -> bool:
    """Tell whether the last deaths came too close together."""
    return len(deaths) == policy.deaths_max and deaths[-1] - deaths[0] <= policy.window_seconds


def _exit_code(code: int) -> int:
    """Return a valid exit code: 128 + n for signal n, as in a shell."""
    return 128 - code if code < 0 else code
