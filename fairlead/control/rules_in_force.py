"""The rules of a group, as the control topic tells them: each with who set it, when and why.

The engine's own functions decide: a rule that the engine rejects is not in force, and the rule
before it stays as long as the log has it. If you doubt the engine, look at its decisions.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from fairlead.core.allocation import Strategy
from fairlead.core.records import ALL_GROUPS, RuleSet
from fairlead.core.rules.group_rules import (
    EngineRules,
    GroupRules,
    put_rule,
    rules_of,
    without_effect,
)
from fairlead.core.rules.rule_error import RuleError
from fairlead.kafka.partition_reading import read_to_end
from fairlead.settings import KafkaSettings
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import RawRecord, raw_record
from fairlead.wire.topics import TopicNames

__all__ = [
    "RefusedRule",
    "RulesInForce",
    "WrittenRule",
    "read_rules_in_force",
    "rules_in_force",
    "shard_of_rules",
    "written_rule",
]

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class WrittenRule:
    """A rule and its place in the control topic; ``written_ms``: when the broker appended it."""

    rule: RuleSet
    topic: str
    partition: int
    offset: int
    written_ms: int


@dataclass(frozen=True, slots=True)
class RefusedRule:
    """The newest record of a rule, which the engine rejects: the one before it stays."""

    written: WrittenRule
    error: RuleError


@dataclass(slots=True)
class RulesInForce:
    """The rules of one group, its own and those of all groups.

    Attributes:
        strategies: the engine's strategies, by name.
        own: rule and subject -> the record that set it.
        of_all: the same for the rules of all groups.
        own_values: the group's rules as its state keeps them.
        values_of_all: those of all groups, likewise.
        refused: group (or ``*``), rule and subject -> the newest record, if the engine rejects it.
    """

    strategies: Mapping[str, Strategy]
    own: dict[tuple[str, tuple[str, ...]], WrittenRule] = field(default_factory=dict)
    of_all: dict[tuple[str, tuple[str, ...]], WrittenRule] = field(default_factory=dict)
    own_values: dict[str, Any] = field(default_factory=dict)
    values_of_all: dict[str, Any] = field(default_factory=dict)
    refused: dict[tuple[str, str, tuple[str, ...]], RefusedRule] = field(default_factory=dict)
    _answers: dict[Callable[["RulesInForce"], Any], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def once(self, question: Callable[["RulesInForce"], _Answer]) -> _Answer:
        """Return the answer to a question, which is asked again only after the next record."""
        # Another thread may apply a record meanwhile: what rests on the old one stays with it.
        answers = self._answers
        if question not in answers:
            answers[question] = question(self)
        answer: _Answer = answers[question]
        return answer

    @property
    def rules(self) -> GroupRules:
        """The rules in force: the group's own over those of all groups over the defaults."""
        return self.once(_rules)

    def of(self, group: str) -> Mapping[tuple[str, tuple[str, ...]], WrittenRule]:
        """Return the records of the group itself, or of all groups for ``*``."""
        return self.of_all if group == ALL_GROUPS else self.own

    def values_of(self, group: str) -> Mapping[str, Any]:
        """Return the values of the group's own rules, or of those of all groups for ``*``."""
        return self.values_of_all if group == ALL_GROUPS else self.own_values

    @property
    def idle(self) -> tuple[str, ...]:
        """The names of own rules that the strategy in force does not take."""
        return without_effect(self.own_values, self.strategies.get(self.rules.strategy))

    def apply(self, written: WrittenRule) -> None:
        """Put the next record of the log in force.

        Raises:
            RuleError: the engine rejects it.
        """
        rule = written.rule
        if rule.group == ALL_GROUPS:
            self.values_of_all = put_rule(
                self.values_of_all, rule, EngineRules(0, self.strategies).defaults, self.strategies
            )
        else:
            self.own_values = put_rule(self.own_values, rule, self.rules, self.strategies)
        records = self.of_all if rule.group == ALL_GROUPS else self.own
        records.pop((rule.rule, rule.subject), None)
        if rule.value is not None:
            records[rule.rule, rule.subject] = written
        self._answers = {}

    def apply_or_note(self, written: WrittenRule) -> None:
        """Put the next record in force as the engine does, or note that the engine rejects it.

        It is a rule of the group or of all groups.
        """
        rule = written.rule
        place = (rule.group, rule.rule, rule.subject)
        self.refused.pop(place, None)
        try:
            self.apply(written)
        except RuleError as error:
            self.refused[place] = RefusedRule(written, error)
        self._answers = {}

    def copy(self) -> "RulesInForce":
        """Return a copy that may change without changing this."""
        return replace(
            self, own=dict(self.own), of_all=dict(self.of_all), refused=dict(self.refused)
        )


def _rules(found: RulesInForce) -> GroupRules:
    return rules_of(found.own_values, _engine(found))


def _engine(found: RulesInForce) -> EngineRules:
    engine = EngineRules(0, found.strategies)
    return replace(engine, defaults=rules_of(found.values_of_all, engine))


def read_rules_in_force(
    kafka: KafkaSettings, group: str, shards: int, strategies: Mapping[str, Strategy]
) -> RulesInForce:
    """Return the rules of a group as the control topic has them now.

    Args:
        kafka: the cluster.
        group: its name; ``*``: only the rules of all groups.
        shards: partitions of the control topic.
        strategies: the engine's strategies.

    Raises:
        EnvironmentMissingError: the control topic cannot be read.
    """
    partition = shard_of_rules(group, shards)
    topic = TopicNames(kafka.topic_prefix).name("control")
    rows = map(raw_record, read_to_end(kafka, topic, [partition]))
    return rules_in_force(rows, group, shards, strategies)


def shard_of_rules(group: str, shards: int) -> int:
    """Return the partition with the rules of a group; each partition has those of all groups."""
    return 0 if group == ALL_GROUPS else partition_of_group(group, shards)


def rules_in_force(
    rows: Iterable[RawRecord], group: str, shards: int, strategies: Mapping[str, Strategy]
) -> RulesInForce:
    """Return the rules of a group from the records of its partition, in their order."""
    rules = RulesInForce(strategies)
    for row in rows:
        written = written_rule(row, shards)
        if written is not None and written.rule.group in (group, ALL_GROUPS):
            rules.apply_or_note(written)
    return rules


def written_rule(row: RawRecord, shards: int) -> WrittenRule | None:
    """Return the rule of a record; None: the engine rejects its form, or it is a reset."""
    try:
        read = decode("control", row, WireLimits(shards))
    except WireError:
        return None
    if not isinstance(read, RuleSet):
        return None
    return WrittenRule(read, row.topic, row.partition, row.offset, row.append_ms)
