"""`fairlead plan`: what would move if a group were changed; nothing is written."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli import rule_flags as flags
from fairlead.cli.completions import complete_group
from fairlead.cli.group_options import NamedOptions
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.output import OutputFormat, write_document
from fairlead.cli.plan_flags import joins_of, routes_of, rules_of, topics_of
from fairlead.cli.plan_start import save, start_of
from fairlead.cli.rule_words import given_rules, sentence
from fairlead.cli.source_options import SourceOptions
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead.observed.planned_group import PlannedGroup
    from fairlead.planning.changes import Changes
    from fairlead.planning.plan import Plan

GroupArgument = Annotated[
    str | None,
    typer.Argument(help="A group, read from Fairlead's topics.", autocompletion=complete_group),
]
FileOption = Annotated[
    Path | None,
    typer.Option("--file", "-f", help="A group as a JSON document instead; - is standard input."),
]
JoinOption = Annotated[
    list[str] | None,
    typer.Option("--join", help="A client that joins: c9 or c9,zone=east,capacity=2,topics=a+b."),
]
LeaveOption = Annotated[list[str] | None, typer.Option("--leave", help="A client that leaves.")]
TopicOption = Annotated[
    list[str] | None,
    typer.Option("--topic", help="What clients that join subscribe to; may be given again."),
]
RouteOption = Annotated[
    list[str] | None,
    typer.Option("--route", help="topic=N or topic/broker=N: so many queues from now on."),
]
UnsetOption = Annotated[
    list[str] | None,
    typer.Option("--unset", help="A rule that goes: designated, or pin=topic/broker/3, drain=c1."),
]
SaveOption = Annotated[
    Path | None,
    typer.Option("--save", help="Write group and plan into this file, for apply and --file."),
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
    """Show who would get what, how many queues move, and how even it would be.

    The group is a live one, one of a recording, or a document (docs/planning.md); also one that
    nobody is in now. All changes count at once, in one decision. Nothing is written anywhere but
    the file of --save.
    """
    from fairlead.planning.changes import Changes

    given = given_rules(
        strategy=strategy, options=options, slots=slots, weigh_by=weigh_by, **vars(named)
    )
    start = start_of(group, file, shared, measured=weigh_by is not None, dated=save_to is not None)
    before = start.planned
    changes = Changes(
        joins=joins_of(join or (), topics_of(topic, join) or start.topics),
        leaves=tuple(leave or ()),
        routes=routes_of(route or ()),
        rules=rules_of(before, given, unset or ()),
    )
    found = work_out(before, changes)
    if save_to is not None:
        save(start, changes, found, save_to)
    remarks = (*start.remarks, *found.remarks)
    _show(replace(found, passing=start.passing, remarks=remarks), shared.output)


def work_out(before: "PlannedGroup", changes: "Changes") -> "Plan":
    """Work a plan out; what does not fit the group is told by its flag."""
    from fairlead.planning.changes import BadChangeError, records_of
    from fairlead.planning.plan import plan as plan_of

    try:
        return plan_of(before, records_of(before, changes))
    except BadChangeError as error:
        text = f"--{error.kind}: {error.detail}."
        raise UsageError(text, remedy=sentence(error.remedy)) from error


def _show(found: "Plan", output: OutputFormat) -> None:
    from fairlead.cli.plan_table import show_table

    if output is OutputFormat.TABLE:
        show_table(found)
    else:
        write_document(found.to_json(), output)
