"""Rules in force in JSON, each with where it comes from and who set it."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any, Final

from fairlead.control.rule_values import subject_words, value_words
from fairlead.control.rules_in_force import RulesInForce, WrittenRule
from fairlead.core.records import ALL_GROUPS, CONF_AUTHOR, RuleSet
from fairlead.core.rules.group_rules import NEVER, TIMES, GroupRules
from strategies.registry import USUAL

__all__ = ["rule_head", "rules_json", "unusual_rules_json"]

_ORDER: Final = (
    *("pause", "strategy", "slots", "mode", "on_mute", "react", "start_policy", "retry_topics"),
    *("take_over", "timing", "weighing", "quota", "designated"),
)
_NOT_BUILT_IN: Final = ("pause", "designated")
_OF_VALUES: Final = ("timing", "weighing", "quota")
"""Rules of several values: a record may leave some out."""
_EACH_BY_ITSELF: Final = ("timing", "quota")
"""Of them, those whose left-out values stay as for all groups; of others they are built in."""


def rules_json(found: RulesInForce) -> Iterator[dict[str, Any]]:
    """Yield each rule in force with where it comes from, rules of the whole group first.

    A rule of several values may come from several places: each has a row with the values that are
    in force from there.
    """
    for name in _ORDER:
        yield from _of_whole(found, name)
    for place in sorted(found.own.keys() - {(name, ()) for name in _ORDER}):
        yield _written(found.own[place], found.own[place].rule)


def _of_whole(found: RulesInForce, name: str) -> Iterator[dict[str, Any]]:
    """Yield a rule of the whole group: its own, of all groups, built in, the first that says it."""
    said: frozenset[str] = frozenset()
    for written in (found.own.get((name, ())), found.of_all.get((name, ()))):
        if written is None:
            continue
        left = _left(written.rule, said)
        if left is not None:
            yield _written(written, left)
        if name not in _OF_VALUES:
            return
        said |= written.rule.value.keys() if isinstance(written.rule.value, dict) else frozenset()
        if name not in _EACH_BY_ITSELF:
            break
    left = None if name in _NOT_BUILT_IN else _left(_built_in(found.rules, name), said)
    if left is not None:
        yield _unwritten(left)


def _left(rule: RuleSet, said: frozenset[str]) -> RuleSet | None:
    """Return what a rule says beside the values that stronger ones say; None: nothing."""
    if not said or rule.value is None:
        return rule
    left = {name: each for name, each in rule.value.items() if name not in said}
    return replace(rule, value=left) if left else None


def unusual_rules_json(found: RulesInForce) -> Iterator[dict[str, Any]]:
    """Yield the rules that say something else than what is usual, of times only those that do.

    ``conf/`` writes rules of all groups that say what is usual: they are no news.
    """
    usual = GroupRules(strategy=USUAL)
    for row in rules_json(found):
        value, name = row["value"], row["rule"]
        if row["origin"] == "default":
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
        "group": rule.group,
        "rule": rule.rule,
        "for": subject_words(rule),
        "says": value_words(rule),
        "value": rule.value,
    }


def _written(written: WrittenRule, rule: RuleSet) -> dict[str, Any]:
    """Return a record of a rule; ``rule``: what of it is in force."""
    return {
        **rule_head(rule),
        "origin": "setting" if rule.by == CONF_AUTHOR else "rule",
        "by": rule.by,
        "because": rule.because,
        "append_ms": written.written_ms,
        "at": [written.topic, written.partition, written.offset],
    }


def _unwritten(rule: RuleSet) -> dict[str, Any]:
    nobody = dict.fromkeys(("by", "because", "append_ms", "at"))
    return {**rule_head(rule), "origin": "default", **nobody}


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
        "take_over": rules.take_over,
        "timing": {each: _time(getattr(rules, each)) for each in TIMES},
        "weighing": {
            "by": weighing.by,
            "over_ms": weighing.over_ms,
            "change_percent": weighing.change_percent,
        },
        "quota": asdict(rules.quota),
    }
    return RuleSet(ALL_GROUPS, name, (), values[name])
