"""The rules of a group as values.

Decides which value of a rule is in force (group over all groups over default), and which rule
records the engine accepts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from fairlead.core.allocation import AllocationError, Strategy, described
from fairlead.core.outputs import Cause
from fairlead.core.records import RuleSet
from fairlead.core.rules.designation import Designation, read_designation
from fairlead.core.rules.queue_weights import BY_COUNT, Weighing, read_weighing
from fairlead.core.rules.quota import BUILT_IN, Quota, read_quota
from fairlead.core.rules.rule_error import RuleError
from fairlead.core.rules.single_rules import (
    OF_STRATEGIES,
    SINGLE_RULES,
    check_single_rules,
    read_single_rule,
    subject_text,
)

__all__ = [
    "CHAIN_CAP",
    "TIMES",
    "DefaultsChange",
    "EngineRules",
    "GroupRules",
    "changed_rules",
    "put_rule",
    "rules_of",
    "with_rule",
    "without_effect",
]

TURN_MS = 4
"""After so long the next member stops; 2 and 3 were tried too (ADR 0081)."""

CHAIN_CAP = 2
"""How many unresolved grants a queue may have (rule H6).

2 = the holder and one successor, which is granted with the drop and waits for the release itself;
1 = a successor is granted only after the release.
"""


@dataclass(frozen=True, slots=True)
class GroupRules:
    """The rules of one group. Times in milliseconds of the shard's clock."""

    strategy: str = "AVG"
    """Counts without any rule; conf/ names another one, which the engine writes to the log."""
    strategy_options: Mapping[str, Any] = field(default_factory=dict)
    lease_ms: int = 10_000
    margin_ms: int = 3_000
    trigger_ms: int = 20_000
    drain_deadline_ms: int | None = 30_000
    """A member that has not answered a drop for so long is mute; None: never."""
    pull_max_idle_ms: int | None = 120_000
    """A queue that a push member has not pulled for longer is dropped and added; None: never."""
    restart_grace_ms: int = 0
    """The queues of a client that is gone wait so long for its return; 0: not at all."""
    settle_ms: int = 0
    """The group gathers changes so long into one decision; 0: each counts at once."""
    slots: str = "subscribers"
    mode: str = "cooperative"
    """``eager``: the group grants queues without waiting for their holders."""
    on_mute: str = "wait"
    """``force``: the group takes queues from mute members."""
    react: str = "on_change"
    """``on_tick``: a change of members or subscriptions waits for the next trigger."""
    start_policy: str = "fairlead"
    """``rocketmq``: a queue starts where RocketMQ's computePullFromWhere says."""
    retry_topics: str = "on_failure"
    """``on_subscription``: bridges create it for a subscription, not for the first message."""
    take_over: str = "all_attached"
    """``never``: a group whose members stand by stays shared out by the data plane."""
    pause: bool = False
    """No queue moves."""
    designated: Designation | None = None
    """The members that alone consume; None: every member does."""
    weighing: Weighing = BY_COUNT
    """How queues are weighed, for a strategy that balances by weight."""
    quota: Quota = BUILT_IN
    """How many members, topics, queues, records and bytes the group may have."""
    single: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Rules of single queues and clients, as :mod:`fairlead.core.rules.single_rules` keeps them."""


@dataclass(frozen=True, slots=True)
class DefaultsChange:
    """The rules of all groups changed in this batch: what they were, and what changed them."""

    before: GroupRules
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True)
class EngineRules:
    """What the driver gives to every step: its generation, the strategies it knows, and limits.

    ``defaults`` are the rules of a group without own ones: those of all groups over the built-in
    ones; ``defaults_change`` says what changed them in this batch. ``auto_create``: a heartbeat may
    create its group. ``evict_after_ms``: so long the engine remembers a group without members.
    ``turn_ms``: the time between the stops of two members that hand queues over. ``switch_ms``: so
    long a group waits for the bounds of new queues; 0: not at all.

    Limits of all shards together; each shard has its share, and 0 is no limit. ``groups_max``: the
    groups that heartbeats create; ``new_groups_per_second``: those in a second;
    ``heartbeat_bytes_per_second``: the bytes of large heartbeats; ``state_bytes``: the state of all
    groups. ``group_bytes``: no group may grow beyond this, since its shard has reached its share of
    state; 0: it has not.
    """

    generation: int
    strategies: Mapping[str, Strategy]
    defaults: GroupRules = field(default_factory=GroupRules)
    auto_create: bool = True
    evict_after_ms: int = 600_000
    chain_cap: int = CHAIN_CAP
    turn_ms: int = TURN_MS
    switch_ms: int = 0
    groups_max: int = 0
    new_groups_per_second: int = 0
    heartbeat_bytes_per_second: int = 0
    state_bytes: int = 0
    group_bytes: int = 0
    defaults_change: DefaultsChange | None = None


def rules_of(own: Mapping[str, Any], engine: EngineRules) -> GroupRules:
    """Return the rules in force for a group: its own over those of all groups.

    A rule that no longer makes sense (its strategy is gone) is out of force. Every step calls this;
    options were checked when their rule came.
    """
    single = {name: own[name] for name in SINGLE_RULES if name in own}
    rules = replace(engine.defaults, single=single) if single else engine.defaults
    for name in sorted(own.keys() - single.keys()):
        try:
            rules = _in_force(rules, name, own[name], engine.strategies)
        except RuleError:
            continue
    return rules


def without_effect(own: Mapping[str, Any], strategy: Strategy | None) -> tuple[str, ...]:
    """Return the names of a group's own rules that its strategy ignores, in their order."""
    taken = {*getattr(strategy, "takes_rules", ())}
    if getattr(strategy, "takes_weights", False):
        taken.add("weighing")
    return tuple(name for name in sorted({*OF_STRATEGIES, "weighing"} - taken) if name in own)


