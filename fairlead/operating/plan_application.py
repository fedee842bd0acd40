"""Carries out a plan, if the group is still as planned: for the command and over HTTP.

Decides what refuses a plan: the group has decided since, other queues would move by now, or its
rules stand in the log and no engine has read them. A plan that is in force is not written again.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from fairlead.control.released_group import refuse_to_end_release
from fairlead.errors import EnvironmentMissingError, VerdictError, Way
from fairlead.kafka.decision_log import decisions_after, newest_epoch
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.live_group import LiveGroup
from fairlead.observed.planned_group import PlannedGroup
from fairlead.operating.applied_plan import AppliedPlan, PlanInForce
from fairlead.operating.plan_words import came_between, differences, left_words
from fairlead.operating.plans import work_out
from fairlead.operating.presence import require_members
from fairlead.operating.rule_changes import OperatedGroup, Signature
from fairlead.planning.saved_plan import PlannedMove, SavedPlan, moves_of
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["PlanApplication"]

_AGAIN: Final = "Plan again, and apply what is shown then."
_OUTDATED: Final = "plan_outdated"
"""The kind of the refusal that the group is no longer as planned."""

_Places = frozenset[tuple[str, int, int]]


@dataclass(frozen=True, slots=True)
class PlanApplication:
    """A plan that somebody applies.

    Attributes:
        saved: the plan.
        group: its group's rules, and a way to write others.
        source: the topics.
        signed: who applies it, and why.
        absent_ok: its rules may name clients that are not there.
    """

    saved: SavedPlan
    group: OperatedGroup
    source: TopicSource
    signed: Signature
    absent_ok: bool = False

    def run(self, read: Callable[[], LiveGroup], wait_s: float | None) -> AppliedPlan | PlanInForce:
        """Write the rules of the plan, and wait for the engine.

        Args:
            read: reads the group as it is now.
            wait_s: how long to wait for the engine; None: write nothing.

        Raises:
            VerdictError: the group has decided since, other queues would move, or nothing is to be
                written.
            UsageError: the engine would refuse a rule, a client is unknown, or a change does not
                fit the group any more.
            RefusedError: the plan would end a release.
            EnvironmentMissingError: the topics cannot be read or written, or no engine has read
                the rules that an earlier apply wrote.
        """
        saved, rules = self.saved, self.saved.changes.rules
        live, stands = read(), self._stands_already()
        decided = self._decided(stands) if stands else []
        if decided:
            return PlanInForce(saved, decided)
        self._refuse_if_moved()
        self._refuse_if_empty()
        changes, after = self.group.check(rules, self.signed)
        if stands:
            self._refuse_if_unread(stands)
            return PlanInForce(saved, ())
        if not self.absent_ok:
            require_members(live, rules, [each.client_id for each in saved.changes.joins])
        planned = self._planned(live.planned)
        session = self.group.session
        refuse_to_end_release(saved.group, session.present, rules)
        # Reading took time: check once more, as late as possible.
        self._refuse_if_moved()
        outcomes = tuple(self.group.write(changes, wait_s))
        notes = tuple(self.group.notes(rules, after, live))
        is_dry = wait_s is None
        return AppliedPlan(saved, outcomes, planned, session.topic, is_dry, notes)

    def _stands_already(self) -> _Places:
        """Return where the rules of the plan stand in the log, if all are in force; else none."""
        rules, session = self.saved.changes.rules, self.group.session
        if not rules or any(each.changes for each in self.group.check(rules, self.signed)[0]):
            return frozenset()
        known = session.present.of(self.saved.group)
        written = (known.get((rule.rule, rule.subject)) for rule in rules)
        return frozenset(
            (session.topic, each.partition, each.offset) for each in written if each is not None
        )

    def _decided(self, stands: _Places) -> list[DecisionRecord]:
        """Return the decisions that name rules of the plan as a cause: it is applied if any does.

        A decision that moves nothing has no epoch of its own, so older epochs count too.
        """
        decided = decisions_after(self.source, self.saved.group, None)
        return [each for each in decided if stands & {*each.places()}]

    def _refuse_if_unread(self, stands: _Places) -> None:
        """Refuse a plan whose rules stand in the log, but the engine has not read them yet.

        Raises:
            EnvironmentMissingError: an earlier apply has written them.
        """
        decided = decisions_after(self.source, self.saved.group, None)
        newest = decided[-1].cut if decided else None
        if any(newest is None or newest.end_of(*place[:2]) <= place[2] for place in stands):
            again = "same {} again: it tells when the plan is applied.".format
            raise EnvironmentMissingError(
                f"{self.saved.group}: the rules of the plan stand in the log already, and no "
                "engine has decided on them yet; nothing is written a second time.",
                remedy=Way(
                    f"Check that an engine runs (fairlead doctor), and run the {again('command')}",
                    f"Check that an engine runs, and send the {again('request')}",
                ),
                kind="unread",
            )

    def _refuse_if_moved(self) -> None:
        """Refuse if the group has another epoch than the plan.

        Raises:
            VerdictError: it has; the message names the decisions in between.
        """
        saved = self.saved
        epoch = newest_epoch(self.source, saved.group)
        if epoch == saved.epoch:
            return
        if saved.epoch is None:
            raise VerdictError(
                f"{saved.group}: the plan has no epoch: its group was a file, or had no decision "
                f"yet. The group is at {epoch}; nothing is written.",
                remedy=Way(f"Plan the live group: fairlead plan {saved.group} … --save.", _AGAIN),
                kind=_OUTDATED,
            )
        between = decisions_after(self.source, saved.group, saved.epoch)
        raise VerdictError(
            f"{saved.group}: the plan is of epoch {saved.epoch}, and the group is at "
            f"{epoch or 'none'} now; nothing is written.{came_between(between)}",
            remedy=Way(f"Plan again: fairlead plan {saved.group} … --save.", _AGAIN),
            kind=_OUTDATED,
        )

    def _refuse_if_empty(self) -> None:
        """Refuse a plan without rules.

        Raises:
            VerdictError: the plan has none; the message says who does the rest.
        """
        if self.saved.changes.rules:
            return
        raise VerdictError(
            f"{self.saved.group}: the plan has no rule; there is nothing to write."
            + left_words(self.saved.changes),
            remedy="",
            kind="no_rule",
        )

    def _planned(self, planned: PlannedGroup) -> tuple[PlannedMove, ...]:
        """Return what the rules of the plan move by themselves, if the whole plan still holds.

        Raises:
            VerdictError: other queues would move by now.
            UsageError: a change does not fit the group any more.
        """
        saved = self.saved
        now = moves_of(work_out(planned, saved.changes))
        if now != saved.moves:
            raise VerdictError(
                f"{saved.group}: other queues would move than planned, though the group has "
                f"decided nothing since; nothing is written.{differences(saved.moves, now)}",
                remedy="Weights, members or routes have changed, or the engine has other "
                "strategies: plan again.",
                kind=_OUTDATED,
            )
        if not saved.of_others:
            return now
        return moves_of(work_out(planned, replace(saved.changes, joins=(), leaves=(), routes=())))
