"""Rules as people read them: in words, and as rows of tables."""

from collections.abc import Mapping
from typing import Any

from fairlead.core.records import RuleSet
from fairlead.history.formatting import epoch_words, time_words

__all__ = ["OUTCOME_COLUMNS", "RULE_COLUMNS", "outcome_cells", "rule_cells", "rule_words"]

OUTCOME_COLUMNS = ("rule", "for", "says", "answer", "decisions", "moves")
RULE_COLUMNS = ("rule", "for", "says", "from", "by", "when", "because")


def rule_words(rule: RuleSet) -> str:
    """Return the name of a rule and its subject."""
    return " of ".join((rule.rule, "/".join(rule.subject))) if rule.subject else rule.rule


def outcome_cells(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outcome of a rule as a row."""
    decisions = (f"{each['group']} {epoch_words(each['epoch'])}" for each in outcome["led_to"])
    return {
        **outcome,
        "decisions": " ".join(dict.fromkeys(decisions)) or None,
        "moves": outcome["queues_moved"],
    }


def rule_cells(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rule as a row."""
    append_ms = rule["append_ms"]
    return {
        **rule,
        "from": rule["origin"],
        "when": None if append_ms is None else time_words(append_ms),
    }
