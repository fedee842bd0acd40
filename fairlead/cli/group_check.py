"""``fairlead group check``: what is wrong with a live group, as far as its topics tell."""

import typer

from fairlead.cli import rule_flags as flags
from fairlead.cli.group_work import warn
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.output import OutputFormat, write_rows
from fairlead.cli.plan_start import live_group, tick_ms_of
from fairlead.cli.source_options import SourceOptions
from fairlead.errors import VerdictError

__all__ = ["check"]

COLUMNS = ("problem", "for", "says")


@takes_sets
def check(name: flags.GroupArgument, *, shared: SourceOptions) -> None:
    """List queues with two owners or none, members that disagree, client ids used twice.

    Reads Fairlead's topics and writes nothing. Exit code 1 if anything is wrong.
    """
    from fairlead.planning.findings import findings_of, told_odd
    from fairlead.planning.remarks import remarks_on

    settings = shared.settings()
    source = shared.open(settings)
    live = live_group(name, source, settings)
    found = findings_of(live, told_odd(source, name))
    for remark in remarks_on(live, tick_ms_of(source, settings), source.now_ms()):
        warn(remark)
    if found or shared.output is not OutputFormat.TABLE:
        write_rows([each.document() for each in found], COLUMNS, shared.output)
    members, queues = len(live.picture.members), len(live.picture.queues)
    if found:
        raise VerdictError(
            f"{name}: {len(found)} findings, with {members} members that share {queues} queues.",
            remedy="docs/groups.md says what each means.",
        )
    if shared.output is OutputFormat.TABLE:
        typer.echo(f"{name}: nothing found; {members} members share {queues} queues")
