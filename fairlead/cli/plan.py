"""`fairlead plan`: what would move if a group were changed; nothing is written."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from fairlead.cli.options import (
    BootstrapOption,
    ConfigOption,
    OutputOption,
    ProfileOption,
    TopicPrefixOption,
)
from fairlead.cli.output import OutputFormat
from fairlead.cli.plan_flags import joins_of, routes_of, strategy_of
from fairlead.cli.plan_start import save, start_of
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead.planning.changes import Changes
    from fairlead.planning.forecast import RefusedRecordError
    from fairlead.planning.picture import Picture
    from fairlead.planning.plan import Plan

GroupArgument = Annotated[
    str | None, typer.Argument(help="A live group, read from Fairlead's topics.")
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
RouteOption = Annotated[
    list[str] | None,
    typer.Option("--route", help="topic=N or topic/broker=N: so many queues from now on."),
]
StrategyOption = Annotated[
    str | None,
    typer.Option("--strategy", "-s", help="Another strategy, with no options but --options."),
]
OptionsOption = Annotated[
    str | None,
    typer.Option("--options", help="Its options, as JSON, in place of those that it has."),
]
SaveOption = Annotated[
    Path | None,
    typer.Option("--save", help="Write the group as it is now into this file, for --file."),
]


def plan(
    group: GroupArgument = None,
    *,
    file: FileOption = None,
    join: JoinOption = None,
    leave: LeaveOption = None,
    route: RouteOption = None,
    strategy: StrategyOption = None,
    options: OptionsOption = None,
    save_to: SaveOption = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    bootstrap: BootstrapOption = None,
    topic_prefix: TopicPrefixOption = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Show who would get what, how many queues move, and how even it would be.

    The group is a live one, or a document (docs/planning.md). All changes count at once, in one
    decision. Nothing is written anywhere but the file of --save.
    """
    from fairlead.planning.changes import Changes
    from fairlead.settings import load_settings

    overrides = {"kafka.bootstrap": bootstrap, "kafka.topic_prefix": topic_prefix}
    settings = load_settings(profile=profile, files=config or (), overrides=overrides)
    start = start_of(group, file, settings)
    if save_to is not None:
        save(start.picture, save_to)
    name, current = start.picture.state.group, start.picture.rules.strategy
    changes = Changes(
        joins=joins_of(join or ()),
        leaves=tuple(leave or ()),
        routes=routes_of(route or ()),
        rules=strategy_of(name, strategy, options, current),
    )
    found = _work_out(start.picture, changes)
    _show(replace(found, passing=start.passing, remarks=start.remarks), output)


def _work_out(before: "Picture", changes: "Changes") -> "Plan":
    """Work a plan out; what does not fit the group is told by its flag."""
    from fairlead.planning.changes import BadChangeError, records_of
    from fairlead.planning.forecast import RefusedRecordError
    from fairlead.planning.plan import plan as work_out

    try:
        return work_out(before, records_of(before, changes))
    except BadChangeError as error:
        text = f"--{error.kind}: {error.detail}."
        raise UsageError(text, remedy=_sentence(error.remedy)) from error
    except RefusedRecordError as error:
        raise _refused(error) from error


def _refused(error: "RefusedRecordError") -> UsageError:
    """Return an error of the engine in the words of the flags."""
    refused = error.rejection
    flag = "--options" if (refused.field or "").startswith("value.options") else "--strategy"
    return UsageError(f"{flag}: {refused.detail}.", remedy=_sentence(refused.remedy))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _show(found: "Plan", output: OutputFormat) -> None:
    from fairlead.cli.plan_table import show_table

    if output is OutputFormat.TABLE:
        show_table(found)
    else:
        indent = orjson.OPT_INDENT_2 if output is OutputFormat.JSON else None
        typer.echo(orjson.dumps(found.document(), option=indent))
