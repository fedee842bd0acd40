"""``fairlead group check``: what is wrong with a group, or with any, as far as its topics tell."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from fairlead.cli.absent_topics import absent_topics, untold_topics
from fairlead.cli.brokers_asked import offline_places
from fairlead.cli.completions import complete_group
from fairlead.cli.data_places import data_places
from fairlead.cli.group_work import warn
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.output import OutputFormat, Row, write_document, write_fitting
from fairlead.cli.source_options import SourceOptions
from fairlead.cli.standing_source import standing_from, warn_of_refused
from fairlead.counts import counted, listed
from fairlead.errors import FairleadError, UsageError, VerdictError

if TYPE_CHECKING:
    from fairlead.core.model import MessageQueue
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.bridges import Bridges
    from fairlead.observed.finding import Finding
    from fairlead.observed.group_standing import GroupStanding
    from fairlead.observed.observed_groups import ObservedGroups
    from fairlead.observed.positions import QueuePosition
    from fairlead.observed.verdict import GroupVerdict
    from fairlead.settings import Settings

__all__ = ["check", "folded_findings", "verdict_on"]

COLUMNS = ("problem", "for", "says", "do")
_BRIDGE_WORDS = {
    "bridge_silent": "the bridge is silent",
    "bridge_dead": "the bridge is dead",
    "bridge_look_ups_fail": "the bridge cannot see its cluster",
}

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


class DataTold(NamedTuple):
    """What the data cluster says of topics, each with that in words.

    Attributes:
        absent: it does not have them.
        untold: they have more queues than their routes tell.
    """

    absent: Mapping[str, str]
    untold: Mapping[str, str]


@takes_sets
def check(
    name: GroupArgument = None, *, everything: AllFlag = False, shared: SourceOptions
) -> None:
    """List what is wrong: two owners or none, handovers that stall, members that do not follow.

    Reads Fairlead's topics and writes nothing. Exit code 1 if anything is wrong. docs/groups.md
    says what each problem means; each line says what to do. JSON tells a verdict too: safe, nobody
    (nobody is in it), problems, and of --all unreadable_group.
    """
    if (name is None) != everything:
        raise UsageError(
            "GROUP: the check is of one group, or of all.", remedy="Name a group, or give --all."
        )
    settings = shared.settings()
    source = shared.open(settings)
    if name is None:
        _check_all(source, settings, shared)
    else:
        _check_one(name, source, settings, shared)


def _check_one(
    group: str, source: "TopicSource", settings: "Settings", shared: SourceOptions
) -> None:
    from fairlead.observed.group_standing import standing_of
    from fairlead.observed.verdict import check_group

    output, standing = shared.output, standing_from(group, source, settings)
    if shared.dump is None and not standing.sharing:
        # Nobody tells how far it is: whether messages wait only the brokers know.
        places = data_places(group, source, settings.kafka, None, standing.release)
        history_ms = settings.serve.history_ms
        standing = standing_of(standing.live, source.now_ms(), history_ms, places)
    if shared.dump is None:
        absent = absent_topics(standing.unrouted, source, settings)
        untold = untold_topics(standing.routes, settings)
        standing = replace(standing, absent=absent, untold=untold)
    found = check_group(standing)
    if shared.dump is None and standing.waits_for_bridge:
        found = _with_bridges(found, standing, _bridges(source, settings))
    for note in found.notes:
        warn(note)
    if output is not OutputFormat.TABLE:
        write_document(found.to_json(), output)
    elif found.findings:
        rows = folded_findings(found.findings)
        write_fitting(rows, COLUMNS, output, prose=("says", "do"))
    if found.findings:
        raise VerdictError(
            f"{group}: {counted(len(found.findings), 'finding')}; {_who(standing)}.",
            remedy="docs/groups.md says what each means.",
        )
    if output is OutputFormat.TABLE:
        typer.echo(f"{group}: nothing found; {_who(standing)}")


def _with_bridges(
    found: "GroupVerdict", standing: "GroupStanding", bridges: "Bridges"
) -> "GroupVerdict":
    """Add to a verdict what is wrong with the bridges that the group waits for."""
    from fairlead.observed.finding import Finding

    concerning = bridges.about({*standing.unrouted, *standing.routes})
    told = (
        Finding(row["problem"], row["for"], row["says"], row["do"]) for row in concerning.rows()
    )
    stopped = (each.words() for each in concerning.stopped)
    return replace(found, findings=(*found.findings, *told), notes=(*found.notes, *stopped))


def _who(standing: "GroupStanding") -> str:
    """Say who is there, in words; a group at rest, or without anybody, is told as that."""
    sharing, readable = standing.sharing, [each for each in standing.queues if each.readable]
    if not sharing and standing.release is not None:
        return standing.release.words()
    if not sharing:
        return "nobody is in it"
    own = sum(1 for each in sharing if each.held or each.draining or each.gated)
    owned = sum(1 for each in readable if each.holders)
    queues = "" if owned == len(readable) else f"{owned} of "
    queues += counted(len(readable), "queue")
    paused = "; it is paused, so nothing is shared anew" if standing.phase == "paused" else ""
    have = "has" if own == 1 else "have"
    return f"{own} of {counted(len(sharing), 'member')} {have} {queues}{paused}"


def _bridges(source: "TopicSource", settings: "Settings") -> "Bridges":
    """Return what the topics tell of the bridges; what is asked of topics that exist counts."""
    from fairlead.observed.bridges import read_bridges

    found = read_bridges(source)
    if found.silence is None:
        return found
    return found.without(absent_topics(set(found.silence.topics), source, settings))


def _check_all(source: "TopicSource", settings: "Settings", shared: SourceOptions) -> None:
    from fairlead.cli.plan_start import tick_ms_of
    from fairlead.observed.reading import observe_all
    from fairlead.observed.restarts import RESTARTS_OVER_MS
    from fairlead.observed.verdict import worst_verdict
    from strategies.own_strategies import all_strategies

    groups, output = (
        observe_all(
            source,
            all_strategies(settings.engine.strategies),
            tick_ms_of(source, settings),
            history_ms=settings.serve.history_ms,
            heard_ms=RESTARTS_OVER_MS,
        ),
        shared.output,
    )
    now_ms = source.now_ms()
    verdicts = [verdict_on(name, groups, now_ms) for name in groups.names()]
    bridges = None if shared.dump is not None else _bridges(source, settings)
    wrong_bridges = [] if bridges is None else bridges.rows()
    for stopped in () if bridges is None else bridges.stopped:
        warn(stopped.words())
    if shared.dump is None:
        verdicts = _checked_again(verdicts, groups, source, settings)
    if output is OutputFormat.JSON:
        said = [each.to_json() for each in verdicts]
        bridge = wrong_bridges[0] if wrong_bridges else None
        lives = [] if bridges is None else [each.to_json() for each in bridges.lives]
        verdict = worst_verdict(verdicts)
        if bridge and verdict in ("safe", "nobody"):
            verdict = "problems"
        found = {"verdict": verdict, "groups": said, "bridge": bridge, "bridges": lives}
        write_document(found, output)
    elif output is OutputFormat.JSONL:
        for each in verdicts:
            write_document(each.to_json(), output)
        for row in wrong_bridges:
            write_document({"group": "*", "bridge": row}, output)
    elif wrong_bridges or any(each.findings for each in verdicts):
        rows = [
            {"group": each.group, **row}
            for each in verdicts
            for row in folded_findings(each.findings)
        ]
        rows += [{"group": "*", **row} for row in wrong_bridges]
        write_fitting(rows, ("group", *COLUMNS), output, prose=("says", "do"))
    _end_with_verdict(verdicts, wrong_bridges, output)


def _end_with_verdict(
    verdicts: "Sequence[GroupVerdict]", wrong_bridges: "Sequence[Row]", output: OutputFormat
) -> None:
    if wrong_bridges:
        raise VerdictError(
            f"{_BRIDGE_WORDS[wrong_bridges[0]['problem']]}, and "
            f"{counted(_number(verdicts), 'finding')} in {counted(len(verdicts), 'group')}.",
            remedy="docs/groups.md says what each means.",
        )
    wrong, number = sum(bool(each.findings) for each in verdicts), _number(verdicts)
    if wrong:
        raise VerdictError(
            f"{counted(number, 'finding')} in {wrong} of {counted(len(verdicts), 'group')}.",
            remedy="docs/groups.md says what each means.",
        )
    if output is OutputFormat.TABLE:
        empty = sum(each.word == "nobody" for each in verdicts)
        beside = f"; nobody is in {empty} of them" if empty else ""
        typer.echo(f"nothing found in {counted(len(verdicts), 'group')}{beside}")


def _checked_again(
    verdicts: "Sequence[GroupVerdict]",
    groups: "ObservedGroups",
    source: "TopicSource",
    settings: "Settings",
) -> "list[GroupVerdict]":
    """Ask the data cluster about all groups at once; judge anew those of which it says more."""
    standings = [each.standing for each in verdicts if each.standing is not None]
    places = offline_places(standings, settings)
    unrouted = {topic for each in standings for topic in each.unrouted}
    absent = absent_topics(unrouted, source, settings)
    routes = {topic: route for each in standings for topic, route in each.routes.items()}
    untold = untold_topics(routes, settings)
    odd = {
        each.name
        for each in standings
        if absent.keys() & each.unrouted or untold.keys() & each.routes.keys()
    }
    again = {*places, *odd}
    told = DataTold(absent, untold)
    return [
        verdict_on(each.group, groups, source.now_ms(), places.get(each.group), told)
        if each.group in again
        else each
        for each in verdicts
    ]


def verdict_on(
    group: str,
    groups: "ObservedGroups",
    now_ms: int,
    places: "Mapping[MessageQueue, QueuePosition] | None" = None,
    told: DataTold | None = None,
) -> "GroupVerdict":
    """Return what is wrong with one of all groups; that it cannot be read is a finding as well.

    Args:
        group: its name.
        groups: all of them.
        now_ms: up to when silence and waits are counted.
        places: where the data cluster says the group is.
        told: what it says of topics.
    """
    from fairlead.observed.verdict import check_group, unreadable_group

    try:
        standing = groups.any_group(group, now_ms, places or {})
        if told is None:  # with what the data cluster says a group is judged a second time
            warn_of_refused(standing)
        else:
            untold = {
                topic: words for topic, words in told.untold.items() if topic in standing.routes
            }
            standing = replace(standing, absent=told.absent, untold=untold)
        return check_group(standing)
    except FairleadError as error:
        return unreadable_group(group, error.message, error.remedy)
    except Exception as error:  # noqa: BLE001 - whatever one group does, the others are check_group
        remedy = "this is a defect of fairlead; please report it with a recording of the topics"
        return unreadable_group(group, f"{type(error).__name__}: {error}", remedy)


def _number(verdicts: "Iterable[GroupVerdict]") -> int:
    return sum(len(each.findings) for each in verdicts)


def folded_findings(findings: "Iterable[Finding]") -> list[dict[str, Any]]:
    """Return the rows of a table: findings that say the same of several things are one."""
    subjects: dict[tuple[str, str, str], list[str]] = {}
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for each in findings:
        said = (each.problem, each.text, each.remedy)
        subjects.setdefault(said, []).append(each.subject)
        rows.setdefault(said, each.to_json())
    return [{**row, "for": listed(subjects[said])} for said, row in rows.items()]
