"""Rules as people read them: in words, and as rows of tables."""

from collections.abc import Mapping
from typing import Any

from fairlead.core.records import ALL_GROUPS
from fairlead.history.formatting import epoch_words, time_words

__all__ = [
    "OUTCOME_COLUMNS",
    "RULE_COLUMNS",
    "origin_words",
    "outcome_cells",
    "rule_cells",
]

OUTCOME_COLUMNS = ("rule", "for", "says", "answer", "decisions", "moves")
RULE_COLUMNS = ("rule", "for", "says", "origin", "by", "when", "because")


def outcome_cells(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outcome of a rule as a row."""
    decisions = (f"{each['group']} {epoch_words(each['epoch'])}" for each in outcome["led_to"])
    return {
        **outcome,
        "decisions": " ".join(dict.fromkeys(decisions)) or None,
        "moves": outcome["queues_moved"],
    }


def origin_words(rule: Mapping[str, Any]) -> str:
    """Return where a rule comes from, in words."""
    return f"{rule['origin']} of all groups" if rule["group"] == ALL_GROUPS else rule["origin"]


def rule_cells(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rule as a row."""
    append_ms = rule["append_ms"]
    return {
        **rule,
        "origin": origin_words(rule),
        "when": None if append_ms is None else time_words(append_ms),
    }
