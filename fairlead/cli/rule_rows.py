"""Rules and what came of them as rows: a table for people, every field for programs."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fairlead.cli.refusal_row import refusal_row
from fairlead.cli.rule_words import subject_words, value_words
from fairlead.core.records import RuleSet
from fairlead.core.rules import NEVER, TIMES, GroupRules

if TYPE_CHECKING:
    from fairlead.control.control_session import RuleOutcome
    from fairlead.control.rules_in_force import RulesInForce, WrittenRule
    from fairlead.wire.decision_records import DecisionRecord

__all__ = [
    "OUTCOME_COLUMNS",
    "RULE_COLUMNS",
    "outcome_rows",
    "rule_rows",
    "time_words",
    "unusual_rules",
]

OUTCOME_COLUMNS = ("rule", "for", "says", "answer", "decisions", "moves")
RULE_COLUMNS = ("rule", "for", "says", "from", "by", "when", "because")
_ORDER = (
    *("pause", "strategy", "slots", "mode", "on_mute", "react", "start_policy", "retry_topics"),
    *("timing", "weighing", "quota", "designated"),
)
_NOT_BUILT_IN = ("pause", "designated")
_DROPPED = "dropped"
_RESOLVED = "resolved"


def outcome_rows(outcomes: list["RuleOutcome"], topic: str) -> Iterator[dict[str, Any]]:
    """Yield what came of each rule. ``topic`` is the control topic's name."""
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
    """Count the queues that change hands by a decision, or begin to.

    An add under an earlier epoch is written again: that queue began to with another decision.
    """
    begun = [
        move.queue
        for move in decision.moves
        if move.stage == _DROPPED or (move.stage != _RESOLVED and move.epoch == decision.epoch)
    ]
    return len(set(begun))


def rule_rows(found: "RulesInForce", topic: str) -> Iterator[dict[str, Any]]:
    """Yield each rule in force with where it comes from, rules of the whole group first."""
    for name in _ORDER:
        own, of_all = found.own.get((name, ())), found.of_all.get((name, ()))
        if own is not None:
            yield _written_row(own, "own", topic)
        if of_all is not None:
            shown = _not_hidden(of_all.rule, None if own is None else own.rule)
            if shown is not None:
                yield {**_written_row(of_all, "all groups", topic), **_rule_row(shown)}
        if own is None and of_all is None and name not in _NOT_BUILT_IN:
            yield {**_rule_row(_built_in(found.rules, name)), "from": "built in"}
    for place in sorted(found.own.keys() - {(name, ()) for name in _ORDER}):
        yield _written_row(found.own[place], "own", topic)


def unusual_rules(found: "RulesInForce", topic: str) -> Iterator[dict[str, Any]]:
    """Yield the rules that say something else than what is usual, of times only those that do.

    ``conf/`` writes rules of all groups that say what is usual: they are no news.
    """
    from strategies.registry import USUAL

    usual = GroupRules(strategy=USUAL)
    for row in rule_rows(found, topic):
        value, name = row["value"], row["rule"]
        if row["from"] == "built in":
            continue
        if name in _NOT_BUILT_IN or name not in _ORDER:
            yield row
            continue
        built_in = _built_in(usual, name).value
        if isinstance(value, dict) and isinstance(built_in, dict):
            value = {each: said for each, said in value.items() if said != built_in.get(each)}
            value = row["value"] if name == "strategy" and value else value
        if value not in ({}, built_in):
            yield {**row, "value": value, "says": value_words(RuleSet("", name, (), value))}


def _not_hidden(of_all: RuleSet, own: RuleSet | None) -> RuleSet | None:
    """Return what of a rule of all groups is left by a group's own; None: nothing."""
    if own is None:
        return of_all
    if of_all.rule != "timing" or of_all.value is None or own.value is None:
        return None
    left = {name: number for name, number in of_all.value.items() if name not in own.value}
    return RuleSet(of_all.group, of_all.rule, (), left) if left else None


def _time(milliseconds: int | None) -> int | str:
    return NEVER if milliseconds is None else milliseconds


def _built_in(rules: GroupRules, name: str) -> RuleSet:
    """Return what the engine does where no rule says otherwise."""
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


def time_words(written_ms: int) -> str:
    """Return a time to read: UTC, to the second."""
    return datetime.fromtimestamp(written_ms / 1_000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


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
