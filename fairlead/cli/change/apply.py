"""``fairlead apply``: carry out a saved plan, if the group is still as planned."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.change import rule_flags as flags
from fairlead.cli.change.change_options import ChangeOptions
from fairlead.cli.change.planned_start import live_group
from fairlead.cli.change.rule_command import RuleCommand, report_outcomes
from fairlead.cli.documents import read_document
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import OutputOptions
from fairlead.cli.render.applied_plan import (
    AppliedPlan,
    differences,
    left_words,
    show_applied,
    show_done,
)
from fairlead.cli.render.decision import came_between
from fairlead.cli.render.output import warn
from fairlead.errors import EnvironmentMissingError, UsageError, VerdictError, in_commands

if TYPE_CHECKING:
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.planned_group import PlannedGroup
    from fairlead.planning.saved_plan import PlannedMove, SavedPlan
    from fairlead.wire.decision_records import DecisionRecord

__all__ = ["apply"]

PlanArgument = Annotated[
    Path,
    typer.Argument(
        metavar="PLAN", help="The file of `fairlead plan … --save`; - is standard input."
    ),
]


@takes_sets
def apply(
    file: PlanArgument,
    *,
    absent_ok: flags.AbsentFlag = False,
    change: ChangeOptions,
    shared: OutputOptions,
) -> None:
    """Carry out a saved plan: write its rules, and compare what moves with the plan.

    Refused if the group has decided anything since, or if other queues would move by now. If the
    plan is applied already, the command names the decision, writes nothing, and succeeds. It starts
    and stops no clients and adds no queues: it says what remains to be done, and by whom.
    """
    from fairlead.control.released_group import refuse_to_end_release
    from fairlead.kafka.kafka_source import KafkaSource
    from fairlead.operating.presence import require_members

    saved = _read(file)
    command = RuleCommand(saved.group, shared)
    source = KafkaSource(command.settings.kafka)
    live = live_group(saved.group, source, command.settings)
    stands = _stands_already(command, saved, change)
    decided = _decided(source, saved, stands) if stands else []
    if decided:
        show_done(saved, decided, shared.output)
        return
    _refuse_if_moved(source, saved)
    _refuse_if_empty(saved)
    changes, after = command.check(saved.changes.rules, change)
    if stands:
        _refuse_if_unread(source, saved, stands)
        show_done(saved, [], shared.output)
        return
    if not absent_ok:
        coming = [each.client_id for each in saved.changes.joins]
        require_members(live, saved.changes.rules, coming)
    planned = _planned(live.planned, saved)
    refuse_to_end_release(saved.group, command.session.present, saved.changes.rules)
    # Reading took time: check once more, as late as possible.
    _refuse_if_moved(source, saved)
    outcomes = command.write(changes, change)
    done = AppliedPlan(
        saved, tuple(outcomes), planned, command.session.topic, dry_run=change.dry_run
    )
    show_applied(done, shared.output)
    command.warn_about(saved.changes.rules, after, live)
    _report(done, change)


def _require_answers(done: AppliedPlan, change: ChangeOptions) -> None:
    """Require the engine's answer to every rule.

    Raises:
        EnvironmentMissingError: an answer is missing, and no rule was refused.
    """
    from fairlead.operating.rule_answers import why_silent

    silent = [each for each in done.outcomes if each.answer == "unanswered"]
    if silent and not any(each.answer == "refused" for each in done.outcomes):
        raise EnvironmentMissingError(
            f"{done.saved.group}: no answer within {change.wait:g} s; the rules of the plan stand "
            "in the log all the same, and take effect when an engine reads them.",
            remedy=f"{in_commands(why_silent(silent))} Run the same command again: it tells "
            "whether the plan is applied, and writes nothing twice.",
        )


def _read(file: Path) -> "SavedPlan":
    from fairlead.planning.group_file import BadGroupError
    from fairlead.planning.saved_plan import SAVED_BY, read_saved_plan

    try:
        return read_saved_plan(read_document(file, "PLAN", f"{SAVED_BY}."))
    except BadGroupError as error:
        raise UsageError(f"PLAN: {file}: {error}.", remedy=f"{SAVED_BY}.") from error


def _stands_already(
    command: RuleCommand, saved: "SavedPlan", change: ChangeOptions
) -> "frozenset[tuple[str, int, int]]":
    """Return where the rules of a plan stand in the log, if all are in force; else nothing."""
    rules = saved.changes.rules
    if not rules or any(each.changes for each in command.check(rules, change)[0]):
        return frozenset()
    known = command.session.present.of(saved.group)
    written = (known.get((rule.rule, rule.subject)) for rule in rules)
    return frozenset(
        (command.session.topic, each.partition, each.offset) for each in written if each is not None
    )


def _decided(
    source: "TopicSource", saved: "SavedPlan", stands: "frozenset[tuple[str, int, int]]"
) -> "list[DecisionRecord]":
    """Return the decisions that name rules of a plan as a cause: it is applied if there are any.

    A decision that moves nothing has no epoch of its own, so older epochs count too.
    """
    from fairlead.kafka.decision_log import decisions_after

    decided = decisions_after(source, saved.group, None)
    return [each for each in decided if stands & {*each.places()}]


def _refuse_if_unread(
    source: "TopicSource", saved: "SavedPlan", stands: "frozenset[tuple[str, int, int]]"
) -> None:
    """Refuse a plan whose rules stand in the log, but the engine has not read them yet.

    Raises:
        EnvironmentMissingError: an earlier apply has written them.
    """
    from fairlead.kafka.decision_log import decisions_after

    decided = decisions_after(source, saved.group, None)
    newest = decided[-1].cut if decided else None
    if any(newest is None or newest.end_of(*place[:2]) <= place[2] for place in stands):
        raise EnvironmentMissingError(
            f"{saved.group}: the rules of the plan stand in the log already, and no engine has "
            "decided on them yet; nothing is written a second time.",
            remedy="Check that an engine runs (fairlead doctor), and run the same command again: "
            "it tells when the plan is applied.",
        )


def _refuse_if_moved(source: "TopicSource", saved: "SavedPlan") -> None:
    """Refuse if the group has another epoch than the plan.

    Raises:
        VerdictError: it has; the message names the decisions in between.
    """
    from fairlead.kafka.decision_log import decisions_after, newest_epoch

    epoch = newest_epoch(source, saved.group)
    if epoch == saved.epoch:
        return
    if saved.epoch is None:
        raise VerdictError(
            f"{saved.group}: the plan has no epoch: its group was a file, or had no decision yet. "
            f"The group is at {epoch}; nothing is written.",
            remedy=f"Plan the live group: fairlead plan {saved.group} … --save.",
        )
    between = decisions_after(source, saved.group, saved.epoch)
    raise VerdictError(
        f"{saved.group}: the plan is of epoch {saved.epoch}, and the group is at "
        f"{epoch or 'none'} now; nothing is written.{came_between(between)}",
        remedy=f"Plan again: fairlead plan {saved.group} … --save.",
    )


def _refuse_if_empty(saved: "SavedPlan") -> None:
    """Refuse a plan without rules.

    Raises:
        VerdictError: the plan has none; the message says who does the rest.
    """
    if saved.changes.rules:
        return
    raise VerdictError(
        f"{saved.group}: the plan has no rule; there is nothing to write."
        + left_words(saved.changes),
        remedy="",
    )


def _planned(planned: "PlannedGroup", saved: "SavedPlan") -> "tuple[PlannedMove, ...]":
    """Return what the rules of a plan move by themselves, if the whole plan still holds.

    Raises:
        VerdictError: other queues would move by now.
        UsageError: a change does not fit the group any more.
    """
    from fairlead.operating.plans import work_out
    from fairlead.planning.saved_plan import moves_of

    now = moves_of(work_out(planned, saved.changes))
    if now != saved.moves:
        raise VerdictError(
            f"{saved.group}: other queues would move than planned, though the group has "
            f"decided nothing since; nothing is written.{differences(saved.moves, now)}",
            remedy="Weights, members or routes have changed, or the engine has other strategies: "
            "plan again.",
        )
    if not saved.of_others:
        return now
    return moves_of(work_out(planned, replace(saved.changes, joins=(), leaves=(), routes=())))


def _report(done: "AppliedPlan", change: ChangeOptions) -> None:
    """Report what is not as planned, and end with the exit code.

    Raises:
        VerdictError: the engine refused a rule; another decision came before it; other queues move.
        EnvironmentMissingError: no engine answered in time.
    """
    if done.saved.of_others:
        typer.echo(left_words(done.saved.changes, before="").lstrip(), err=True)
    _require_answers(done, change)
    report_outcomes(done.outcomes, change.wait)
    if change.dry_run:
        return
    between, beside = done.strangers
    group = done.saved.group
    if beside:
        warn(f"the same decision has causes that nobody planned: {'; '.join(beside)}")
    if done.held_up:
        warn("the group moves nothing now (it is paused, or its engine has just started)")
    if between:
        raise VerdictError(
            f"{group}: another decision came between the last look and the rules: they are in "
            f"force, but on another group than planned (epoch {done.saved.epoch}).",
            remedy=f"Look at what moves now (fairlead plan {group}); `fairlead group unset` and "
            "`set` undo rules.",
        )
    if done.differs:
        raise VerdictError(
            f"{group}: the rules are in force, but other queues have moved than planned.",
            remedy="The rows say which queues; fairlead plan shows the group as it is now.",
        )
