"""Rules as people read them: in words, and as rows with every field for programs."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fairlead.cli.render.output import json_text
from fairlead.cli.render.refusal import refusal_row
from fairlead.core.records import RuleSet
from fairlead.core.rules import NEVER, TIMES, GroupRules
from fairlead.history.formatting import time_words

if TYPE_CHECKING:
    from fairlead.control.rules_in_force import RulesInForce, WrittenRule
    from fairlead.control.session import RuleOutcome
    from fairlead.wire.decision_records import DecisionRecord

__all__ = [
    "OUTCOME_COLUMNS",
    "RULE_COLUMNS",
    "outcome_rows",
    "rule_rows",
    "rule_words",
    "subject_words",
    "unusual_rules",
    "value_words",
]

OUTCOME_COLUMNS = ("rule", "for", "says", "answer", "decisions", "moves")
RULE_COLUMNS = ("rule", "for", "says", "from", "by", "when", "because")
_ORDER = (
    *("pause", "strategy", "slots", "mode", "on_mute", "react", "start_policy", "retry_topics"),
    *("timing", "weighing", "quota", "designated"),
)
_NOT_BUILT_IN = ("pause", "designated")
_DONE = {"drain": "drained", "pause": "paused"}
_DROPPED = "dropped"
_RESOLVED = "resolved"


def rule_words(rule: RuleSet) -> str:
    """Return the name of a rule and its subject."""
    return " of ".join((rule.rule, "/".join(rule.subject))) if rule.subject else rule.rule


def subject_words(rule: RuleSet) -> str | None:
    """Return the subject of a rule as flags write it; None: the whole group."""
    return "/".join(rule.subject) or None


def value_words(rule: RuleSet) -> str:
    """Return the value of a rule in words, without its subject."""
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


def outcome_rows(outcomes: list["RuleOutcome"], topic: str) -> Iterator[dict[str, Any]]:
    """Yield the outcome of each rule. ``topic``: the name of the control topic."""
    for each in outcomes:
        epochs = sorted({(one.group, str(one.epoch)) for one in each.decisions})
        refusal = each.refusal
        yield {
            **_rule_row(each.rule),
            "answer": each.answer,
            "because": each.rule.because,
            "by": each.rule.by,
            "at": [[topic, *place] for place in each.places],
            "decisions": " ".join(f"{group} {epoch}" for group, epoch in epochs) or None,
            "moves": sum(map(_moves, each.decisions)) if each.decisions else None,
            "alarms": sorted({alarm for one in each.decisions for alarm in one.alarms}),
            "failures": {
                topic: why for one in each.decisions for topic, why in one.failures.items()
            },
            "refused": refusal_row(refusal),
        }


def _moves(decision: "DecisionRecord") -> int:
    """Count the queues that a decision moves, or begins to move.

    An add under an earlier epoch is written again: another decision began that move.
    """
    begun = [
        move.queue
        for move in decision.moves
        if move.stage == _DROPPED or (move.stage != _RESOLVED and move.epoch == decision.epoch)
    ]
    return len(set(begun))


def rule_rows(rules: "RulesInForce", topic: str) -> Iterator[dict[str, Any]]:
    """Yield each rule in force and its origin, rules of the whole group first."""
    for name in _ORDER:
        own, of_all = rules.own.get((name, ())), rules.of_all.get((name, ()))
        if own is not None:
            yield _written_row(own, "own", topic)
        if of_all is not None:
            shown = _not_hidden(of_all.rule, None if own is None else own.rule)
            if shown is not None:
                yield {**_written_row(of_all, "all groups", topic), **_rule_row(shown)}
        if own is None and of_all is None and name not in _NOT_BUILT_IN:
            yield {**_rule_row(_built_in(rules.rules, name)), "from": "built in"}
    for place in sorted(rules.own.keys() - {(name, ()) for name in _ORDER}):
        yield _written_row(rules.own[place], "own", topic)


def unusual_rules(rules: "RulesInForce", topic: str) -> Iterator[dict[str, Any]]:
    """Yield the rules that differ from the usual values; of times only those that differ.

    ``conf/`` writes rules of all groups with the usual values: they are no news.
    """
    from strategies.registry import USUAL

    usual = GroupRules(strategy=USUAL)
    for row in rule_rows(rules, topic):
        value, name = row["value"], row["rule"]
        if row["from"] == "built in":
            continue
        if name in _NOT_BUILT_IN or name not in _ORDER:
            yield row
            continue
        built_in = _built_in(usual, name).value
        if isinstance(value, dict) and isinstance(built_in, dict):
            value = {key: given for key, given in value.items() if given != built_in.get(key)}
            value = row["value"] if name == "strategy" and value else value
        if value not in ({}, built_in):
            yield {**row, "value": value, "says": value_words(RuleSet("", name, (), value))}


def _not_hidden(of_all: RuleSet, own: RuleSet | None) -> RuleSet | None:
    """Return the part of a rule of all groups that a group's own leaves; None: nothing."""
    if own is None:
        return of_all
    if of_all.rule != "timing" or of_all.value is None or own.value is None:
        return None
    left = {name: number for name, number in of_all.value.items() if name not in own.value}
    return RuleSet(of_all.group, of_all.rule, (), left) if left else None


def _time(milliseconds: int | None) -> int | str:
    return NEVER if milliseconds is None else milliseconds


def _built_in(rules: GroupRules, name: str) -> RuleSet:
    """Return a rule's built-in value."""
    weighing = rules.weighing
    values: dict[str, Any] = {
        "strategy": {"name": rules.strategy, "options": dict(rules.strategy_options)},
        "slots": rules.slots,
        "mode": rules.mode,
        "on_mute": rules.on_mute,
        "react": rules.react,
        "start_policy": rules.start_policy,
        "retry_topics": rules.retry_topics,
        "timing": {each: _time(getattr(rules, each)) for each in TIMES},
        "weighing": {
            "by": weighing.by,
            "over_ms": weighing.over_ms,
            "change_percent": weighing.change_percent,
        },
        "quota": asdict(rules.quota),
    }
    return RuleSet("", name, (), values[name])


def _rule_row(rule: RuleSet) -> dict[str, Any]:
    return {
        "rule": rule.rule,
        "for": subject_words(rule),
        "says": value_words(rule),
        "value": rule.value,
    }


def _written_row(written: "WrittenRule", origin: str, topic: str) -> dict[str, Any]:
    return {
        **_rule_row(written.rule),
        "from": origin,
        "by": written.rule.by,
        "because": written.rule.because,
        "when": time_words(written.written_ms),
        "written_ms": written.written_ms,
        "at": [topic, written.partition, written.offset],
    }
