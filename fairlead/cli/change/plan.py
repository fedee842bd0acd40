"""`fairlead plan`: what a change of a group would move; nothing is written."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.change import rule_flags as flags
from fairlead.cli.change.change_options import NamedOptions
from fairlead.cli.change.given_rules import given_rules
from fairlead.cli.change.plan_flags import joins_of, routes_of, rules_of, topics_of
from fairlead.cli.change.planned_start import read_start, save
from fairlead.cli.completions import complete_group
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.render.output import OutputFormat, write_document
from fairlead.cli.sources.source_options import SourceOptions
from fairlead.errors import in_commands

if TYPE_CHECKING:
    from fairlead.planning.plan import Plan

GroupArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="GROUP",
        help="A group, read from Fairlead's topics.",
        autocompletion=complete_group,
    ),
]
FileOption = Annotated[
    Path | None,
    typer.Option("--file", "-f", help="Read the group from a JSON document; - is standard input."),
]
JoinOption = Annotated[
    list[str] | None,
    typer.Option(
        "--join", help="A client that joins: c9 or c9,zone=east,capacity=2,topics=a+b. Repeatable."
    ),
]
LeaveOption = Annotated[
    list[str] | None, typer.Option("--leave", help="A client that leaves. Repeatable.")
]
TopicOption = Annotated[
    list[str] | None,
    typer.Option("--topic", help="What clients that join subscribe to. Repeatable."),
]
RouteOption = Annotated[
    list[str] | None,
    typer.Option("--route", help="topic=N or topic/broker=N: the topic has N queues. Repeatable."),
]
UnsetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--unset", help="A rule to remove: designated, or pin=topic/broker/3, drain=c1. Repeatable."
    ),
]
SaveOption = Annotated[
    Path | None,
    typer.Option("--save", help="Save group and plan into this file, for apply and --file."),
]


@takes_sets
def plan(
    group: GroupArgument = None,
    *,
    file: FileOption = None,
    join: JoinOption = None,
    leave: LeaveOption = None,
    topic: TopicOption = None,
    route: RouteOption = None,
    strategy: flags.StrategyFlag = None,
    options: flags.OptionsFlag = None,
    slots: flags.SlotsFlag = None,
    weigh_by: flags.WeighByFlag = None,
    named: NamedOptions,
    unset: UnsetOption = None,
    save_to: SaveOption = None,
    shared: SourceOptions,
) -> None:
    """Show who would get which queues, how many move, and how even the result is.

    The group is live, recorded, or a document (docs/planning.md); it may have no members now. All
    changes count together, in one decision. The command writes nothing but the file of --save.
    """
    from fairlead.operating.plans import work_out
    from fairlead.planning.changes import Changes

    given = given_rules(
        strategy=strategy, options=options, slots=slots, weigh_by=weigh_by, **vars(named)
    )
    start = read_start(
        group, file, shared, measured=weigh_by is not None, dated=save_to is not None
    )
    before = start.planned
    changes = Changes(
        joins=joins_of(join or (), topics_of(topic, join) or start.topics),
        leaves=tuple(leave or ()),
        routes=routes_of(route or ()),
        rules=rules_of(before, given, unset or ()),
    )
    result = work_out(before, changes)
    if save_to is not None:
        save(start, changes, result, save_to)
    remarks = (*map(in_commands, start.remarks), *result.remarks)
    _show(replace(result, passing=start.passing, remarks=remarks), shared.output)


def _show(result: "Plan", output: OutputFormat) -> None:
    from fairlead.cli.render.plan import show_table

    if output is OutputFormat.TABLE:
        show_table(result)
    else:
        write_document(result.to_json(), output)
