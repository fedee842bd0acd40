"""Rules in force in JSON, each with where it comes from and who set it."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from fairlead.control.rule_values import subject_words, value_words
from fairlead.control.rules_in_force import RulesInForce, WrittenRule
from fairlead.core.records import RuleSet
from fairlead.core.rules.group_rules import NEVER, TIMES, GroupRules
from strategies.registry import USUAL

__all__ = ["rule_head", "rules_json", "unusual_rules_json"]

_ORDER: Final = (
    *("pause", "strategy", "slots", "mode", "on_mute", "react", "start_policy", "retry_topics"),
    *("timing", "weighing", "quota", "designated"),
)
_NOT_BUILT_IN: Final = ("pause", "designated")


def rules_json(found: RulesInForce) -> Iterator[dict[str, Any]]:
    """Yield each rule in force with where it comes from, rules of the whole group first."""
    for name in _ORDER:
        own, of_all = found.own.get((name, ())), found.of_all.get((name, ()))
        if own is not None:
            yield _written(own, "own")
        if of_all is not None:
            shown = _not_hidden(of_all.rule, None if own is None else own.rule)
            if shown is not None:
                yield {**_written(of_all, "all groups"), **rule_head(shown)}
        if own is None and of_all is None and name not in _NOT_BUILT_IN:
            yield _unwritten(_built_in(found.rules, name))
    for place in sorted(found.own.keys() - {(name, ()) for name in _ORDER}):
        yield _written(found.own[place], "own")


def unusual_rules_json(found: RulesInForce) -> Iterator[dict[str, Any]]:
    """Yield the rules that say something else than what is usual, of times only those that do.

    ``conf/`` writes rules of all groups that say what is usual: they are no news.
    """
    usual = GroupRules(strategy=USUAL)
    for row in rules_json(found):
        value, name = row["value"], row["rule"]
        if row["origin"] == "built in":
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


def rule_head(rule: RuleSet) -> dict[str, Any]:
    """Return what a rule says, as JSON values."""
    return {
        "rule": rule.rule,
        "for": subject_words(rule),
        "says": value_words(rule),
        "value": rule.value,
    }


def _written(written: WrittenRule, origin: str) -> dict[str, Any]:
    return {
        **rule_head(written.rule),
        "origin": origin,
        "by": written.rule.by,
        "because": written.rule.because,
        "append_ms": written.written_ms,
        "at": [written.topic, written.partition, written.offset],
    }


def _unwritten(rule: RuleSet) -> dict[str, Any]:
    nobody = dict.fromkeys(("by", "because", "append_ms", "at"))
    return {**rule_head(rule), "origin": "built in", **nobody}


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