def changed_rules(before: GroupRules, after: GroupRules) -> frozenset[str]:
    """Return the names of the rules of a whole group whose values differ."""
    changed = [
        each.name
        for each in fields(GroupRules)
        if getattr(before, each.name) != getattr(after, each.name)
    ]
    return frozenset(
        "timing" if name.endswith("_ms") else name.removesuffix("_options") for name in changed
    )


def put_rule(
    own: Mapping[str, Any], rule: RuleSet, rules: GroupRules, strategies: Mapping[str, Strategy]
) -> dict[str, Any]:
    """Return a group's own rules after a new rule record; they may be as before.

    Args:
        own: rule -> value, or rule -> subject -> value for rules of single queues and clients.
        rule: the record.
        rules: those in force for the group.
        strategies: those of the engine.

    Raises:
        RuleError: the rule is unknown or unsupported, its value is bad, or it is one too many.
    """
    value = rule.value
    if rule.rule in SINGLE_RULES:
        value = _single(own.get(rule.rule, {}), rule) or None
    elif value is not None:
        with_rule(rules, rule.rule, value, strategies)
    after = dict(own)
    after.pop(rule.rule, None)
    return after if value is None else {**after, rule.rule: value}


def _single(held: Mapping[str, Any], rule: RuleSet) -> dict[str, Any]:
    after = dict(held)
    if rule.value is None:
        after.pop(subject_text(rule.subject), None)
        return after
    after[subject_text(rule.subject)] = rule.value
    read_single_rule(rule.rule, rule.value)
    check_single_rules(rule.rule, after)
    return after


TIMES = tuple(each.name for each in fields(GroupRules) if each.name.endswith("_ms"))
"""The names of the times of the rule ``timing``."""
WORDS = {
    "slots": ("subscribers", "group"),
    "mode": ("cooperative", "eager"),
    "on_mute": ("wait", "force"),
    "react": ("on_change", "on_tick"),
    "start_policy": ("fairlead", "rocketmq"),
    "retry_topics": ("on_failure", "on_subscription"),
    "take_over": ("all_attached", "never"),
}
"""The rules that are one word -> the words; the first one is built in."""

NEVER = "never"
"""The word that stands for no limit in a time of `MAY_BE_NEVER`."""

MAY_BE_NEVER = frozenset(("drain_deadline_ms", "pull_max_idle_ms"))
"""Times that may have no limit."""

TIMING_MAX_MS = 3_600_000
"""No time of a rule may be longer than an hour."""

