"""``fairlead group check``: what is wrong with a group, or with any, as far as its topics tell."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlead.cli.completions import complete_group
from fairlead.cli.group_describe import standing_from
from fairlead.cli.group_work import warn
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.output import OutputFormat, write_fitting
from fairlead.cli.plan_start import tick_ms_of
from fairlead.cli.source_options import SourceOptions
from fairlead.errors import FairleadError, UsageError, VerdictError
from fairlead.standing.words import counted

if TYPE_CHECKING:
    from fairlead.settings import Settings
    from fairlead.sources.topic_source import TopicSource
    from fairlead.standing.group_standing import GroupStanding

__all__ = ["check", "rows_of"]

COLUMNS = ("problem", "for", "says", "do")

GroupArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[GROUP]",
        help="The group; or --all.",
        show_default=False,
        autocompletion=complete_group,
    ),
]
AllFlag = Annotated[
    bool, typer.Option("--all", help="Every group that there is; one that fails stops no other.")
]


@takes_sets
def check(
    name: GroupArgument = None, *, everything: AllFlag = False, shared: SourceOptions
) -> None:
    """List what is wrong: two owners or none, handovers that stall, members that do not follow.

    Reads Fairlead's topics and writes nothing. Exit code 1 if anything is wrong. docs/groups.md
    says what each problem means; each line says what to do.
    """
    if (name is None) != everything:
        raise UsageError(
            "GROUP: the check is of one group, or of all.", remedy="Name a group, or give --all."
        )
    settings = shared.settings()
    source = shared.open(settings)
    if name is None:
        _check_all(source, settings, shared.output)
    else:
        _check_one(name, source, settings, shared.output)


def _check_one(
    group: str, source: "TopicSource", settings: "Settings", output: OutputFormat
) -> None:
    from fairlead.planning.findings import told_odd
    from fairlead.planning.remarks import remarks_on
    from fairlead.standing.findings import standing_findings

    standing = standing_from(group, source, settings)
    found = standing_findings(standing, told_odd(source, group))
    said = {"engine"} if any(each.problem == "engine_silent" for each in found) else set()
    for remark in remarks_on(standing.live, tick_ms_of(source, settings), source.now_ms()):
        if not (said and "engine" in remark):
            warn(remark)
    if found or output is not OutputFormat.TABLE:
        rows = [each.document() for each in found]
        write_fitting(rows, COLUMNS, output, prose=("says", "do"))
    if found:
        raise VerdictError(
            f"{group}: {counted(len(found), 'finding')}; {_who(standing)}.",
            remedy="docs/groups.md says what each means.",
        )
    if output is OutputFormat.TABLE:
        typer.echo(f"{group}: nothing found; {_who(standing)}")


def _who(standing: "GroupStanding") -> str:
    """Say who is there, in words; a group at rest, or without anybody, is told as that."""
    sharing, queues = standing.sharing, len(standing.live.picture.queues)
    if not sharing:
        return "nobody is in it"
    own = sum(1 for each in sharing if each.held or each.draining or each.gated)
    paused = "; it is paused, so nothing is shared anew" if standing.phase == "paused" else ""
    return f"{own} of {counted(len(sharing), 'member')} have {counted(queues, 'queue')}{paused}"


def _check_all(source: "TopicSource", settings: "Settings", output: OutputFormat) -> None:
    from fairlead.standing.shared_source import SharedSource

    topics = SharedSource(source)
    groups = topics.groups()
    rows = [row for group in groups for row in rows_of(group, topics.of(group), settings)]
    if rows or output is not OutputFormat.TABLE:
        write_fitting(rows, ("group", *COLUMNS), output, prose=("says", "do"))
    wrong = len({row["group"] for row in rows})
    if rows:
        raise VerdictError(
            f"{counted(len(rows), 'finding')} in {wrong} of {counted(len(groups), 'group')}.",
            remedy="docs/groups.md says what each means.",
        )
    if output is OutputFormat.TABLE:
        typer.echo(f"nothing found in {counted(len(groups), 'group')}")


def rows_of(group: str, source: "TopicSource", settings: "Settings") -> Iterator[dict[str, Any]]:
    """Yield what is wrong with one of all groups; that it cannot be read is a finding as well."""
    from fairlead.planning.findings import Finding, told_odd
    from fairlead.standing.findings import standing_findings

    try:
        standing = standing_from(group, source, settings)
        found = standing_findings(standing, told_odd(source, group))
    except FairleadError as error:
        found = (Finding("unreadable", group, error.message, error.remedy),)
    except Exception as error:  # noqa: BLE001 - whatever one group does, the others are checked
        text = f"{type(error).__name__}: {error}"
        remedy = "this is a defect of fairlead; please report it with a recording of the topics"
        found = (Finding("unreadable", group, text, remedy),)
    yield from ({"group": group, **each.document()} for each in found)
