"""The supervisor restarts what may pass, and passes on what is meant."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from fairlead.errors import ExitCode, RefusedError
from streaming.supervise import DamageRecovery, RestartPolicy, Supervisor
from tests.kit.awaiting import await_seen, child_process

QUICK = RestartPolicy(
    pause_seconds=0.01, pause_seconds_max=0.04, healthy_seconds=60, deaths_max=4, window_seconds=60
)

SUPERVISED = """
import sys
from streaming.supervise import RestartPolicy, Supervisor
child = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)); " \
        "print('child', flush=True); signal.pause()"
policy = RestartPolicy(pause_seconds=float(sys.argv[1]))
dead = "import sys; print('child', flush=True); sys.exit(6)"
text = child if sys.argv[2] == "waits" else dead
sys.exit(Supervisor(lambda _restarts: [sys.executable, "-c", text], policy).run())
"""


class Children:
    """Children that end with these codes in turn, and how they were started."""

    def __init__(self, *codes: int) -> None:
        self._codes = list(codes)
        self.restarts: list[int] = []

    def __call__(self, restarts: int) -> Sequence[str]:
        """Return the next child's command."""
        self.restarts.append(restarts)
        return [sys.executable, "-c", f"import os; {_end(self._codes.pop(0))}"]


def _end(code: int) -> str:
    return f"os._exit({code})" if code >= 0 else f"os.kill(os.getpid(), {-code})"


@pytest.mark.parametrize(
    "code",
    [
        ExitCode.OK,
        ExitCode.USAGE,
        ExitCode.REFUSED,
        ExitCode.SUPERSEDED,
        ExitCode.DUPLICATE_CLIENT,
    ],
)
def test_a_meant_end_is_passed_on(code: ExitCode) -> None:
    """An end that is meant is the supervisor's own end, at once."""
    children = Children(code)
    assert Supervisor(children, QUICK).run() == code
    assert children.restarts == [0]


@pytest.mark.parametrize("death", [ExitCode.QUERY_DIED, ExitCode.ENVIRONMENT, 1, -signal.SIGKILL])
def test_any_other_end_is_followed_by_a_restart(death: int) -> None:
    """Any other end leads to a restart, and the child learns how many there were."""
    children = Children(death, death, ExitCode.SUPERSEDED)
    assert Supervisor(children, QUICK).run() == ExitCode.SUPERSEDED
    assert children.restarts == [0, 1, 2]


def test_a_crash_loop_ends_with_its_own_code() -> None:
    """After too many deaths in too short a time the supervisor gives up with a code of its own."""
    children = Children(*[ExitCode.QUERY_DIED] * 4)
    assert Supervisor(children, QUICK).run() == ExitCode.CRASH_LOOP
    assert children.restarts == [0, 1, 2, 3]


def test_pauses_before_restarts_double() -> None:
    """Each early death doubles the pause before the restart, up to the longest."""
    policy = RestartPolicy(pause_seconds=0.1, pause_seconds_max=0.4, deaths_max=9)
    started = time.monotonic()
    Supervisor(Children(6, 6, 6, 6, 0), policy).run()
    assert time.monotonic() - started >= 0.1 + 0.2 + 0.4 + 0.4


def test_pause_starts_anew() -> None:
    """A child that was well for long is restarted after the first, short pause."""
    policy = RestartPolicy(
        pause_seconds=0.05, pause_seconds_max=60, healthy_seconds=0, deaths_max=12
    )
    started = time.monotonic()
    Supervisor(Children(*[6] * 11, 0), policy).run()
    # Doubling would have taken 0.05 x (2^11 - 1) = 102 seconds.
    assert time.monotonic() - started < 30


@contextmanager
def _supervised(pause: str, child: str) -> "Iterator[subprocess.Popen[str]]":
    command = [sys.executable, "-c", SUPERVISED, pause, child]
    with child_process(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "child\n"
        yield process


def test_signal_is_forwarded() -> None:
    """SIGTERM reaches the child, and the child's clean end is the supervisor's."""
    with _supervised("1", "waits") as process:
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(timeout=20) == ExitCode.OK


def test_a_signal_during_a_pause_ends_the_supervisor() -> None:
    """SIGTERM while the supervisor waits before a restart ends it at once and cleanly."""
    with _supervised("600", "dies") as process:
        assert process.stdout is not None
        # The supervisor writes its warning after the child's death, to the same pipe's reader.
        await_seen(
            process.stdout.readline,
            lambda line: "pause_seconds" in line,
            what="warning before the pause",
        )
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == ExitCode.OK


DAMAGED = Path("/path/to/checkpoint")


class Damaging:
    """Children that tell which checkpoint is damaged, each by its words, and end with a code."""

    def __init__(self, *told: tuple[int, str]) -> None:
        self._told = list(told)
        self.moved: list[Path] = []
        self.refuse = False

    def __call__(self, _restarts: int) -> Sequence[str]:
        """Return the next child's command; the pipe's number follows it."""
        code, folder = self._told.pop(0)
        text = (
            "import os, sys; from pathlib import Path; "
            "from streaming.supervise import report_damage; "
            f"{folder!r} and report_damage(int(sys.argv[2]), Path({folder!r})); os._exit({code})"
        )
        return [sys.executable, "-c", text]

    def move(self, folder: Path) -> None:
        """Take note; refuse if that was asked for."""
        if self.refuse:
            raise RefusedError("so many are kept already", remedy="delete some")
        self.moved.append(folder)

    def run(self) -> int:
        """Run them under a supervisor that may recover."""
        return Supervisor(self, QUICK, DamageRecovery(DAMAGED, self.move, "--damage-pipe")).run()


def test_damaged_is_moved_aside() -> None:
    """A driver that tells of damage is started again once the folder is out of its way."""
    children = Damaging((4, str(DAMAGED)), (6, ""), (0, ""))
    assert children.run() == ExitCode.OK
    assert children.moved == [DAMAGED]


def test_other_refusals_are_passed_on() -> None:
    """A refusal without a word of damage, or of another folder, moves nothing."""
    for told in ("", "/path/to/another"):
        children = Damaging((4, told))
        assert children.run() == ExitCode.REFUSED
        assert children.moved == []


def test_damaged_and_not_to_be_moved() -> None:
    """Where the folder must stay, the driver's refusal is the supervisor's own end."""
    children = Damaging((4, str(DAMAGED)))
    children.refuse = True
    assert children.run() == ExitCode.REFUSED


def test_damaged_again_and_again() -> None:
    """A disk that damages one checkpoint after the other ends in the crash loop as any death."""
    children = Damaging(*[(4, str(DAMAGED))] * 4)
    assert children.run() == ExitCode.CRASH_LOOP