_MAY_BE_ZERO = frozenset(("restart_grace_ms", "settle_ms"))
"""Times whose 0 means: not at all."""


def with_rule(
    rules: GroupRules, rule: str, value: object, strategies: Mapping[str, Strategy]
) -> GroupRules:
    """Return the rules with a new value of one rule in force.

    Raises:
        RuleError: the rule is unknown or unsupported, or its value is bad.
    """
    changed = _in_force(rules, rule, value, strategies)
    if rule == "strategy":
        _check_options(strategies[changed.strategy], changed.strategy_options)
    return changed


def _in_force(
    rules: GroupRules, rule: str, value: object, strategies: Mapping[str, Strategy]
) -> GroupRules:
    if rule == "strategy":
        return _with_strategy(rules, value, strategies)
    if rule == "timing":
        return _with_timing(rules, value)
    if rule in WORDS:
        if value not in WORDS[rule]:
            detail, remedy = f"{rule} cannot be {value!r}", f"say {' or '.join(WORDS[rule])}"
            raise RuleError("", detail, remedy)
        return replace(rules, **{rule: str(value)})  # type: ignore[arg-type]  # those are texts
    if rule == "pause":
        if value is not True:
            raise RuleError("", f"pause cannot be {value!r}", "say true, or remove the rule")
        return replace(rules, pause=True)
    if rule == "designated":
        return replace(rules, designated=read_designation(value))
    if rule == "weighing":
        return replace(rules, weighing=read_weighing(value))
    if rule == "quota":
        # A field that the group's rule leaves out is as for all groups.
        return replace(rules, quota=read_quota(value, rules.quota))
    words = (
        "strategy",
        "timing",
        *WORDS,
        "pause",
        "designated",
        "weighing",
        "quota",
        *SINGLE_RULES,
    )
    known = ", ".join(words)
    detail = f"this engine has no rule {rule!r}"
    remedy = f"use one of {known}"
    raise RuleError("", detail, remedy, reason="unsupported_rule", field="rule")


def _with_strategy(
    rules: GroupRules, value: object, strategies: Mapping[str, Strategy]
) -> GroupRules:
    remedy = f"name one of {', '.join(sorted(strategies))}"
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise RuleError("name", "a strategy is chosen by its name", remedy)
    if value["name"] not in strategies:
        detail = f"there is no strategy {value['name']!r}"
        raise RuleError("name", detail, remedy, reason="unknown_strategy")
    options = value.get("options", {})
    if not isinstance(options, dict):
        detail = "options must be an object"
        raise RuleError("options", detail, "send {} for none")
    return replace(rules, strategy=value["name"], strategy_options=options)


_SEE_OPTIONS = "see the strategy's options"


def _check_options(strategy: Strategy, options: Mapping[str, Any]) -> None:
    check_options = getattr(strategy, "check_options", None)
    if check_options is None:
        return
    try:
        check_options(options)
    except AllocationError as error:
        raise RuleError("options", error.message, _SEE_OPTIONS) from error
    except Exception as error:  # a user's strategy may raise anything: the rule in force stays
        raise RuleError("options", described(error), _SEE_OPTIONS) from error


def _with_timing(rules: GroupRules, value: object) -> GroupRules:
    if not isinstance(value, dict):
        raise RuleError("", "timing must be an object", "send {} for the defaults")
    read: dict[str, int | None] = {}
    for name, number in value.items():
        if name not in TIMES:
            remedy = f"use one of {', '.join(sorted(TIMES))}"
            raise RuleError(name, f"timing has no {name!r}", remedy)
        if name in MAY_BE_NEVER and number == NEVER:
            read[name] = None
            continue
        if isinstance(number, bool) or not isinstance(number, int):
            remedy = "send whole milliseconds"
            raise RuleError(name, f"{number!r} is no time", remedy)
        least = 0 if name in _MAY_BE_ZERO else 1
        if not least <= number <= TIMING_MAX_MS:
            remedy = f"send {least} to {TIMING_MAX_MS}"
            raise RuleError(name, f"{number} ms is out of bounds", remedy)
        read[name] = number
    return replace(rules, **read)  # type: ignore[arg-type]  # only those may be None
