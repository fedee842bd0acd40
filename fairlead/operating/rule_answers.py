"""What the engine's answers to rules and resets mean for an operator."""

from collections.abc import Iterator, Sequence
from typing import Final

from fairlead.control.control_session import RuleOutcome
from fairlead.control.engine_answers import Refusal
from fairlead.control.queue_resets import ResetOutcome
from fairlead.control.rule_values import rule_words
from fairlead.core.records import RuleSet
from fairlead.errors import EnvironmentMissingError, FairleadError, VerdictError, Way, Words
from fairlead.history.formatting import queue_words

__all__ = [
    "UNANSWERED",
    "RefusedByEngineError",
    "failure_of_resets",
    "failure_of_rules",
    "notes_of_rules",
    "why_silent",
]

UNANSWERED: Final = "unanswered"
"""The kind of the failure that no engine has answered in time; what was written stands."""


class RefusedByEngineError(VerdictError):
    """The engine rejects what was written.

    ``rule``: which one, of several; ``path``: what is wrong in its value.
    """

    def __init__(self, message: str, refusal: Refusal, rule: RuleSet | None = None) -> None:
        super().__init__(
            message,
            remedy=f"{refusal.remedy}.",
            field=refusal.field or "",
            kind="refused_by_engine",
        )
        self.rule = rule
        self.path = (refusal.field or "").removeprefix("value").removeprefix(".")


def notes_of_rules(outcomes: Sequence[RuleOutcome]) -> Iterator[Words]:
    """Yield what an operator must know of the decisions that rules led to."""
    decisions = {
        (one.group, one.epoch): one for each in outcomes for one in each.decisions
    }.values()
    for alarm in sorted({alarm for one in decisions for alarm in one.alarms}):
        yield f"alarm {alarm}; docs/protocol.md, section 3.14, says what it means"
    for one in decisions:
        for topic, failure in one.failures.items():
            yield f"{topic} cannot be allocated and keeps its owners: {failure.message}"


def failure_of_rules(outcomes: Sequence[RuleOutcome], wait_s: float) -> FairleadError | None:
    """Return that the engine refused a rule, or that no engine answered in time; None: neither."""
    for each in outcomes:
        if each.refusal is not None:
            said = f"the engine refuses it ({each.refusal.detail}); "
            return RefusedByEngineError(
                f"{rule_words(each.rule)}: {said}the rule before it stays in force.",
                each.refusal,
                each.rule,
            )
    silent = [each for each in outcomes if each.answer == "unanswered"]
    if not silent:
        return None
    named = ", ".join(rule_words(each.rule) for each in silent)
    return EnvironmentMissingError(
        f"{named}: no answer within {wait_s:g} s; the rule stands in the log all the same.",
        remedy=why_silent(silent),
        kind=UNANSWERED,
    )


def failure_of_resets(outcomes: Sequence[ResetOutcome], wait_s: float) -> FairleadError | None:
    """Return that the engine refused a reset, or that no engine answered in time; None: neither."""
    for each in outcomes:
        if each.refusal is not None:
            said = f"the engine refuses the reset ({each.refusal.detail})."
            return RefusedByEngineError(f"{_named(each)}: {said}", each.refusal)
    silent = [each for each in outcomes if each.answer == "unanswered"]
    if not silent:
        return None
    more = f" and {len(silent) - 1} more" if len(silent) > 1 else ""
    return EnvironmentMissingError(
        f"{_named(silent[0])}{more}: no answer within {wait_s:g} s; the reset stands in the log "
        "all the same.",
        remedy=why_silent(silent),
        kind=UNANSWERED,
    )


def why_silent(silent: Sequence[RuleOutcome | ResetOutcome]) -> Words:
    """Return why the engine may not have answered."""
    if all(each.passed for each in silent):
        return "The engine has read it: the group is in quarantine, or nothing changed."
    if all(each.ticking for each in silent):
        longer = Way("(--wait)", "(wait_ms)")
        return "An engine runs: look at the group's decisions, or wait longer ", longer, "."
    return "No engine runs: start one (fairlead run); it reads this from the log."


def _named(outcome: ResetOutcome) -> str:
    return queue_words(outcome.planned.place.queue)
