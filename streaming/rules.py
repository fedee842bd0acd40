"""Publishes the rules of conf/ to the control topic.

A start writes only the differences, as control records by ``conf``. So the log alone explains every
decision, and a start that changes nothing writes nothing. conf/ wins: a start overwrites what an
operator has set through the log for a rule that conf/ has as well. A rule that the engine would
reject refuses the start; in the log it would end among the rejects, and nobody would notice.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import orjson
import structlog
from kafka.consumer.fetcher import ConsumerRecord

from fairlead.core.allocation import Strategy
from fairlead.core.records import ALL_GROUPS, CONF_AUTHOR, RuleSet
from fairlead.core.rules.designation import IF_NOBODY
from fairlead.core.rules.group_rules import TIMES, WORDS, GroupRules, with_rule
from fairlead.core.rules.rule_error import RuleError
from fairlead.errors import UsageError
from fairlead.kafka.partition_reading import read_to_end
from fairlead.kafka.rule_writer import as_read, partitions_of_rule, write_rules
from fairlead.settings import Settings
from fairlead.wire.encode import OversizeError
from fairlead.wire.errors import WireError
from fairlead.wire.topics import TopicNames
from strategies.registry import STRATEGIES

log = structlog.get_logger()

RuleName = tuple[str, str]
"""The group (or ``*``) and the rule."""


@dataclass(frozen=True, slots=True)
class RuleInForce:
    """The newest record of one rule in one partition of the control topic."""

    value: Any
    author: str


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule to be written to one partition; ``value`` None removes it."""

    partition: int
    group: str
    rule: str
    value: Any


def publish_rules(settings: Settings, shards: int, wanted: Mapping[RuleName, Any]) -> int:
    """Write the difference between conf/ and the control topic; return the number of records.

    Args:
        settings: name the cluster.
        shards: partitions of the control topic.
        wanted: the rules of conf/; see `wanted_rules`.

    Raises:
        EnvironmentMissingError: the control topic cannot be read or written.
    """
    topic = TopicNames(settings.kafka.topic_prefix).name("control")
    in_force = rules_in_force(read_to_end(settings.kafka, topic, range(shards)))
    changes = list(rule_changes(wanted, in_force, shards))
    rules = [
        (change.partition, RuleSet(change.group, change.rule, (), change.value, CONF_AUTHOR))
        for change in changes
    ]
    if write_rules(settings.kafka, rules):
        log.info("rules published", rules=sorted({f"{c.group}/{c.rule}" for c in changes}))
    return len(changes)


def wanted_rules(
    settings: Settings, strategies: Mapping[str, Strategy] = STRATEGIES
) -> dict[RuleName, Any]:
    """Return the rules of conf/: those of all groups, and those of single groups that differ.

    Each has passed the checks with which the engine reads a rule and puts it in force.

    Args:
        settings: the settings of conf/.
        strategies: the engine's strategies.

    Raises:
        UsageError: the engine would reject a value; the message names its key and what is allowed.
    """
    defaults = settings.group_defaults.model_dump()
    wanted = _accepted("group_defaults", _rules_of(ALL_GROUPS, defaults), strategies)
    for group, overrides in settings.group.items():
        own = overrides.model_dump(exclude_none=True)
        # Two halves of one rule: options without a strategy belong to the strategy in force.
        if "strategy_options" in own:
            own.setdefault("strategy", settings.group_defaults.strategy)
        wanted |= _accepted(f"group.{group}", _rules_of(group, own), strategies)
    return wanted


def rules_in_force(
    records: Iterable[ConsumerRecord],
) -> dict[tuple[int, RuleName], RuleInForce]:
    """Return the newest record of each rule, by partition and name, without removed rules.

    Unreadable records are no rules: the engine rejects them with a reason.
    """
    found: dict[tuple[int, RuleName], RuleInForce] = {}
    for record in records:
        name = _name(record.key)
        if name is None:
            continue
        at = (record.partition, name)
        body = _body(record.value)
        if body.get("value") is None:
            found.pop(at, None)
        else:
            found[at] = RuleInForce(body["value"], str(body.get("by", "")))
    return found


