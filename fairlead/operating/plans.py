"""A plan: what would move if clients came or went, topics grew, or rules changed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from fairlead.control.rule_change import BadRuleError, changes_of
from fairlead.control.rules_in_force import RulesInForce
from fairlead.control.wanted_rules import completed
from fairlead.core.records import RuleSet
from fairlead.errors import UsageError, Way, sentence
from fairlead.observed.planned_group import PlannedGroup
from fairlead.operating.rule_changes import refusal_of
from fairlead.planning.changes import BadChangeError, Changes, records_of
from fairlead.planning.plan import Plan
from fairlead.planning.plan import plan as plan_of

__all__ = ["planned_rules", "work_out"]

_AUTHOR: Final = "plan"
_FIELDS: Final = {"join": "joins", "leave": "leaves", "route": "routes"}


def planned_rules(
    planned: PlannedGroup, wanted: Sequence[RuleSet], gone: Sequence[RuleSet]
) -> tuple[RuleSet, ...]:
    """Return rules as the engine will read them.

    Args:
        planned: the group.
        wanted: the rules to set; what they leave alone is filled up.
        gone: the removals.

    Raises:
        UsageError: the engine would refuse a rule.
    """
    own = planned.state.rules
    rules = [*completed(wanted, own, planned.rules.strategy), *gone]
    present = RulesInForce(
        planned.engine.strategies, own_values=dict(own), values_of_all=dict(planned.of_all)
    )
    try:
        changes, _ = changes_of(present, [replace(rule, by=_AUTHOR) for rule in rules])
    except BadRuleError as error:
        raise refusal_of(error) from error
    return tuple(change.rule for change in changes)


def work_out(before: PlannedGroup, changes: Changes) -> Plan:
    """Work a plan out.

    Raises:
        UsageError: a change does not fit the group; the message names what asks for it.
    """
    try:
        return plan_of(before, records_of(before, changes))
    except BadChangeError as error:
        field = _FIELDS[error.kind]
        message = (Way(f"--{error.kind}", field), f": {error.detail}.")
        remedy = error.remedy if isinstance(error.remedy, Way) else Way(*[error.remedy] * 2)
        raise UsageError(
            message,
            remedy=Way(sentence(remedy.command), sentence(remedy.http)),
            field=field,
            kind="bad_change",
        ) from error
