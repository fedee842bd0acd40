"""`--supervise`: a parent that starts the driver again when it died of something that may pass.

Some ends are meant or would come again at once: those are passed on. Everything else is restarted,
after a pause that doubles with each early death, until there were too many of them.
"""

import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from fairlead.errors import ExitCode
from streaming.stopping import StopSignal, on_signals

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


class Supervisor:
    """Runs a command until it ends for good."""

    def __init__(
        self,
        command: Callable[[int], Sequence[str]],
        policy: RestartPolicy | None = None,
    ) -> None:
        """Describe the supervisor.

        Args:
            command: the child's command line, given how often it was restarted before.
            policy: when to restart.
        """
        self._command = command
        self._policy = policy or RestartPolicy()
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
            code = self._run_child(restarts, stop)
            if code in FINAL_CODES or stop.is_set:
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

    def _run_child(self, restarts: int, stop: StopSignal) -> int:
        """Start the child and return its exit code; negative: it was ended by that signal."""
        self._child = subprocess.Popen(self._command(restarts))
        if stop.is_set:  # the signal came before there was a child to pass it on to
            self._child.terminate()
        return self._child.wait()


def _is_crash_loop(deaths: deque[float], policy: RestartPolicy) -> bool:
    """Tell whether the last deaths came too close together."""
    return len(deaths) == policy.deaths_max and deaths[-1] - deaths[0] <= policy.window_seconds


def _exit_code(code: int) -> int:
    """Return a code that a process can end with: the shell's 128 + n for a signal."""
    return 128 - code if code < 0 else code
