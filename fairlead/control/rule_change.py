"""Rules that an operator wants, tried with the engine's functions before anything is written."""

from collections.abc import Iterable
from dataclasses import dataclass

from fairlead.control.rules_in_force import RulesInForce, WrittenRule
from fairlead.core.records import ALL_GROUPS, RuleSet
from fairlead.core.rules.rule_error import RuleError
from fairlead.kafka.rule_writer import as_read
from fairlead.wire.encode import OversizeError
from fairlead.wire.errors import WireError
from fairlead.wire.reasons import Reason

__all__ = ["BadRuleError", "RuleChange", "changes_of"]


class BadRuleError(ValueError):
    """The engine would reject a rule. ``field``: the path of what is wrong, below ``value``."""

    def __init__(self, rule: RuleSet, field: str, detail: str, remedy: str) -> None:
        super().__init__(detail)
        self.rule = rule
        self.field = field
        self.detail = detail
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule as the engine will read it, and whether it changes anything."""

    rule: RuleSet
    changes: bool


def changes_of(
    present: RulesInForce, wanted: Iterable[RuleSet]
) -> tuple[list[RuleChange], RulesInForce]:
    """Return what each rule changes, in their order, and the rules that are then in force.

    Raises:
        BadRuleError: the engine would reject one of them.
    """
    after = present.copy()
    changes = []
    for rule in wanted:
        before = after.values_of(rule.group)
        try:
            read = as_read(rule)
            after.apply(WrittenRule(read, "", -1, -1, 0))
        except WireError as error:
            if error.reason == Reason.KEY_MISMATCH:
                raise _nobody(rule) from error
            raise _bad(rule, error.field, error.detail, error.remedy) from error
        except RuleError as error:
            raise _bad(rule, error.field_path, error.detail, error.remedy) from error
        except (TypeError, OversizeError) as error:
            remedy = "give texts, whole numbers of 64 bits, true, false, lists and objects"
            raise _bad(rule, "", f"no record can hold it ({error})", remedy) from error
        changes.append(RuleChange(read, after.values_of(rule.group) != before))
    return changes, after


def _nobody(rule: RuleSet) -> BadRuleError:
    """Return the error for a rule whose queue or client cannot exist."""
    if rule.group == ALL_GROUPS:
        return BadRuleError(rule, "", "it is for one group", "name a group instead of *")
    named = "/".join(rule.subject)
    remedy = "a queue is orders/main/3; docs/protocol.md, section 2, has the characters allowed"
    return BadRuleError(rule, "", f"{named!r} is no queue or client", remedy)


def _bad(rule: RuleSet, field: str | None, detail: str, remedy: str) -> BadRuleError:
    return BadRuleError(rule, (field or "").removeprefix("value").removeprefix("."), detail, remedy)
