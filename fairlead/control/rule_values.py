"""What a rule says, for people."""

from typing import Final

from fairlead.core.records import RuleSet
from fairlead.json_text import json_text

__all__ = ["rule_words", "subject_words", "value_words"]

_DONE: Final = {"drain": "drained", "pause": "paused"}


def rule_words(rule: RuleSet) -> str:
    """Return the name of a rule and its subject."""
    return " of ".join((rule.rule, "/".join(rule.subject))) if rule.subject else rule.rule


def subject_words(rule: RuleSet) -> str | None:
    """Return whom a rule is for, as flags write it; None: the whole group."""
    return "/".join(rule.subject) or None


def value_words(rule: RuleSet) -> str:
    """Return what a rule says, for people: the name of its subject left out."""
    value = rule.value
    if value is None:
        return "removed"
    match rule.rule:
        case "strategy":
            options = value.get("options")
            return f"{value['name']} {json_text(options)}" if options else str(value["name"])
        case "timing" | "weighing" | "quota":
            return " ".join(f"{name}={each}" for name, each in value.items()) or "-"
        case "pin":
            return str(value["client_id"])
        case "ban":
            return " ".join(value["client_ids"])
        case "weight" | "capacity":
            return str(value[rule.rule])
        case "drain" | "pause":
            return _DONE[rule.rule]
    return value if isinstance(value, str) else json_text(value)
