"""``fairlead group describe``: the state, members and queues of one group."""

from enum import StrEnum
from typing import Annotated

import typer

from fairlead.cli.names import require_group
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import DataBootstrapOption, GroupArgument
from fairlead.cli.render.output import (
    OutputFormat,
    warn,
    write_document,
    write_fitting,
    write_pairs,
    write_rows,
)
from fairlead.cli.sources.data_places import places_of
from fairlead.cli.sources.native_groups import naming_native
from fairlead.cli.sources.source_options import SourceOptions
from fairlead.cli.sources.standing import standing_from, warn_of_refused
from fairlead.errors import UsageError

__all__ = ["describe", "standing_from"]


class NativeKind(StrEnum):
    """The data plane that shares a native group out."""

    KAFKA = "kafka"
    ROCKETMQ = "rocketmq"


QueuesFlag = Annotated[
    bool,
    typer.Option("--queues", help="Only the queues: who holds, gives up, waits for and gets each."),
]
MembersFlag = Annotated[
    bool, typer.Option("--members", help="Only the members: what each reports, and what it holds.")
]
StateFlag = Annotated[
    bool, typer.Option("--state", help="Only the state: phase, rules, alarms, newest decision.")
]
NativeOption = Annotated[
    NativeKind | None,
    typer.Option(
        "--native",
        help="A native group, of the cluster that the settings [observe] name.",
        show_default=False,
    ),
]


@takes_sets
def describe(
    name: GroupArgument,
    *,
    queues: QueuesFlag = False,
    members: MembersFlag = False,
    state: StateFlag = False,
    native: NativeOption = None,
    data_bootstrap: DataBootstrapOption = None,
    shared: SourceOptions,
) -> None:
    """Show the state of a group, its members, and the owners of each queue side by side.

    The command writes nothing. Of a group without members it shows positions and lag.
    """
    if native is not None:
        if queues or members or state:
            raise UsageError(
                "--native: a native group is shown whole.",
                remedy="Leave out --queues, --members and --state.",
            )
        _describe_native(native, name, shared)
        return
    from fairlead.cli.render.group import engine_words, state_lines
    from fairlead.cli.render.member import MEMBER_COLUMNS, member_row, shown_member_columns
    from fairlead.cli.render.queue import QUEUE_COLUMNS, queue_row, shown_queue_columns
    from fairlead.kafka.caching_source import CachingSource

    if queues + members + state > 1:
        raise UsageError(
            "--queues, --members, --state: only one part can be shown.",
            remedy="Give one of them, or none for everything.",
        )
    require_group(name)
    settings = shared.settings()
    source = CachingSource(shared.open(settings))
    with naming_native(settings, name):
        places = places_of(name, source, settings, shared, data_bootstrap)
        standing = standing_from(name, source, settings, places)
    warn_of_refused(standing)
    everything, output = not (queues or members or state), shared.output
    if standing.engine.silent and (queues or members):
        warn(engine_words(standing))
    if output is OutputFormat.TABLE:
        if everything or state:
            write_pairs(state_lines(standing))
        if members or (everything and standing.members):
            rows = [member_row(each, standing.now_ms) for each in standing.members]
            columns = MEMBER_COLUMNS if members else shown_member_columns(rows)
            write_fitting(rows, columns, output, prose=("why",))
        if everything or queues:
            rows = [queue_row(standing, each, standing.now_ms) for each in standing.queues]
            columns = QUEUE_COLUMNS if queues else shown_queue_columns(rows)
            write_fitting(rows, columns, output)
        return
    if queues:
        write_rows([each.to_json() for each in standing.queues], (), output)
    elif members:
        write_rows([each.to_json() for each in standing.members], (), output)
    else:
        write_document(standing.to_full_json() if everything else standing.to_json(), output)


def _describe_native(kind: NativeKind, name: str, shared: SourceOptions) -> None:
    from fairlead.cli.render.native import write_native_groups, write_rebalance
    from fairlead.cli.sources.native_groups import describe_native

    found = describe_native(shared.settings(), kind.value, name)
    if shared.output is OutputFormat.TABLE:
        write_native_groups([found], shared.output, whole=True)
        for each in found["rebalance_list"]:
            write_rebalance(each, shared.output)
    else:
        write_document(found, shared.output)
