"""The flags of `fairlead plan` as changes."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fairlead.cli.change.given_rules import (
    GivenRules,
    completed,
    gone_rules,
    refusal_of,
    wanted_rules,
)
from fairlead.cli.names import require_topics
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead.core.records import RuleSet
    from fairlead.observed.planned_group import PlannedGroup
    from fairlead.planning.changes import Join, RouteSize

__all__ = ["joins_of", "routes_of", "rules_of", "topics_of"]

_ROUTE: Final = re.compile(r"([^/=]+)(?:/([^=]+))?=(\d{1,9})")
_DETAIL: Final = re.compile(r",(?=(?:zone|capacity|topics)=)")
_WHOLE: Final = ("strategy", "slots", "weighing", "designated")
_AUTHOR: Final = "plan"
_JOIN_REMEDY: Final = "c9, or c9,zone=east,capacity=2,topics=orders+payments"


def joins_of(texts: Iterable[str], topics: tuple[str, ...] = ()) -> "tuple[Join, ...]":
    """Read ``--join``: a client id, and its zone, capacity and topics.

    ``topics``: what clients subscribe to by default; empty: what the group subscribes to.

    Raises:
        UsageError: a text is no client, or no heartbeat could say it.
    """
    joins = map(_join, texts)
    return tuple(
        replace(join, topics=topics) if topics and join.topics is None else join for join in joins
    )


def topics_of(texts: Iterable[str] | None, joins: Iterable[str] | None) -> tuple[str, ...]:
    """Read ``--topic``: what joining clients subscribe to.

    Raises:
        UsageError: a text is no topic name, or nobody joins.
    """
    topics = tuple(dict.fromkeys(texts or ()))
    require_topics(topics)
    if topics and not joins:
        raise UsageError(
            "--topic: it is what joining clients subscribe to, and none joins.",
            remedy="Give --join too, or leave --topic out.",
        )
    return topics


def _join(text: str) -> "Join":
    from fairlead.planning.changes import Join
    from fairlead.wire.member_records import CAPACITY_MAX
    from fairlead.wire.texts import CLIENT_ID, LABEL, TOPIC

    client_id, *details = _DETAIL.split(text)
    if not CLIENT_ID.allows(client_id):
        raise _no_join(text, f"{client_id!r} is no client id: {CLIENT_ID.words}")
    given: dict[str, str] = {}
    for detail in details:
        name, _, value = detail.partition("=")
        if name in given:
            raise _no_join(text, f"{name} is there twice")
        given[name] = value
    zone = given.get("zone")
    if zone is not None and not LABEL.allows(zone):
        raise _no_join(text, f"{zone!r} is no zone: {LABEL.words}")
    capacity = given.get("capacity", "1")
    if not capacity.isdecimal() or not 1 <= int(capacity) <= CAPACITY_MAX:
        raise _no_join(text, f"{capacity!r} is no capacity from 1 to {CAPACITY_MAX}")
    topics = tuple(dict.fromkeys(given["topics"].split("+"))) if "topics" in given else None
    for topic in topics or ():
        if not TOPIC.allows(topic):
            raise _no_join(text, f"{topic!r} is no topic: {TOPIC.words}")
    return Join(client_id, topics, zone, int(capacity))


def _no_join(text: str, detail: str) -> UsageError:
    return UsageError(f"--join {text}: {detail}.", remedy=_JOIN_REMEDY)


def routes_of(texts: Iterable[str]) -> "tuple[RouteSize, ...]":
    """Read ``--route``: topic=N or topic/broker=N.

    Raises:
        UsageError: a text is neither.
    """
    from fairlead.planning.changes import RouteSize

    sizes = []
    for text in texts:
        match = _ROUTE.fullmatch(text)
        if match is None:
            raise UsageError(f"--route: {text!r} is no route.", remedy="topic=16, topic/broker=16")
        topic, broker_name, number = match.groups()
        sizes.append(RouteSize(topic, broker_name, int(number)))
    return tuple(sizes)


def rules_of(
    planned: "PlannedGroup", given: GivenRules, unset: Iterable[str]
) -> "tuple[RuleSet, ...]":
    """Return the rules that flags ask for, as the engine will read them.

    Args:
        planned: the group.
        given: the flags of ``fairlead group set``.
        unset: rules that are removed: a name, or name=subject.

    Raises:
        UsageError: a flag cannot be read, or the engine would refuse the rule.
    """
    from fairlead.control.rule_change import BadRuleError, changes_of
    from fairlead.control.rules_in_force import RulesInForce

    group, own = planned.state.group, planned.state.rules
    wanted = completed(wanted_rules(group, given), own, planned.rules.strategy)
    wanted += _gone(group, unset)
    present = RulesInForce(
        planned.engine.strategies, own_values=dict(own), values_of_all=dict(planned.of_all)
    )
    try:
        changes, _ = changes_of(present, [replace(rule, by=_AUTHOR) for rule in wanted])
    except BadRuleError as error:
        raise refusal_of(error) from error
    return tuple(change.rule for change in changes)


def _gone(group: str, unset: Iterable[str]) -> "list[RuleSet]":
    """Read ``--unset``: a rule of the whole group, or rule=client, rule=topic/broker/3."""
    from fairlead.core.rules.single_rules import SINGLE_RULES

    names: list[str] = []
    singles: dict[str, list[str]] = {}
    for text in unset:
        rule, sign, subject = text.partition("=")
        if rule in SINGLE_RULES and subject:
            singles.setdefault(rule, []).append(subject)
        elif rule in _WHOLE and not sign:
            names.append(rule)
        else:
            known = ", ".join((*_WHOLE, *(f"{each}=…" for each in SINGLE_RULES)))
            raise UsageError(f"--unset: {text!r} is no rule.", remedy=f"Say one of {known}.")
    return gone_rules(group, names, singles)