def rule_changes(
    wanted: Mapping[RuleName, Any],
    in_force: Mapping[tuple[int, RuleName], RuleInForce],
    shards: int,
) -> Iterator[RuleChange]:
    """Yield the records that bring the control topic in line with conf/."""
    built_in = _rules_of(ALL_GROUPS, _engine_defaults())
    for (group, rule), value in wanted.items():
        for partition in partitions_of_rule(RuleSet(group, rule, (), value), shards):
            at = (partition, (group, rule))
            present = in_force[at].value if at in in_force else built_in.get((group, rule))
            if present != value:
                yield RuleChange(partition, group, rule, value)
    for (partition, name), rule_in_force in in_force.items():
        if name not in wanted and rule_in_force.author == CONF_AUTHOR:
            yield RuleChange(partition, *name, value=None)


def _accepted(
    table: str, rules: Mapping[RuleName, Any], strategies: Mapping[str, Strategy]
) -> dict[RuleName, Any]:
    """Return rules as the engine reads them, or raise as `wanted_rules` says."""
    accepted: dict[RuleName, Any] = {}
    for (group, rule), value in rules.items():
        try:
            read = as_read(RuleSet(group, rule, (), value, CONF_AUTHOR))
            with_rule(GroupRules(), rule, read.value, strategies)
        except (WireError, RuleError) as error:
            raise _refused(table, rule, error) from error
        except (TypeError, OversizeError) as error:
            # The encoder's error. Only these two rules have values of any shape and size.
            key = "designated" if rule == "designated" else "strategy_options"
            raise UsageError(
                f"{table}.{key}: a record cannot hold the value ({error}).",
                remedy="Use texts, 64-bit integers, true, false, lists and tables.",
            ) from error
        accepted[group, rule] = read.value
    return accepted


def _refused(table: str, rule: str, error: WireError | RuleError) -> UsageError:
    """Return an error of the engine as an error about the key of conf/ that holds the value."""
    place = error.field if isinstance(error, WireError) else error.field_path
    path = (place or "").removeprefix("value").removeprefix(".")
    name = path.partition(".")[0]
    if rule == "strategy":
        key = "strategy" if name == "name" else "strategy_options"
    elif rule == "designated":
        key = f"designated.{path}" if path else "designated"
    else:
        key = name or rule
    return UsageError(
        f"{table}.{key}: {error.detail}.", remedy=f"Change {table}.{key}: {error.remedy}."
    )


def _rules_of(group: str, fields: Mapping[str, Any]) -> dict[RuleName, Any]:
    """Turn the fields of a table of conf/ into rules; missing fields give no rule."""
    rules: dict[RuleName, Any] = {}
    if "strategy" in fields:
        options = fields.get("strategy_options", {})
        rules[group, "strategy"] = {"name": fields["strategy"], "options": options}
    timing = {name: fields[name] for name in TIMES if name in fields}
    if timing:
        rules[group, "timing"] = timing
    rules |= {(group, name): fields[name] for name in WORDS if name in fields}
    if fields.get("pause"):
        rules[group, "pause"] = True
    if "designated" in fields:
        # Fill in what TOML cannot express (null) and what was left out, as the rule shows it.
        rules[group, "designated"] = {"topics": None, "if_nobody": IF_NOBODY[0]} | fields[
            "designated"
        ]
    if "weighing" in fields:
        rules[group, "weighing"] = fields["weighing"]
    if "quota" in fields:
        rules[group, "quota"] = fields["quota"]
    return rules


def _engine_defaults() -> dict[str, Any]:
    """Return the engine's behaviour without any rule, as fields of conf/."""
    rules = GroupRules()
    return {
        "strategy": rules.strategy,
        "strategy_options": dict(rules.strategy_options),
        **{name: getattr(rules, name) for name in TIMES},
        **{name: getattr(rules, name) for name in WORDS},
        "weighing": asdict(rules.weighing),
        "quota": asdict(rules.quota),
    }


def _name(key: bytes | None) -> RuleName | None:
    """Read a control key; None if it is not the key of a rule, or has a subject."""
    try:
        match orjson.loads(key or b""):
            case [str(group), str(rule)]:
                return group, rule
    except orjson.JSONDecodeError:
        pass
    return None


def _body(value: bytes | None) -> dict[str, Any]:
    """Read a control record; return an empty body if it cannot be read."""
    try:
        body = orjson.loads(value or b"{}")
    except orjson.JSONDecodeError:
        return {}
    return body if isinstance(body, dict) else {}
