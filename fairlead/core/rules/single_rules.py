"""Rules of single queues and clients: pins, bans, weights, capacities, drains.

Decides which of their values make sense, how many of them a group may have, and what they say
together. The strategy decides whether a pin or a weight moves anything; it never sees drained
clients.

A group keeps them as operators set them: rule -> subject -> value. The subject is a client id or
``topic/broker name/queue id`` (a topic has no slash, and what follows the last one is the id).

ADR 0092 gives the reasons.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from fairlead.core.allocation import Placement
from fairlead.core.model import MessageQueue
from fairlead.core.rules.rule_error import RuleError

__all__ = [
    "BANNED_MAX",
    "OF_STRATEGIES",
    "SINGLE_RULES",
    "SINGLE_RULES_MAX",
    "check_single_rules",
    "drained_of",
    "placement_of",
    "read_decimal",
    "read_single_rule",
    "subject_text",
]

SINGLE_RULES_MAX = 1_000
"""A group has at most so many pins, banned clients, weights, capacities and drains, each."""

BANNED_MAX = 100
"""One ban names at most so many clients."""

OF_STRATEGIES = ("pin", "ban", "weight", "capacity")
"""The rules that act only through a strategy that knows them (``Strategy.takes_rules``)."""

_DECIMAL = re.compile(r"(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,6})?")

Rules = Mapping[str, Mapping[str, Any]]
"""Rule -> subject -> value, as set."""


def subject_text(subject: tuple[str, ...]) -> str:
    """Return a client or queue as one text."""
    return "/".join(subject)


def read_decimal(text: object) -> float | None:
    """Read a number of a rule: digits as text, since records hold no fractions; None: it is bad.

    It has at most nine digits before the point and six after it.
    """
    if not isinstance(text, str) or _DECIMAL.fullmatch(text) is None:
        return None
    return float(text)


def read_single_rule(rule: str, value: object) -> Any:
    """Return what a value says: a client id, client ids or a number; None for ``drain``.

    Raises:
        RuleError: the value makes no sense.
    """
    if not isinstance(value, Mapping):
        raise RuleError("", f"a {rule} must be an object", "see section 3.10 of the protocol")
    return _READERS[rule](value)


def check_single_rules(rule: str, held: Mapping[str, Any]) -> None:
    """Refuse more rules of one kind than a group may have; a ban counts for each client it names.

    Raises:
        RuleError: ``too_many_rules``.
    """
    number = len(held)
    if rule == "ban":
        number = sum(len(value["client_ids"]) for value in held.values())
    if number > SINGLE_RULES_MAX:
        detail = f"the group would have {number} of {rule}, at most {SINGLE_RULES_MAX} are kept"
        remedy = "remove some, or use strategy options"
        raise RuleError("", detail, remedy, reason="too_many_rules")


def placement_of(rules: Rules) -> Placement:
    """Return the rules as a strategy gets them, in a fixed order."""
    return Placement(
        pins=dict(_of_queues(rules, "pin")),
        bans=dict(_of_queues(rules, "ban")),
        weights=dict(_of_queues(rules, "weight")),
        capacities={
            client_id: read_single_rule("capacity", value)
            for client_id, value in sorted(rules.get("capacity", {}).items())
        },
    )


def drained_of(rules: Rules) -> frozenset[str]:
    """Return the client ids of the drained clients."""
    return frozenset(rules.get("drain", ()))


def _of_queues(rules: Rules, rule: str) -> list[tuple[MessageQueue, Any]]:
    return [
        (_queue(subject), read_single_rule(rule, value))
        for subject, value in sorted(rules.get(rule, {}).items())
    ]


def _queue(subject: str) -> MessageQueue:
    topic, _, rest = subject.partition("/")
    broker_name, _, queue_id = rest.rpartition("/")
    return MessageQueue(topic, broker_name, int(queue_id))


def _client_id(value: Mapping[str, Any]) -> str:
    client_id = value.get("client_id")
    if not isinstance(client_id, str) or not client_id:
        raise RuleError("client_id", f"{client_id!r} is no client id", "name a client")
    return client_id


def _client_ids(value: Mapping[str, Any]) -> tuple[str, ...]:
    names = value.get("client_ids")
    if not isinstance(names, list) or not 1 <= len(names) <= BANNED_MAX:
        raise RuleError("client_ids", "no list of clients", f"name 1 to {BANNED_MAX} clients")
    for name in names:
        if not isinstance(name, str) or not name:
            raise RuleError("client_ids", f"{name!r} is no client id", "name clients")
    return tuple(names)


def _number(name: str, *, may_be_zero: bool) -> Callable[[Mapping[str, Any]], float]:
    def read(value: Mapping[str, Any]) -> float:
        number = read_decimal(value.get(name))
        if number is None:
            remedy = 'send digits as text, such as "2.5": at most nine before the point, six after'
            raise RuleError(name, f"{value.get(name)!r} is no {name}", remedy)
        if not number and not may_be_zero:
            remedy = "drain the client to give it nothing"
            raise RuleError(name, f"a {name} of 0 is none", remedy)
        return number

    return read


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "pin": _client_id,
    "ban": _client_ids,
    "weight": _number("weight", may_be_zero=True),
    "capacity": _number("capacity", may_be_zero=False),
    "drain": lambda _value: None,
}
"""Rule of a single queue or client -> the reader of its value."""

SINGLE_RULES = tuple(_READERS)
