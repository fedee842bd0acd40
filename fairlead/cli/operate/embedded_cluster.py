"""What the commands of both embedded clusters share: a start, a stop, and the words for them."""

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from fairlead.errors import EnvironmentMissingError
from fairlead.stop_signal import StopSignal, on_signals

__all__ = ["EmbeddedCluster", "Say", "run_cluster", "state_of", "stop_and_tell"]

Say = Callable[[str], None]

_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_LOOK_SECONDS: Final = 0.5


class EmbeddedCluster(Protocol):
    """A cluster whose servers are processes of this machine."""

    def start(self) -> object:
        """Start every server and return when all are in service."""

    def stop(self) -> None:
        """Stop every server."""


def run_cluster(
    cluster: EmbeddedCluster,
    begins: str,
    say: Say,
    finish: Callable[[], None],
    ended: Callable[[], EnvironmentMissingError | None],
    *,
    foreground: bool,
) -> None:
    """Start a cluster and finish the start; in the foreground, stay until a signal.

    Args:
        cluster: the cluster.
        begins: says what is started, and where.
        say: tells the user.
        finish: what follows the start.
        ended: returns the error of a server that has ended by itself; None: all run.
        foreground: whether to stay, and stop the cluster at the end.

    Raises:
        EnvironmentMissingError: the cluster does not start, or a server ended by itself.
    """
    # The handlers come first: Ctrl-C during the start must not leave servers behind.
    with (
        StopSignal() as stop,
        on_signals(_STOP_SIGNALS if foreground else (), lambda _: stop.set()),
    ):
        begun = time.monotonic()
        say(begins)
        cluster.start()
        say(f"in service after {time.monotonic() - begun:.1f} s")
        try:
            finish()
            if foreground:
                _stay(say, ended, stop)
        finally:
            if foreground:
                cluster.stop()


def _stay(say: Say, ended: Callable[[], EnvironmentMissingError | None], stop: StopSignal) -> None:
    say("running; Ctrl-C stops it")
    while not stop.wait(_LOOK_SECONDS):
        error = ended()
        if error is not None:
            raise error
    say("stopping")


def stop_and_tell(
    folder: Path, timeout: float, stop: Callable[[Path, float], tuple[int, ...] | None], say: Say
) -> None:
    """Stop the cluster of a folder and say how it ended."""
    begun = time.monotonic()
    killed = stop(folder, timeout)
    if killed is None:
        say(f"no cluster runs in {folder}")
        return
    for pid in killed:
        say(f"process {pid} did not stop within {timeout:.0f} s and was killed")
    say(f"stopped in {time.monotonic() - begun:.1f} s; its topics stay in {folder}")


def state_of(*, running: bool, in_service: bool) -> str:
    """Return the word for a server's state."""
    return "in_service" if in_service else "not_ready" if running else "stopped"
