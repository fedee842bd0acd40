"""Rules as an operator asks for them: for whom each is, and what they leave alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from fairlead.core.records import RuleSet
from fairlead.core.rules.single_rules import SINGLE_RULES
from strategies.options import written_queue

__all__ = ["OF_CLIENTS", "completed", "subject_of"]

OF_CLIENTS: Final = ("capacity", "drain")
"""The rules of single clients; other single rules are of queues."""
_IN_PARTS: Final = ("timing", "weighing", "quota")
"""Rules of several values: some may change alone."""


def completed(rules: Sequence[RuleSet], present: Mapping[str, Any], strategy: str) -> list[RuleSet]:
    """Return the rules, filled up with values that an operator leaves alone.

    Args:
        rules: the rules that are asked for.
        present: the values of the group's own rules: times, weighing and quota may change in part.
        strategy: the strategy in force; options without a name are for it.
    """
    filled = []
    for rule in rules:
        value: Any = rule.value
        if isinstance(value, Mapping):
            if rule.rule == "strategy":
                value = {**value, "name": value.get("name") or strategy}
            elif rule.rule in _IN_PARTS:
                value = {**present.get(rule.rule, {}), **value}
        filled.append(replace(rule, value=value))
    return filled


def subject_of(rule: str, value: Any) -> tuple[str, ...]:
    """Return whom a rule is for, by its value; the engine says whether that makes sense.

    Raises:
        ValueError: the value names nobody; the message has the field and what it must be.
    """
    if rule not in SINGLE_RULES:
        return ()
    if not isinstance(value, dict):
        raise ValueError(f"value: a {rule} is an object")  # noqa: TRY004 - the caller reads it
    if rule in OF_CLIENTS:
        return (str(value.get("client_id")),)
    queue = written_queue(value.get("queue"))
    if queue is None:
        raise ValueError("value.queue: a queue is [topic, broker_name, queue_id]")
    return (queue.topic, queue.broker_name, str(queue.queue_id))
