"""``fairlead offsets``: show and reset the positions of a group."""

from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.change import rule_flags as flags
from fairlead.cli.change.change_options import WAIT_SECONDS
from fairlead.cli.change.rule_command import signature
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import GroupArgument, OutputOptions
from fairlead.cli.render.output import OutputFormat, warn, write_line, write_objects
from fairlead.cli.sources.queue_options import QueueOptions
from fairlead.cli.sources.source_options import SourceOptions
from fairlead.counts import listed
from fairlead.history.formatting import queue_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairlead.control.queue_resets import ResetOutcome
    from fairlead.settings import KafkaSettings

app = typer.Typer(no_args_is_help=True, add_completion=False)

ToFlag = Annotated[
    str,
    typer.Option(
        "--to",
        help="earliest, latest, an offset, a time (2026-05-04T10:00:00Z or 1781000000000ms).",
        show_default=False,
    ),
]
NewGroupFlag = Annotated[
    bool, typer.Option("--new-group", help="Allow an unknown group: it begins there.")
]
ApplyFlag = Annotated[
    bool, typer.Option("--apply", help="Write the resets. Default: only show them.")
]


@app.callback()
def offsets() -> None:
    """Show and reset the positions of a group."""


@app.command("show")
@takes_sets
def show_offsets(name: GroupArgument, *, queues: QueueOptions, shared: SourceOptions) -> None:
    """Show the position of each queue of a group, its source, the queue's bounds, and the lag.

    With --dump the command shows what members, bridges and operators had recorded. It does not ask
    the brokers, so an end may be old; the lag is left open where the end is too old.
    """
    from fairlead.cli.render.positions import PLACE_COLUMNS, place_cells, recorded_place

    settings = shared.settings()
    if shared.dump is None:
        # A named queue may be shown before its group begins.
        known = not (queues.topic or queues.queue)
        places = queues.places(name, settings.kafka, known=known)
        rows = [each.to_json() for each in places]
    else:
        standing, chosen = queues.recorded(name, shared, settings)
        rows = [recorded_place(standing, each) for each in chosen]
    if rows or shared.output is not OutputFormat.TABLE:
        write_objects(rows, place_cells, PLACE_COLUMNS, shared.output)
    else:
        write_line(f"{name} has no queues: no topic that it reads has a route or a position")


@app.command("reset")
@takes_sets
def reset_offsets(
    name: GroupArgument,
    *,
    to: ToFlag,
    apply: ApplyFlag = False,
    new_group: NewGroupFlag = False,
    because: flags.BecauseFlag = None,
    by: flags.ByFlag = None,
    wait: flags.WaitFlag = WAIT_SECONDS,
    queues: QueueOptions,
    shared: OutputOptions,
) -> None:
    """Let a group continue from other positions: a dry run, unless --apply is given.

    The owner drops each queue and gets it again from its new position. Offsets outside a queue's
    bounds are brought inside. An unknown group is refused: its name is mistyped, or it is new
    (--new-group). docs/offsets.md has the details.
    """
    from fairlead.cli.render.positions import RESET_COLUMNS, reset_cells
    from fairlead.operating.resets import report_resets, reset_positions, target_of
    from fairlead.operating.rule_changes import Signature

    target = target_of(to)
    settings = shared.settings()
    places = queues.places(name, settings.kafka, target.timestamps, known=not new_group)
    signed = Signature(by or signature(), because)
    wait_s = wait if apply else None
    done = reset_positions(name, places, target, signed, settings.kafka, wait_s=wait_s)
    write_objects(done.to_json(), reset_cells, RESET_COLUMNS, shared.output)
    if not apply:
        warn("a dry run: nothing is written; --apply writes it")
    elif queues.namesrv is not None:
        _commit_resets(name, queues, settings.kafka, done.outcomes)
    report_resets(done.outcomes, wait)


def _commit_resets(
    group: str,
    queues: QueueOptions,
    kafka: "KafkaSettings",
    outcomes: "Sequence[ResetOutcome]",
) -> None:
    """Let RocketMQ's tools see the resets: a commit there carries none, and counts no more.

    Owners commit from their new positions by themselves; this is for queues without one.
    """
    from fairlead.control.rocketmq_consumers import RocketMQConsumers
    from fairlead.control.rocketmq_plane import RocketMQPlane
    from fairlead.core.model import Position

    wanted = {
        each.planned.place.queue: (each.planned.place, Position(0, each.planned.offset))
        for each in outcomes
        if each.refusal is None
    }
    with queues.opened(kafka) as plane:
        assert isinstance(plane, RocketMQPlane), "--namesrv is given"
        refused = RocketMQConsumers(plane, group).commit(wanted)
    failed = [f"{queue_words(queue)}: {why}" for queue, why in refused.items() if why is not None]
    if failed:
        warn(f"the resets stand, and RocketMQ shows older offsets of {listed(failed)}")
