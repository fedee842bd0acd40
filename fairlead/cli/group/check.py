"""``fairlead group check``: the problems of one group or of all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from fairlead.cli.completions import complete_group
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.render.output import OutputFormat, warn, write_document, write_fitting
from fairlead.cli.sources.absent_topics import absent_topics, untold_topics
from fairlead.cli.sources.broker_offsets import offline_places
from fairlead.cli.sources.data_places import data_places
from fairlead.cli.sources.source_options import SourceOptions
from fairlead.cli.sources.standing import standing_from, warn_of_refused
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

COLUMNS = ("problem", "for", "says", "remedy")
_BRIDGE_WORDS = {
    "bridge_silent": "the bridge is silent",
    "bridge_dead": "the bridge is dead",
    "bridge_look_ups_fail": "the bridge cannot see its cluster",
}

GroupArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="GROUP",
        help="The group; or --all.",
        show_default=False,
        autocompletion=complete_group,
    ),
]
AllFlag = Annotated[
    bool, typer.Option("--all", help="Every group; an unreadable one stops no other.")
]


class TopicDoubts(NamedTuple):
    """Topics that the data cluster knows otherwise, each with a sentence.

    Attributes:
        absent: topics that it does not have.
        untold: topics with more queues than their routes tell.
    """

    absent: Mapping[str, str]
    untold: Mapping[str, str]


@takes_sets
def check(
    name: GroupArgument = None, *, everything: AllFlag = False, shared: SourceOptions
) -> None:
    """List problems: two owners or none, handovers that stall, members that do not follow.

    Each line says what to do; docs/groups.md explains each problem. Exit code 1 if there are any.
    The command writes nothing. JSON has a verdict: safe, nobody (the group is empty), problems, or
    with --all unreadable.
    """
    if name is None and not everything:
        raise UsageError(
            "GROUP: the check needs one group, or --all.", remedy="Name a group, or give --all."
        )
    if name is not None and everything:
        raise UsageError(
            f"--all: it means every group, and {name} is named too.",
            remedy="Leave --all or the name of the group out.",
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
        # Nobody reports positions: only the brokers know whether messages wait.
        places = data_places(group, source, settings.kafka, None, standing.release)
        history_ms = settings.serve.history_ms
        standing = standing_of(standing.live, source.now_ms(), history_ms, places)
    if shared.dump is None:
        absent = absent_topics(standing.unrouted, source, settings)
        untold = untold_topics(standing.routes, settings)
        standing = replace(standing, absent=absent, untold=untold)
    verdict = check_group(standing)
    if shared.dump is None and standing.waits_for_bridge:
        verdict = _with_bridges(verdict, standing, _bridges(source, settings))
    for note in verdict.notes:
        warn(note)
    if output is not OutputFormat.TABLE:
        write_document(verdict.to_json(), output)
    elif verdict.findings:
        rows = folded_findings(verdict.findings)
        write_fitting(rows, COLUMNS, output, prose=("says", "remedy"))
    if verdict.findings:
        raise VerdictError(
            f"{group}: {counted(len(verdict.findings), 'problem')} ({_who(standing)}).",
            remedy="docs/groups.md explains each problem.",
        )
    if output is OutputFormat.TABLE:
        typer.echo(f"{group}: no problem ({_who(standing)})")


def _with_bridges(
    verdict: "GroupVerdict", standing: "GroupStanding", bridges: "Bridges"
) -> "GroupVerdict":
    """Add the problems of the bridges that the group waits for."""
    concerning = bridges.about({*standing.unrouted, *standing.routes})
    findings = (*verdict.findings, *concerning.findings())
    stopped = (each.words() for each in concerning.stopped)
    return replace(verdict, findings=findings, notes=(*verdict.notes, *stopped))


def _who(standing: "GroupStanding") -> str:
    """Return who is in the group: members and the queues they have."""
    sharing, readable = standing.sharing, [each for each in standing.queues if each.readable]
    if not sharing and standing.release is not None:
        return standing.release.words()
    if not sharing:
        return "nobody is in it"
    owned = sum(1 for each in readable if each.holders)
    parts = [counted(len(sharing), "member")]
    if standing.summary.members_idle:
        parts.append(f"{standing.summary.members_idle} of them idle")
    queues = counted(len(readable), "queue")
    parts.append(queues if owned == len(readable) else f"{owned} of {queues} owned")
    if standing.phase == "paused":
        parts.append("paused")
    return ", ".join(parts)


def _bridges(source: "TopicSource", settings: "Settings") -> "Bridges":
    """Return the state of the bridges; unanswered requests count only for topics that exist."""
    from fairlead.observed.bridges import read_bridges

    bridges = read_bridges(source)
    if bridges.silence is None:
        return bridges
    return bridges.without(absent_topics(set(bridges.silence.topics), source, settings))


def _check_all(source: "TopicSource", settings: "Settings", shared: SourceOptions) -> None:
    from fairlead.cli.sources.source_options import tick_ms_of
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
    wrong_bridges = [] if bridges is None else bridges.findings()
    for stopped in () if bridges is None else bridges.stopped:
        warn(stopped.words())
    if shared.dump is None:
        verdicts = _checked_again(verdicts, groups, source, settings)
    if output is OutputFormat.JSON:
        documents = [each.to_json() for each in verdicts]
        lives = [] if bridges is None else [each.to_json() for each in bridges.lives]
        verdict = worst_verdict(verdicts)
        if wrong_bridges and verdict in ("safe", "nobody"):
            verdict = "problems"
        problems = [each.to_json() for each in wrong_bridges]
        document = {"verdict": verdict, "verdict_list": documents, "problem_list": problems}
        write_document({**document, "bridges": lives}, output)
    elif output is OutputFormat.JSONL:
        for each in verdicts:
            write_document(each.to_json(), output)
        for finding in wrong_bridges:
            write_document({"group": "*", "problem_list": [finding.to_json()]}, output)
    elif wrong_bridges or any(each.findings for each in verdicts):
        by_group = [(each.group, each.findings) for each in verdicts]
        rows = [
            {"group": group, **row}
            for group, findings in (*by_group, ("*", wrong_bridges))
            for row in folded_findings(findings)
        ]
        write_fitting(rows, ("group", *COLUMNS), output, prose=("says", "remedy"))
    _end_with_verdict(verdicts, wrong_bridges, output)


def _end_with_verdict(
    verdicts: "Sequence[GroupVerdict]", wrong_bridges: "Sequence[Finding]", output: OutputFormat
) -> None:
    if wrong_bridges:
        raise VerdictError(
            f"{_BRIDGE_WORDS[wrong_bridges[0].problem]}, and "
            f"{counted(_number(verdicts), 'problem')} in {counted(len(verdicts), 'group')}.",
            remedy="docs/groups.md explains each problem.",
        )
    wrong, number = sum(bool(each.findings) for each in verdicts), _number(verdicts)
    if wrong:
        raise VerdictError(
            f"{counted(number, 'problem')} in {wrong} of {counted(len(verdicts), 'group')}.",
            remedy="docs/groups.md explains each problem.",
        )
    if output is OutputFormat.TABLE:
        empty = sum(each.word == "nobody" for each in verdicts)
        beside = f", {empty} of them without members" if empty else ""
        typer.echo(f"no problem in {counted(len(verdicts), 'group')}{beside}")


def _checked_again(
    verdicts: "Sequence[GroupVerdict]",
    groups: "ObservedGroups",
    source: "TopicSource",
    settings: "Settings",
) -> "list[GroupVerdict]":
    """Ask the data cluster about all groups at once; check again where it knows more."""
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
    doubts = TopicDoubts(absent, untold)
    return [
        verdict_on(each.group, groups, source.now_ms(), places.get(each.group), doubts)
        if each.group in again
        else each
        for each in verdicts
    ]


def verdict_on(
    group: str,
    groups: "ObservedGroups",
    now_ms: int,
    places: "Mapping[MessageQueue, QueuePosition] | None" = None,
    doubts: TopicDoubts | None = None,
) -> "GroupVerdict":
    """Return the problems of one of all groups; an unreadable group is a problem too.

    Args:
        group: its name.
        groups: all groups.
        now_ms: the time at which silence and waits end.
        places: the positions that the data cluster has.
        doubts: the topics that it knows otherwise.
    """
    from fairlead.observed.verdict import check_group, unreadable_group

    try:
        standing = groups.any_group(group, now_ms, places or {})
        if doubts is None:  # the second check of a group comes with what the data cluster knows
            warn_of_refused(standing)
        else:
            untold = {
                topic: words for topic, words in doubts.untold.items() if topic in standing.routes
            }
            standing = replace(standing, absent=doubts.absent, untold=untold)
        return check_group(standing)
    except FairleadError as error:
        return unreadable_group(group, error.message, error.remedy)
    except Exception as error:  # noqa: BLE001 - whatever one group does, the others are check_group
        remedy = "this is a defect of fairlead; please report it with a recording of the topics"
        return unreadable_group(group, f"{type(error).__name__}: {error}", remedy)


def _number(verdicts: "Iterable[GroupVerdict]") -> int:
    return sum(len(each.findings) for each in verdicts)


def folded_findings(findings: "Iterable[Finding]") -> list[dict[str, Any]]:
    """Return the rows of a table: equal findings about several subjects share a row."""
    subjects: dict[tuple[str, str, str], list[str | None]] = {}
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for each in findings:
        words = (each.problem, each.text, each.remedy)
        subjects.setdefault(words, []).append(each.subject)
        rows.setdefault(words, each.to_json())
    return [
        {**row, "for": listed([*filter(None, subjects[words])]) or None}
        for words, row in rows.items()
    ]
