"""The flags of `fairlead plan` that say what changes: from texts to changes."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from fairlead.cli.documents import read_json
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead.core.records import RuleSet
    from fairlead.planning.changes import Join, RouteSize

__all__ = ["joins_of", "routes_of", "strategy_of"]

_ROUTE: Final = re.compile(r"([^/=]+)(?:/([^=]+))?=(\d{1,9})")
_DETAIL: Final = re.compile(r",(?=(?:zone|capacity|topics)=)")
_JOIN_REMEDY: Final = "c9, or c9,zone=east,capacity=2,topics=orders+payments"


def joins_of(texts: Iterable[str]) -> "tuple[Join, ...]":
    """Read ``--join``: a client id, and what it says of itself.

    Raises:
        UsageError: a text is none, or a heartbeat could not say it.
    """
    return tuple(map(_join, texts))


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

    found = []
    for text in texts:
        match = _ROUTE.fullmatch(text)
        if match is None:
            raise UsageError(f"--route: {text!r} is no route.", remedy="topic=16, topic/broker=16")
        topic, broker_name, number = match.groups()
        found.append(RouteSize(topic, broker_name, int(number)))
    return tuple(found)


def strategy_of(
    group: str, name: str | None, options: str | None, current: str
) -> "tuple[RuleSet, ...]":
    """Return the rule that ``--strategy`` and ``--options`` ask for, if they do.

    Options are the whole of them: what is not named is not set any more.

    Raises:
        UsageError: the options are no JSON object.
    """
    from fairlead.core.records import RuleSet

    if name is None and options is None:
        return ()
    read = {} if options is None else read_json(options, "--options")
    if not isinstance(read, dict):
        raise UsageError("--options: it is no JSON object.", remedy="Begin with {.")
    return (RuleSet(group, "strategy", (), {"name": name or current, "options": read}),)
