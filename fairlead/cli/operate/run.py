"""`fairlead run`: the engine, alone or under a supervisor."""

import contextlib
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import CheckpointOption, SettingsOptions
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead.settings import Settings
    from streaming.skipping import SkippedPlace

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_SUPERVISE = "--supervise"
_ACCEPT_LOST_INPUT = "--accept-lost-input"
_SKIP = "--skip"
_RECOVER_DAMAGED = "--recover-damaged"
_DAMAGE_PIPE = "--damage-pipe"

_RecoverDamaged = Annotated[
    bool,
    typer.Option(
        _RECOVER_DAMAGED,
        help="With --supervise: move a damaged checkpoint aside and recover; sets "
        "engine.recover_damaged.",
    ),
]
_Skips = Annotated[
    list[str] | None,
    typer.Option(
        _SKIP,
        metavar="TOPIC/PARTITION@OFFSET",
        help="Skip this record of an input topic, unread and once. Repeatable.",
    ),
]


@takes_sets
def run(
    *,
    shared: SettingsOptions,
    checkpoint: CheckpointOption = None,
    metrics_port: Annotated[
        int | None,
        typer.Option("--metrics-port", help="The port of /metrics, 0 for any; sets metrics.port."),
    ] = None,
    supervise: Annotated[
        bool,
        typer.Option(_SUPERVISE, help="Restart the engine when it dies; see docs."),
    ] = False,
    recover_damaged: _RecoverDamaged = False,
    archive: Annotated[
        bool,
        typer.Option(
            "--archive/--no-archive", help="Start from the class-data archive, if there is one."
        ),
    ] = True,
    accept_lost_input: Annotated[
        bool,
        typer.Option(
            _ACCEPT_LOST_INPUT,
            help="Start although unread records are gone; see docs.",
        ),
    ] = False,
    skip: _Skips = None,
    restarts: Annotated[int, typer.Option("--restarts", hidden=True, min=0)] = 0,
    damage_pipe: Annotated[int | None, typer.Option(_DAMAGE_PIPE, hidden=True, min=0)] = None,
) -> None:
    """Run the engine: the streaming job, from conf/ and the environment.

    It ends with 0 after SIGTERM or Ctrl-C; docs/exit-codes.md explains the other codes. With
    --supervise a parent process restarts it, with growing pauses, unless the end was intended.
    """
    from fairlead.cli.log_setup import set_up_log

    _check_recovery(recover_damaged=recover_damaged, supervise=supervise)
    overrides = {
        "engine.checkpoint": None if checkpoint is None else str(checkpoint),
        "engine.recover_damaged": True if recover_damaged else None,
        "metrics.port": metrics_port,
    }
    from streaming.skipping import read_place

    settings = shared.settings(overrides)
    skips = tuple(read_place(text) for text in skip or ())
    set_up_log(settings)
    if supervise:
        _supervise(sys.argv[1:], settings)
    with _telling_damage(damage_pipe):
        _run(settings, restarts, skips, archive=archive, accept_lost_input=accept_lost_input)


@contextlib.contextmanager
def _telling_damage(pipe: int | None) -> Iterator[None]:
    """Report a damaged checkpoint to the supervisor, if there is one."""
    from streaming.damage import DamagedError
    from streaming.supervise import report_damage

    try:
        yield
    except DamagedError as error:
        if pipe is not None:
            report_damage(pipe, error.folder)
        raise


def _check_recovery(*, recover_damaged: bool, supervise: bool) -> None:
    if recover_damaged and not supervise:
        raise UsageError(
            f"{_RECOVER_DAMAGED}: there is no supervisor to restart the engine.",
            remedy=f"Give {_SUPERVISE} as well.",
        )


def _run(
    settings: "Settings",
    restarts: int,
    skips: "tuple[SkippedPlace, ...]",
    *,
    archive: bool,
    accept_lost_input: bool,
) -> None:
    """Run the job until a signal asks it to stop."""
    import os

    from rich.console import Console

    from fairlead.archive import spark_program
    from fairlead.jars import ensure_jars
    from fairlead.jars.progress import ConsoleProgress
    from fairlead.java import find_java
    from fairlead.logs import log_form
    from fairlead.stop_signal import StopSignal, on_signals
    from streaming.health import Health
    from streaming.last_line import LastLine
    from streaming.starting import SessionStart

    health = Health()
    last_line = LastLine(health)

    def end(number: signal.Signals) -> None:
        last_line.asked_by(number.name)
        stop.set()

    with last_line.written(), StopSignal() as stop, on_signals(_STOP_SIGNALS, end):
        # Spark finds its Java here alone.
        os.environ["JAVA_HOME"] = str(find_java().home)
        jars = ensure_jars("connector", ConsoleProgress(Console(stderr=True)))
        java_options = spark_program(jars).options(find_java()) if archive else ()
        # The JVM writes to the same place in the same form.
        form = f"-Dfairlead.log={log_form(settings.log.form)}"
        session = SessionStart(settings.engine, jars, (*java_options, form))
        # The JVM starts while the rest is loaded.
        from strategies.own_strategies import all_strategies
        from streaming.job import JobOptions, run_job

        options = JobOptions(
            session,
            restarts,
            strategies=all_strategies(settings.engine.strategies),
            accept_lost_input=accept_lost_input,
            skips=skips,
            health=health,
        )
        run_job(settings, options, stop)


def _supervise(arguments: Sequence[str], settings: "Settings") -> None:
    """Run this command as a child until it ends for good; exit with its code."""
    from streaming.moving_aside import move_aside
    from streaming.supervise import DamageRecovery, Supervisor

    engine = settings.engine
    recovery = DamageRecovery(
        engine.checkpoint.absolute(),
        lambda folder: move_aside(folder, engine.damaged_kept),
        _DAMAGE_PIPE,
    )

    def command(restarts: int) -> Sequence[str]:
        return [sys.executable, "-m", "fairlead", *child_arguments(arguments, restarts)]

    supervisor = Supervisor(command, recovery=recovery if engine.recover_damaged else None)
    raise typer.Exit(supervisor.run())


def child_arguments(arguments: Sequence[str], restarts: int) -> list[str]:
    """Return the arguments of the supervised driver, given those of its supervisor.

    What a person accepted holds for the first start: a restart asks again.
    """
    kept_back = {_SUPERVISE, _RECOVER_DAMAGED}
    if restarts > 0:
        kept_back.add(_ACCEPT_LOST_INPUT)
    kept = [argument for argument in arguments if argument not in kept_back]
    if restarts > 0:
        kept = _without_skips(kept)
    return [*kept, "--restarts", str(restarts)]


def _without_skips(arguments: Sequence[str]) -> list[str]:
    """Leave out each --skip and its value: a restart would refuse a record already skipped."""
    kept, is_value = [], False
    for argument in arguments:
        if not is_value and argument != _SKIP and not argument.startswith(f"{_SKIP}="):
            kept.append(argument)
        is_value = argument == _SKIP and not is_value
    return kept
