"""``fairlead group list``: all groups, each in a line."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

import typer

from fairlead.cli.completions import complete_word
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.output import OutputFormat, write_fitting, write_line, write_rows
from fairlead.cli.served_view import LOOPBACK, NobodyServesError, ask_serve, other_topics
from fairlead.cli.source_options import SourceOptions
from fairlead.durations import duration_words, since_words
from fairlead.errors import UsageError
from fairlead.observed.phase_words import PHASES

if TYPE_CHECKING:
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.settings import Settings

__all__ = ["bridge_lines", "chosen_groups", "engine_line", "group_rows", "list_groups"]

COLUMNS: Final = (
    *("group", "phase", "members", "idle", "queues", "unassigned", "handover", "lag", "waiting"),
    *("epoch", "last", "trigger", "moves", "problem"),
)
_NARROW: Final = ("group", "phase", "members", "unassigned", "lag", "problem")
"""On a terminal that has no room for all of them."""
_SILENT_MS: Final = 30_000
"""Of a queue of which nobody told anything for so long the brokers are asked."""
_GLOB: Final = frozenset("*?[")
_PHASES: Final = (*PHASES, "released")
"""What the table shows as one: a released group is in another phase too."""

Summary = Mapping[str, Any]
"""A group as `fairlead serve` tells it."""


class Order(StrEnum):
    """By what groups are sorted: their names, or the greatest or the newest first."""

    NAME = "name"
    LAG = "lag"
    MEMBERS = "members"
    LAST = "last"


PatternArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[PATTERN]",
        help="Groups whose name has this text; or fits this, with * and ?.",
        show_default=False,
    ),
]
SortOption = Annotated[Order, typer.Option("--sort", help="By what they are sorted.")]
PhaseOption = Annotated[
    list[str] | None,
    typer.Option(
        "--phase",
        help="Groups in this phase; may be given again.",
        autocompletion=complete_word(*_PHASES),
    ),
]
ProblemFlag = Annotated[bool, typer.Option("--problem", help="Groups with something to look at.")]


@takes_sets
def list_groups(
    pattern: PatternArgument = None,
    *,
    sort: SortOption = Order.NAME,
    phase: PhaseOption = None,
    problem: ProblemFlag = False,
    shared: SourceOptions,
) -> None:
    """List the groups: state, members, queues, what is under way, lag, newest rebalance.

    Asks `fairlead serve` (serve.url). Where nobody answers it reads the topics itself, and says so.
    """
    _check_phases(phase or ())
    settings = shared.settings()
    found, bridges, now_ms = _groups(settings, shared)
    chosen = chosen_groups(found, pattern, phase or (), sort, problem=problem)
    if shared.output is OutputFormat.TABLE:
        if chosen:
            rows = group_rows(chosen, now_ms)
            write_fitting(rows, COLUMNS, shared.output, prose=("problem",), fewer=_NARROW)
        else:
            write_line(_none_line([each["group"] for each in found], pattern))
        for line in (engine_line(found), *bridge_lines(bridges)):
            if line is not None:
                write_line(line)
    else:
        write_rows(chosen, (), shared.output)


def _check_phases(given: Sequence[str]) -> None:
    """Refuse a phase that no group is ever in: to find none would look like all well."""
    from fairlead.control.group_names import nearest_names

    for each in given:
        if each not in _PHASES:
            nearest, *_ = nearest_names(each, _PHASES)
            raise UsageError(
                f"--phase: no group is ever in {each!r}; the nearest is {nearest}.",
                remedy=f"Give one of {', '.join(sorted(_PHASES))}.",
            )


def _none_line(names: Sequence[str], pattern: str | None) -> str:
    """Return that none of these groups is what was asked for, and the nearest to a mistyped name.

    Args:
        names: of all groups.
        pattern: what their names were to fit; None: anything.
    """
    from fairlead.control.group_names import nearest_names

    if not names:
        return "there is no group: a client's first heartbeat, or a rule, makes one"
    line = f"no group is such, of {len(names)}"
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
    """Return the groups that are asked for, sorted.

    Args:
        groups: all, by name.
        pattern: what their names fit: a text in them, or the whole with ``*`` and ``?``.
        phases: one of which they are in; none: any.
        sort: by what.
        problem: only those with something to look at.
    """
    chosen = [
        each
        for each in groups
        if (pattern is None or _fits(each["group"], pattern))
        and (not phases or each["phase"] in phases or _phase_shown(each) in phases)
        and not (problem and not _worth_a_look(each))
    ]
    return sorted(chosen, key=_KEYS[sort])


def _phase_shown(group: Summary) -> str:
    return "released" if group.get("released") else str(group["phase"])


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) if _GLOB & set(pattern) else pattern in name


_KEYS: Final[Mapping[Order, Callable[[Summary], Any]]] = {
    Order.NAME: lambda each: each["group"],
    Order.LAG: lambda each: (-(each["lag_messages"] or 0), each["group"]),
    Order.MEMBERS: lambda each: (-each["members"], each["group"]),
    Order.LAST: lambda each: (-(each["last_rebalance"] or {}).get("at_ms", 0), each["group"]),
}


def _worth_a_look(group: Summary) -> list[str]:
    """Return what is wrong, as `fairlead group check` finds it, then alarms that are no fault."""
    return [*group["problems"], *(f"alarm {alarm}" for alarm in group["other_alarms"])]


def engine_line(groups: Sequence[Summary]) -> str | None:
    """Return what is to be said if no engine ticks, for all of these groups or for some."""
    silent = [each["engine"] for each in groups if each["engine"]["silent"]]
    if not silent:
        return None
    newest = min(silent, key=lambda engine: (engine["silent_ms"] is None, engine["silent_ms"]))
    whose = "" if len(silent) == len(groups) else f" for {len(silent)} of {len(groups)} groups"
    return f"engine: {newest['says']}{whose}: owners go on, nothing is decided (fairlead run)"


def bridge_lines(bridges: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what is to be said of bridges that do not follow their clusters."""
    return [f"bridge: {each['says']}" for each in bridges if each["state"] != "running"]


