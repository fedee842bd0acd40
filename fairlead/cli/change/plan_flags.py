"""The flags of `fairlead plan` as changes."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fairlead.cli.change.given_rules import GivenRules, gone_rules, wanted_rules
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
    from fairlead.planning.changes import Join, bad_join

    client_id, *details = _DETAIL.split(text)
    given: dict[str, str] = {}
    for detail in details:
        name, _, value = detail.partition("=")
        if name in given:
            raise _no_join(text, f"{name} is there twice")
        given[name] = value
    capacity = given.get("capacity", "1")
    if not capacity.isdecimal():
        raise _no_join(text, f"{capacity!r} is no capacity: it is a whole number")
    topics = tuple(dict.fromkeys(given["topics"].split("+"))) if "topics" in given else None
    join = Join(client_id, topics, given.get("zone"), int(capacity))
    wrong = bad_join(join)
    if wrong is not None:
        raise _no_join(text, wrong[1])
    return join


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
    from fairlead.operating.plans import planned_rules

    group = planned.state.group
    return planned_rules(planned, wanted_rules(group, given), _gone(group, unset))


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
