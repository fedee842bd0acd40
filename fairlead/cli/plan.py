"""`fairlead plan`: what would move if a group were changed; nothing is written."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from fairlead.cli.documents import read_document
from fairlead.cli.options import OutputOption
from fairlead.cli.output import OutputFormat
from fairlead.cli.plan_flags import joins_of, routes_of, strategy_of
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead.planning.forecast import RefusedRecordError
    from fairlead.planning.picture import Picture


def plan(
    *,
    file: Annotated[
        Path,
        typer.Option("--file", "-f", help="The group as a JSON document; - is standard input."),
    ],
    join: Annotated[
        list[str] | None,
        typer.Option(
            "--join", help="A client that joins: c9 or c9,zone=east,capacity=2,topics=a+b."
        ),
    ] = None,
    leave: Annotated[
        list[str] | None, typer.Option("--leave", help="A client that leaves.")
    ] = None,
    route: Annotated[
        list[str] | None,
        typer.Option("--route", help="topic=N or topic/broker=N: so many queues from now on."),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option("--strategy", "-s", help="Another strategy, with no options but --options."),
    ] = None,
    options: Annotated[
        str | None,
        typer.Option("--options", help="Its options, as JSON, in place of those that it has."),
    ] = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Show who would get what, how many queues move, and how even it would be.

    All changes count at once, in one decision. docs/planning.md has the document. Nothing is
    written anywhere.
    """
    from fairlead.cli.plan_table import show_table
    from fairlead.planning.changes import BadChangeError, Changes, records_of
    from fairlead.planning.forecast import RefusedRecordError
    from fairlead.planning.plan import plan as work_out

    before = _read(file)
    changes = Changes(
        joins=joins_of(join or ()),
        leaves=tuple(leave or ()),
        routes=routes_of(route or ()),
        rules=tuple(strategy_of(strategy, options, before.rules.strategy)),
    )
    try:
        found = work_out(before, records_of(before, changes))
    except BadChangeError as error:
        raise UsageError(
            f"--{error.kind}: {error.detail}.", remedy=_sentence(error.remedy)
        ) from error
    except RefusedRecordError as error:
        raise _refused(error) from error
    if output is OutputFormat.TABLE:
        show_table(found)
    else:
        indent = orjson.OPT_INDENT_2 if output is OutputFormat.JSON else None
        typer.echo(orjson.dumps(found.document(), option=indent))


def _read(file: Path) -> "Picture":
    from fairlead.planning.group_file import BadGroupError, read_group

    try:
        return read_group(read_document(file, "--file"))
    except BadGroupError as error:
        raise UsageError(f"--file: {error}.", remedy="See docs/planning.md.") from error


def _refused(error: "RefusedRecordError") -> UsageError:
    """Return an error of the engine in the words of the flags."""
    refused = error.rejection
    flag = "--options" if (refused.field or "").startswith("value.options") else "--strategy"
    return UsageError(f"{flag}: {refused.detail}.", remedy=_sentence(refused.remedy))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
