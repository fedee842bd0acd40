"""``fairlead apply``: carry a saved plan out, if the group is still as it was planned."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli import rule_flags as flags
from fairlead.cli.apply_rows import (
    AppliedPlan,
    came_between,
    differences,
    left_words,
    show_applied,
    show_done,
)
from fairlead.cli.documents import read_document
from fairlead.cli.group_options import ChangeOptions, GroupOptions
from fairlead.cli.group_work import GroupWork, tell_outcomes, warn
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.plan_start import live_group
from fairlead.cli.presence import require_members
from fairlead.cli.released_group import refuse_to_end_release
from fairlead.errors import EnvironmentMissingError, UsageError, VerdictError

if TYPE_CHECKING:
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.planned_group import PlannedGroup
    from fairlead.planning.saved_plan import PlannedMove, SavedPlan
    from fairlead.wire.decision_records import DecisionRecord

__all__ = ["apply"]

PlanArgument = Annotated[
    Path,
    typer.Argument(
        metavar="PLAN", help="What `fairlead plan … --save` wrote; - is standard input."
    ),
]


@takes_sets
def apply(
    file: PlanArgument,
    *,
    absent_ok: flags.AbsentFlag = False,
    change: ChangeOptions,
    shared: GroupOptions,
) -> None:
    """Carry a saved plan out: write its rules, and hold what moves against what was planned.

    Refused if the group has decided anything since, or if other queues would move by now. A plan
    that is applied already is a success: it names the decision, and writes nothing. Clients that
    join or leave and topics that grow are not this command's to bring about: it says what remains
    to be done, and by whom.
    """
    from fairlead.kafka.kafka_source import KafkaSource

    saved = _read(file)
    work = GroupWork(saved.group, shared)
    source = KafkaSource(work.settings.kafka)
    live = live_group(saved.group, source, work.settings)
    stands = _stands_already(work, saved, change)
    led = _led_to(source, saved, stands) if stands else []
    if led:
        show_done(saved, led, shared.output)
        return
    _refuse_if_moved(source, saved)
    _refuse_if_empty(saved)
    changes, after = work.checked(saved.changes.rules, change)
    if stands:
        _refuse_if_unread(source, saved, stands)
        show_done(saved, [], shared.output)
        return
    if not absent_ok:
        coming = [each.client_id for each in saved.changes.joins]
        require_members(live, saved.changes.rules, coming)
    planned = _planned(live.planned, saved)
    refuse_to_end_release(saved.group, work.session.present, saved.changes.rules)
    # Reading all that has taken its time: once more, as late as can be.
    _refuse_if_moved(source, saved)
    outcomes = work.written(changes, change)
    done = AppliedPlan(saved, tuple(outcomes), planned, work.session.topic, dry_run=change.dry_run)
    show_applied(done, shared.output)
    work.warn_of(saved.changes.rules, after, live)
    _tell(done, change)


def _tell_unanswered(done: AppliedPlan, change: ChangeOptions) -> None:
    """Say what to do where the wait was over before the engine had answered.

    Raises:
        EnvironmentMissingError: no engine answered a rule in time, and none was refused.
    """
    from fairlead.cli.group_work import why_silent

    silent = [each for each in done.outcomes if each.answer == "unanswered"]
    if silent and not any(each.answer == "refused" for each in done.outcomes):
        raise EnvironmentMissingError(
            f"{done.saved.group}: no answer within {change.wait:g} s; the rules of the plan stand "
            "in the log all the same, and take effect when an engine reads them.",
            remedy=f"{why_silent(silent)} Run the same command again: it tells whether the plan "
            "is applied, and writes nothing twice.",
        )


def _read(file: Path) -> "SavedPlan":
    from fairlead.planning.group_file import BadGroupError
    from fairlead.planning.saved_plan import read_saved_plan

    try:
        return read_saved_plan(read_document(file, "PLAN"))
    except BadGroupError as error:
        raise UsageError(f"PLAN: {error}.", remedy="See docs/planning.md.") from error


def _stands_already(
    work: GroupWork, saved: "SavedPlan", change: ChangeOptions
) -> "frozenset[tuple[str, int, int]]":
    """Return where the rules of a plan stand in the log, if all of them do; else nothing."""
    rules = saved.changes.rules
    if not rules or any(each.changes for each in work.checked(rules, change)[0]):
        return frozenset()
    known = work.session.present.of(saved.group)
    written = (known.get((rule.rule, rule.subject)) for rule in rules)
    return frozenset(
        (work.session.topic, each.partition, each.offset) for each in written if each is not None
    )


def _led_to(
    source: "TopicSource", saved: "SavedPlan", stands: "frozenset[tuple[str, int, int]]"
) -> "list[DecisionRecord]":
    """Return the decisions to which the rules of a plan have led: it is applied if there are any.

    Not only those of a greater epoch: a decision that moves nothing has none of its own.
    """
    from fairlead.kafka.decision_log import decisions_after

    decided = decisions_after(source, saved.group, None)
    return [each for each in decided if stands & {*each.places()}]


def _refuse_if_unread(
    source: "TopicSource", saved: "SavedPlan", stands: "frozenset[tuple[str, int, int]]"
) -> None:
    """Refuse a plan whose rules stand in the log behind all that the group's engine has read.

    Raises:
        EnvironmentMissingError: they do: an earlier apply has written them.
    """
    from fairlead.kafka.decision_log import decisions_after

    decided = decisions_after(source, saved.group, None)
    newest = decided[-1].cut if decided else None
    if any(newest is None or newest.end_of(*place[:2]) <= place[2] for place in stands):
        raise EnvironmentMissingError(
            f"{saved.group}: the rules of the plan stand in the log already, and no engine has "
            "decided on them yet; nothing is written a second time.",
            remedy="Look whether an engine runs (fairlead doctor), and run the same command again: "
            "it tells when the plan is applied.",
        )


def _refuse_if_moved(source: "TopicSource", saved: "SavedPlan") -> None:
    """Refuse if the group has another epoch than it was planned at.

    Raises:
        VerdictError: it has; the message names what came in between.
    """
    from fairlead.kafka.decision_log import decisions_after, newest_epoch

    epoch = newest_epoch(source, saved.group)
    if epoch == saved.epoch:
        return
    if saved.epoch is None:
        raise VerdictError(
            f"{saved.group}: the plan names no epoch, for it was made of a file or before the "
            f"group's first decision, and the group is at {epoch}; nothing is written.",
            remedy=f"Plan the live group: fairlead plan {saved.group} … --save.",
        )
    between = decisions_after(source, saved.group, saved.epoch)
    raise VerdictError(
        f"{saved.group}: it was planned at epoch {saved.epoch}, and the group is at "
        f"{epoch or 'none'} now; nothing is written.{came_between(between)}",
        remedy=f"Plan again: fairlead plan {saved.group} … --save.",
    )


def _refuse_if_empty(saved: "SavedPlan") -> None:
    """Refuse a plan without rules.

    Raises:
        VerdictError: it has none; the message says who does the rest.
    """
    if saved.changes.rules:
        return
    raise VerdictError(
        f"{saved.group}: the plan has no rule; nothing is left to write."
        + left_words(saved.changes),
        remedy="",
    )


def _planned(planned: "PlannedGroup", saved: "SavedPlan") -> "tuple[PlannedMove, ...]":
    """Return what the rules of a plan move by themselves, if the whole is still what was shown.

    Raises:
        VerdictError: other queues would move by now.
        UsageError: a change does not fit the group any more.
    """
    from fairlead.cli.plan import work_out
    from fairlead.planning.saved_plan import moves_of

    now = moves_of(work_out(planned, saved.changes))
    if now != saved.moves:
        raise VerdictError(
            f"{saved.group}: other queues would move than were planned, though the group has "
            f"decided nothing since; nothing is written.{differences(saved.moves, now)}",
            remedy="Weights, members or routes have changed, or the engine has other strategies: "
            "plan again.",
        )
    if not saved.of_others:
        return now
    return moves_of(work_out(planned, replace(saved.changes, joins=(), leaves=(), routes=())))


def _tell(done: "AppliedPlan", change: ChangeOptions) -> None:
    """Say what is not as planned, and end with the exit code.

    Raises:
        VerdictError: the engine refused a rule; another decision came before it; other queues move.
        EnvironmentMissingError: no engine answered in time.
    """
    if done.saved.of_others:
        typer.echo(left_words(done.saved.changes, before="").lstrip(), err=True)
    _tell_unanswered(done, change)
    tell_outcomes(done.outcomes, change.wait)
    if change.dry_run:
        return
    between, beside = done.strangers
    group = done.saved.group
    if beside:
        warn(f"the same decision counted what nobody planned: {'; '.join(beside)}")
    if done.held_up:
        warn("the group moves nothing for the time being (paused, or its engine has just started)")
    if between:
        raise VerdictError(
            f"{group}: another decision came between the last look and the rules: they are in "
            f"force, on a group that is not the one that was planned (epoch {done.saved.epoch}).",
            remedy=f"Look at what moves now (fairlead plan {group}); `fairlead group unset` and "
            "`set` take rules back.",
        )
    if done.differs:
        raise VerdictError(
            f"{group}: the rules are in force, and not what was planned has moved.",
            remedy="The rows say which queues; fairlead plan shows the group as it is now.",
        )
