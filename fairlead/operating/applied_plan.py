"""What came of a plan: its rules, the decisions that they led to, and each queue."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from fairlead.control.control_session import RuleOutcome
from fairlead.errors import EnvironmentMissingError, FairleadError, VerdictError, Way, Words
from fairlead.operating.plan_words import left_lines
from fairlead.operating.rule_answers import (
    UNANSWERED,
    failure_of_rules,
    notes_of_rules,
    why_silent,
)
from fairlead.planning.plan_outcome import QueueOutcome, outcomes_of, unplanned_causes
from fairlead.planning.saved_plan import PlannedMove, SavedPlan
from fairlead.wire.decision_records import DecisionRecord, decision_names

__all__ = ["OVERTAKEN", "AppliedPlan", "PlanInForce"]

OVERTAKEN: Final = "overtaken"
"""The kind of the failure that the rules are in force, and other queues move than planned."""

_BAD: Final = frozenset(("otherwise", "not_planned", "not_moved"))
_AGAIN: Final = (
    Way(" Run the same command again: it tells", " Send the same request again: it tells"),
    " whether the plan is applied, and writes nothing twice.",
)


@dataclass(frozen=True, slots=True)
class PlanInForce:
    """A plan that was applied before.

    Attributes:
        saved: the plan.
        decided: the decisions that its rules caused; empty: the rules are older than the plan.
    """

    saved: SavedPlan
    decided: Sequence[DecisionRecord]

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            **_about(self.saved),
            "already_applied": True,
            "led_to": decision_names(self.decided),
            "left": [*left_lines(self.saved.changes)],
        }


@dataclass(frozen=True, slots=True)
class AppliedPlan:
    """A plan and what came of it.

    Attributes:
        saved: the plan.
        outcomes: the outcomes of its rules.
        planned: what the rules move by themselves.
        topic: the control topic's name.
        dry_run: nothing was written.
        notes: what the operator must know of the rules.
    """

    saved: SavedPlan
    outcomes: tuple[RuleOutcome, ...]
    planned: tuple[PlannedMove, ...]
    topic: str
    dry_run: bool
    notes: tuple[Words, ...] = ()

    @property
    def decisions(self) -> list[DecisionRecord]:
        """The decisions that name a rule of the plan as a cause, the oldest first."""
        by_epoch = {one.epoch: one for each in self.outcomes for one in each.decisions}
        return [by_epoch[epoch] for epoch in sorted(by_epoch)]

    @property
    def rows(self) -> list[QueueOutcome]:
        """The outcome of each queue."""
        if self.dry_run:
            return [QueueOutcome(move.queue, move, None, "not_written") for move in self.planned]
        return outcomes_of(self.planned, self.decisions)

    @property
    def held_up(self) -> bool:
        """Whether moves wait because the group moves nothing now."""
        return any(row.verdict == "held_up" for row in self.rows)

    @property
    def unplanned(self) -> int:
        """How many unplanned queues moved, or planned ones did not."""
        return sum(row.verdict in _BAD for row in self.rows)

    @property
    def strangers(self) -> tuple[bool, list[str]]:
        """Whether a decision came in between, and the unplanned causes, in words."""
        own = [(self.topic, *place) for each in self.outcomes for place in each.places]
        return unplanned_causes(self.decisions, self.saved.epoch, own)

    def judged(self, wait_s: float) -> tuple[list[Words], FairleadError | None]:
        """Return what is not as planned: notes, and the failure, if it is one.

        ``wait_s``: for how long the engine was given time to answer.
        """
        silent = self._silent(wait_s)
        if silent is not None:
            return [], silent
        notes, failure = [*notes_of_rules(self.outcomes)], failure_of_rules(self.outcomes, wait_s)
        if failure is not None or self.dry_run:
            return notes, failure
        between, beside = self.strangers
        if beside:
            notes.append(f"the same decision has causes that nobody planned: {'; '.join(beside)}")
        if self.held_up:
            notes.append(
                "the group moves nothing now (it is paused, or its engine has just started)"
            )
        return notes, self._otherwise(between=between)

    def _silent(self, wait_s: float) -> FairleadError | None:
        """Return that an answer is missing, and no rule was refused; None: else."""
        silent = [each for each in self.outcomes if each.answer == "unanswered"]
        if not silent or any(each.answer == "refused" for each in self.outcomes):
            return None
        return EnvironmentMissingError(
            f"{self.saved.group}: no answer within {wait_s:g} s; the rules of the plan stand "
            "in the log all the same, and take effect when an engine reads them.",
            remedy=(why_silent(silent), *_AGAIN),
            kind=UNANSWERED,
        )

    def _otherwise(self, *, between: bool) -> FairleadError | None:
        group = self.saved.group
        if between:
            return VerdictError(
                f"{group}: another decision came between the last look and the rules: they are in "
                f"force, but on another group than planned (epoch {self.saved.epoch}).",
                remedy=f"Look at what moves now (fairlead plan {group}); `fairlead group unset` "
                "and `set` undo rules.",
                kind=OVERTAKEN,
            )
        if self.unplanned:
            return VerdictError(
                f"{group}: the rules are in force, but other queues have moved than planned.",
                remedy="The rows say which queues; fairlead plan shows the group as it is now.",
                kind=OVERTAKEN,
            )
        return None

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        between, beside = self.strangers
        is_calm = not between and not self.unplanned and not self.held_up
        return {
            **_about(self.saved),
            "already_applied": False,
            "outcomes": [each.to_json(self.topic) for each in self.outcomes],
            "led_to": decision_names(self.decisions),
            "came_between": between,
            "beside": beside,
            "move_list": [row.to_json() for row in self.rows],
            "as_planned": is_calm and not self.dry_run,
            "left": [*left_lines(self.saved.changes)],
        }


def _about(saved: SavedPlan) -> dict[str, Any]:
    epoch = saved.epoch
    return {"group": saved.group, "epoch": None if epoch is None else list(epoch)}
