"""Rules and what came of them as rows of tables."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

__all__ = ["OUTCOME_COLUMNS", "RULE_COLUMNS", "outcome_cells", "rule_cells", "time_words"]

OUTCOME_COLUMNS = ("rule", "for", "says", "answer", "decisions", "moves")
RULE_COLUMNS = ("rule", "for", "says", "from", "by", "when", "because")


def outcome_cells(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Return what came of a rule as a row."""
    decisions = (
        f"{each['group']} {'.'.join(map(str, each['epoch']))}" for each in outcome["led_to"]
    )
    return {
        **outcome,
        "decisions": " ".join(decisions) or None,
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


def time_words(written_ms: int) -> str:
    """Return a time to read: UTC, to the second."""
    return datetime.fromtimestamp(written_ms / 1_000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
