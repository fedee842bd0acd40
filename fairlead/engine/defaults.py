"""The rules that control records set for all groups, kept once for the whole shard."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fairlead.core.outputs import Rejection
from fairlead.core.records import RuleSet
from fairlead.core.rules.group_rules import (
    DefaultsChange,
    EngineRules,
    rules_of,
    with_rule,
)
from fairlead.core.rules.rule_cause import cause_of_rule
from fairlead.core.rules.rule_error import RuleError
from fairlead.engine.parsed_row import ParsedRow, source_of

__all__ = ["defaults_change", "rules_for_all", "set_defaults"]


def rules_for_all(defaults: Mapping[str, Any], engine: EngineRules) -> EngineRules:
    """Return the driver's rules, with those of all groups over its defaults."""
    return replace(engine, defaults=rules_of(defaults, engine))


def defaults_change(before: EngineRules, lines: Sequence[ParsedRow]) -> DefaultsChange:
    """Return these accepted rules as possible causes of a group's decision."""
    causes = [
        cause_of_rule(line.record, source_of(line.row))
        for line in lines
        if isinstance(line.record, RuleSet)
    ]
    return DefaultsChange(before.defaults, tuple(causes))


def set_defaults(
    defaults: Mapping[str, Any], lines: Sequence[ParsedRow], engine: EngineRules
) -> tuple[dict[str, Any], list[tuple[ParsedRow, Rejection | None]]]:
    """Return the rules of all groups after these records, and each record's refusal, if any."""
    rules = dict(defaults)
    verdicts: list[tuple[ParsedRow, Rejection | None]] = []
    for line in lines:
        record = line.record
        assert isinstance(record, RuleSet)
        if record.value is None:
            rules.pop(record.rule, None)
            verdicts.append((line, None))
            continue
        try:
            with_rule(engine.defaults, record.rule, record.value, engine.strategies)
        except RuleError as error:
            refusal = Rejection(
                source_of(line.row), error.reason, error.field_path, error.detail, error.remedy
            )
            verdicts.append((line, refusal))
            continue
        rules[record.rule] = record.value
        verdicts.append((line, None))
    return rules, verdicts