def group_rows(groups: Iterable[Summary], now_ms: int) -> Iterable[dict[str, Any]]:
    """Yield each group as a row of the table; ``now_ms``: up to when what is past is counted."""
    for each in groups:
        last = each["last_rebalance"]
        waiting = each["lag_ms"]
        yield {
            "group": each["group"],
            "phase": _phase_shown(each),
            "members": each["members"],
            "idle": each["members_idle"],
            "queues": each["queues"],
            "unassigned": each["unassigned"],
            "handover": each["draining"] + each["gated"],
            "lag": each["lag_messages"],
            "waiting": None if waiting is None else duration_words(waiting),
            "epoch": ".".join(map(str, each["epoch"])),
            "last": None if last is None else since_words(last["at_ms"], now_ms),
            "trigger": None if last is None else ", ".join(last["triggers"]),
            "moves": None if last is None else last["moves"],
            "problem": ", ".join(_worth_a_look(each)) or None,
        }


def _groups(
    settings: "Settings", shared: SourceOptions
) -> tuple[Sequence[Summary], Sequence[Mapping[str, Any]], int]:
    """Return the summaries, what is to be said of the bridges, and the time that they are of."""
    if shared.dump is None and settings.serve.url:
        try:
            answer = ask_serve(settings.serve.url, "/api/v1/groups")
        except NobodyServesError as error:
            typer.echo(f"serve.url: {error}; reading the topics instead", err=True)
        else:
            other = other_topics(answer, settings.kafka)
            if other is None or _is_meant(settings, shared):
                if other is not None:
                    typer.echo(f"{settings.serve.url} tells of {other}", err=True)
                if not answer.get("ready", True):
                    typer.echo(f"fairlead serve is not ready: {answer.get('reason')}", err=True)
                # One of an earlier version tells nothing of bridges.
                return answer["groups"], answer.get("bridges", ()), answer["as_of_ms"]
            typer.echo(
                f"serve.url: {settings.serve.url} tells of {other}; reading the topics at "
                f"{settings.kafka.bootstrap} instead",
                err=True,
            )
    begun = time.monotonic()
    source = shared.open(settings)
    found, bridges, records = _read(source, settings, live=shared.dump is None)
    if shared.dump is None:
        taken = time.monotonic() - begun
        typer.echo(f"read {records:,} records of the topics in {taken:.1f} s", err=True)
    return found, bridges, source.now_ms()


def _is_meant(settings: "Settings", shared: SourceOptions) -> bool:
    """Tell whether a view is wanted although its brokers go by other names.

    Whoever sets serve.url to another machine says so, but not with a cluster beside it in the same
    command; on one machine views of several clusters may stand.
    """
    named = shared.bootstrap is not None or shared.topic_prefix is not None
    return not named and urlsplit(settings.serve.url).hostname not in LOOPBACK


def _read(
    source: "TopicSource", settings: "Settings", *, live: bool
) -> tuple[list[Summary], Sequence[Mapping[str, Any]], int]:
    from fairlead.cli.brokers_asked import ask_brokers
    from fairlead.cli.plan_start import tick_ms_of
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
