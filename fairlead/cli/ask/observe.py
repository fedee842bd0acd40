"""``fairlead observe``: groups that a data plane shares out by itself, seen from outside."""

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol

import typer

from fairlead.cli.interruption import stop_on_signals
from fairlead.cli.observe.rocketmq import rocketmq
from fairlead.cli.options import ConfigOption, OutputOption, ProfileOption, settings_of
from fairlead.cli.render.native import write_looks, write_rebalance
from fairlead.cli.render.output import OutputFormat, write_line
from fairlead.counts import counted
from fairlead.errors import EnvironmentMissingError, UsageError, VerdictError

if TYPE_CHECKING:
    from threading import Event

    from fairlead.native.group_look import GroupLook

__all__ = ["LookedReader", "observe", "rebalance_rows", "watch_looks", "write_one_look"]

_NOW: Final = 1_000_000

GroupOption = Annotated[
    str | None, typer.Option("--group", help="Only this group; else every group of the cluster.")
]
WatchFlag = Annotated[
    bool, typer.Option("--watch", help="Look again and again, and tell each rebalance.")
]
PeriodOption = Annotated[
    int,
    typer.Option("--period-ms", min=200, help="With --watch: look this often; milliseconds."),
]

app = typer.Typer(no_args_is_help=True, add_completion=False)
app.command("rocketmq")(rocketmq)


class LookedReader(Protocol):
    """What looks at the groups of a cluster (`fairlead.native.kafka_groups`)."""

    def look(self, wanted: str | None = None) -> "Sequence[GroupLook]":
        """Look at all groups, or at one."""
        ...


@app.callback()
def observe() -> None:
    """Look at groups that a cluster shares out by itself: read only, never a member."""


@app.command()
def kafka(
    *,
    bootstrap: Annotated[
        str | None,
        typer.Option("--bootstrap", help="The cluster to look at, as host:port[,host:port]."),
    ] = None,
    group: GroupOption = None,
    watch: WatchFlag = False,
    period_ms: PeriodOption = 2_000,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Look at Kafka's own consumer groups, of the classic protocol and of KIP-848.

    Shows members, owners, lag, what is wrong, and what a join, a leave and a deploy would move. The
    command asks by Kafka's admin API alone: it joins no group and commits nothing. Exit code 1 if
    something is wrong.
    """
    from fairlead.cli.sources.data_cluster import data_cluster
    from fairlead.native.kafka_groups import KafkaGroups

    settings = settings_of(bootstrap, None, profile, config)
    with data_cluster(settings.kafka) as data:
        groups = KafkaGroups(data)
        if watch:
            watch_looks(groups, group, period_ms, output, stop_on_signals())
        else:
            write_one_look(groups, group, output)


def write_one_look(groups: LookedReader, group: str | None, output: OutputFormat) -> None:
    """Look once and write it.

    Raises:
        UsageError: there is no such group.
        VerdictError: something is wrong with a group.
    """
    from fairlead.native.observation import observed

    looks = groups.look(group)
    if group is not None and not looks:
        raise UsageError(
            f"--group: the cluster has no group {group!r}.",
            remedy="Leave --group out: the command then lists all groups.",
        )
    found = [observed(each) for each in looks]
    write_looks(found, output, whole=group is not None)
    wrong = sum(len(each.findings) for each in found)
    if wrong:
        at_fault = sum(bool(each.findings) for each in found)
        raise VerdictError(
            f"{counted(wrong, 'problem')} in {at_fault} of {counted(len(found), 'group')}.",
            remedy="docs/observe.md explains each problem.",
        )
    if output is OutputFormat.TABLE:
        write_line(f"no problem in {counted(len(found), 'group')}")


def watch_looks(
    groups: LookedReader, group: str | None, period_ms: int, output: OutputFormat, stop: "Event"
) -> None:
    """Look until ``stop`` is set, and write each rebalance; after a failed look it looks again."""
    for row in rebalance_rows(groups, group, period_ms, stop):
        write_rebalance(row, output)


def rebalance_rows(
    groups: LookedReader, group: str | None, period_ms: int, stop: "Event"
) -> Iterator[dict[str, Any]]:
    """Yield each rebalance as the looks see it, with how many came in the last five minutes."""
    from fairlead.native.rebalances import Rebalances

    history, refused = Rebalances(), ""
    while not stop.is_set():
        try:
            looks, refused = groups.look(group), ""
        except EnvironmentMissingError as error:
            looks = None
            if error.message != refused:
                write_line(f"{error.message} Looking again.", err=True)
            refused = error.message
        now_ms = time.time_ns() // _NOW
        for each in () if looks is None else history.note(looks, now_ms):
            yield {**each.to_json(), "flaps": history.flaps(each.group, now_ms)}
        stop.wait(period_ms / 1_000)
