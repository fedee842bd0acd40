"""``fairlead group list``: all groups, a line for each."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

import typer

from fairlead.cli.completions import complete_word
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.render.group import (
    GROUP_COLUMNS,
    NARROW_COLUMNS,
    Summary,
    bridge_lines,
    engine_line,
    group_rows,
    noticed,
)
from fairlead.cli.render.output import OutputFormat, write_fitting, write_line, write_rows
from fairlead.cli.sources.served_view import LOOPBACK, NobodyServesError, ask_serve, other_topics
from fairlead.cli.sources.source_options import SourceOptions
from fairlead.counts import counted
from fairlead.errors import UsageError
from fairlead.observed.phase_words import PHASES

if TYPE_CHECKING:
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.settings import Settings

__all__ = ["chosen_groups", "list_groups"]

_SILENT_MS: Final = 30_000
"""Ask the brokers about queues that nobody has reported for this long."""
_GLOB: Final = frozenset("*?[")


class Order(StrEnum):
    """The order of groups: by name, or the greatest or newest first."""

    NAME = "name"
    LAG = "lag"
    MEMBERS = "members"
    LAST = "last"


PatternArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="PATTERN",
        help="Groups whose name contains this text, or matches it with * and ?.",
        show_default=False,
    ),
]
SortOption = Annotated[Order, typer.Option("--sort", help="The order.")]
PhaseOption = Annotated[
    list[str] | None,
    typer.Option(
        "--phase",
        help="Groups in this phase. Repeatable.",
        autocompletion=complete_word(*PHASES),
    ),
]
ReleasedFlag = Annotated[
    bool, typer.Option("--released", help="Groups that were handed back to native consumers.")
]
NativeFlag = Annotated[
    bool,
    typer.Option(
        "--native", help="Only native groups, of the clusters that the settings [observe] name."
    ),
]
ProblemFlag = Annotated[bool, typer.Option("--problem", help="Groups with a problem or an alarm.")]


@takes_sets
def list_groups(
    pattern: PatternArgument = None,
    *,
    sort: SortOption = Order.NAME,
    phase: PhaseOption = None,
    released: ReleasedFlag = False,
    problem: ProblemFlag = False,
    native: NativeFlag = False,
    shared: SourceOptions,
) -> None:
    """List the groups: phase, members, queues, handovers, lag, newest rebalance.

    The command asks `fairlead serve` (serve.url). If nobody answers, it reads the topics. Native
    groups stand in a table of their own.
    """
    _check_phases(phase or ())
    settings = shared.settings()
    if native:
        _list_native(settings, pattern, shared, problem=problem, asked=True)
        return
    groups, bridges, now_ms = _groups(settings, shared)
    asked = [each for each in groups if each["released"] is not None] if released else groups
    chosen = chosen_groups(asked, pattern, phase or (), sort, problem=problem)
    if shared.output is OutputFormat.TABLE:
        if chosen:
            rows = group_rows(chosen, now_ms)
            write_fitting(
                rows, GROUP_COLUMNS, shared.output, prose=("problem",), fewer=NARROW_COLUMNS
            )
        else:
            write_line(_none_line([each["group"] for each in groups], pattern))
        for line in (engine_line(groups), *bridge_lines(bridges)):
            if line is not None:
                write_line(line)
        if shared.dump is None and not (phase or released):
            _list_native(settings, pattern, shared, problem=problem)
    else:
        write_rows(chosen, (), shared.output)


def _list_native(
    settings: "Settings",
    pattern: str | None,
    shared: SourceOptions,
    *,
    problem: bool,
    asked: bool = False,
) -> None:
    """Write the native groups that match; nothing, if no cluster is named and nobody asked.

    Raises:
        UsageError: somebody asked, and no cluster is named.
    """
    from fairlead.cli.render.native import write_native_table
    from fairlead.cli.sources.native_groups import read_native_groups

    read = read_native_groups(settings)
    if asked and not read.sources:
        raise UsageError(
            "--native: neither these settings nor fairlead serve name a cluster to look at.",
            remedy="Set observe.namesrv or observe.kafka_bootstrap; docs/observe.md has both.",
        )
    chosen = [
        each
        for each in read.groups
        if (pattern is None or _fits(each["group"], pattern))
        and not (problem and not each["problem_list"])
    ]
    if shared.output is not OutputFormat.TABLE:
        write_rows(chosen, (), shared.output)
        return
    if read.sources:
        typer.echo()
    if chosen:
        write_native_table(chosen)
    elif read.sources:
        write_line(f"none of {counted(len(read.groups), 'native group')} matches")
    for each in read.sources:
        if each["trouble"]:
            write_line(f"{each['native']} at {each['native_address']}: {each['trouble']}")


def _check_phases(given: Sequence[str]) -> None:
    """Refuse an unknown phase: an empty list would look like good news."""
    from fairlead.control.group_names import nearest_names

    for each in given:
        if each not in PHASES:
            nearest, *_ = nearest_names(each, PHASES)
            raise UsageError(
                f"--phase: there is no phase {each!r}; the nearest is {nearest}.",
                remedy=f"Give one of {', '.join(sorted(PHASES))}.",
            )


def _none_line(names: Sequence[str], pattern: str | None) -> str:
    """Return that no group matches, and the names nearest to a mistyped one.

    Args:
        names: the names of all groups.
        pattern: the pattern that names should match; None: any name.
    """
    from fairlead.control.group_names import nearest_names

    if not names:
        return "there is no group: a client's first heartbeat, or a rule, makes one"
    line = f"none of {counted(len(names), 'group')} matches"
    if pattern is None or any(_fits(name, pattern) for name in names):
        return line
    near = nearest_names(pattern, names)
    return f"{line}; the nearest to {pattern} {'is' if len(near) == 1 else 'are'} {', '.join(near)}"


def chosen_groups(
    groups: Iterable[Summary],
    pattern: str | None,
    phases: Sequence[str],
    sort: Order,
    *,
    problem: bool,
) -> list[Summary]:
    """Return the matching groups, sorted.

    Args:
        groups: all groups, by name.
        pattern: a text in their names, or a pattern of whole names with ``*`` and ``?``.
        phases: the phases to match; empty: any.
        sort: the order.
        problem: only groups with a problem or an alarm.
    """
    chosen = [
        each
        for each in groups
        if (pattern is None or _fits(each["group"], pattern))
        and (not phases or each["phase"] in phases)
        and not (problem and not noticed(each))
    ]
    return sorted(chosen, key=_KEYS[sort])


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) if _GLOB & set(pattern) else pattern in name


_KEYS: Final[Mapping[Order, Callable[[Summary], Any]]] = {
    Order.NAME: lambda each: each["group"],
    Order.LAG: lambda each: (-(each["lag_messages"] or 0), each["group"]),
    Order.MEMBERS: lambda each: (-each["members"], each["group"]),
    Order.LAST: lambda each: (-(each["last_rebalance"] or {}).get("append_ms", 0), each["group"]),
}


def _groups(
    settings: "Settings", shared: SourceOptions
) -> tuple[Sequence[Summary], Sequence[Mapping[str, Any]], int]:
    """Return the summaries of groups and of bridges, and their time."""
    if shared.dump is None and settings.serve.url:
        try:
            asked = "/api/v1/groups"
            answer = ask_serve(settings.serve.url, asked, settings.serve.token_file)
        except NobodyServesError as error:
            typer.echo(f"serve.url: {error}; reading the topics instead", err=True)
        else:
            other = other_topics(answer, settings.kafka)
            if other is None or _is_meant(settings, shared):
                if other is not None:
                    typer.echo(f"{settings.serve.url} shows {other}", err=True)
                if not answer.get("ready", True):
                    typer.echo(f"fairlead serve is not ready: {answer.get('reason')}", err=True)
                return answer["groups"], answer["bridges"], answer["now_ms"]
            typer.echo(
                f"serve.url: {settings.serve.url} shows {other}; reading the topics at "
                f"{settings.kafka.bootstrap} instead",
                err=True,
            )
    begun = time.monotonic()
    source = shared.open(settings)
    groups, bridges, records = _read(source, settings, live=shared.dump is None)
    if shared.dump is None:
        taken = time.monotonic() - begun
        typer.echo(f"read {records:,} records of the topics in {taken:.1f} s", err=True)
    return groups, bridges, source.now_ms()


def _is_meant(settings: "Settings", shared: SourceOptions) -> bool:
    """Tell whether to trust a view although its brokers have other names.

    A serve.url of another machine is meant, unless the command names a cluster too. One machine may
    run views of several clusters.
    """
    named = shared.bootstrap is not None or shared.topic_prefix is not None
    return not named and urlsplit(settings.serve.url).hostname not in LOOPBACK


def _read(
    source: "TopicSource", settings: "Settings", *, live: bool
) -> tuple[list[Summary], Sequence[Mapping[str, Any]], int]:
    from fairlead.cli.sources.broker_offsets import ask_brokers
    from fairlead.cli.sources.source_options import tick_ms_of
    from fairlead.observed.reading import observe_all
    from strategies.own_strategies import all_strategies

    view = observe_all(
        source,
        all_strategies(settings.engine.strategies),
        tick_ms_of(source, settings),
        history_ms=settings.serve.history_ms,
    )
    if live:
        asked = ask_brokers(view.unmeasured(_SILENT_MS), settings)
        if asked is not None:
            view.apply_offsets(*asked)
    now_ms = source.now_ms()
    bridges = [each.to_json() for each in view.bridges(now_ms)]
    return [each.to_json() for each in view.groups(now_ms)], bridges, view.records
