"""The line of `fairlead plan` that plans the same changes."""

import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any, Final

from fairlead.core.records import RuleSet
from fairlead.core.rules.single_rules import SINGLE_RULES
from fairlead.json_text import json_text
from fairlead.planning.changes import Changes, Join, RouteSize

__all__ = ["plan_command"]

_WHOLE: Final = ("strategy", "slots", "weighing", "designated")
"""The rules of a whole group that a plan can set and remove."""
_DETAIL: Final = re.compile(r",(?:zone|capacity|topics)=")

Flag = tuple[str, str]


class _UnsayableError(ValueError):
    """No flag says it."""


def plan_command(group: str, changes: Changes) -> str | None:
    """Return the command, quoted for a shell; None: flags cannot say it.

    Args:
        group: the group.
        changes: what is asked for; a rule whose value is None is removed.
    """
    try:
        flags = [*_flags(changes)]
    except (_UnsayableError, KeyError, TypeError):
        return None
    words = ["fairlead", "plan"]
    if not group.startswith("-"):
        words.append(group)
    for name, value in flags:
        # What begins with a dash would pass for a flag of its own.
        words += [f"{name}={value}"] if value.startswith("-") else [name, value]
    if group.startswith("-"):
        words += ["--", group]
    return shlex.join(words)


def _flags(changes: Changes) -> Iterator[Flag]:
    for join in changes.joins:
        yield "--join", _join(join)
    for client_id in changes.leaves:
        yield "--leave", client_id
    for size in changes.routes:
        yield "--route", _route(size)
    seen = set()
    for rule in changes.rules:
        if (rule.rule, rule.subject) in seen:
            raise _UnsayableError
        seen.add((rule.rule, rule.subject))
        yield from _gone(rule) if rule.value is None else _rule(rule.rule, rule.value)


def _join(join: Join) -> str:
    parts = [join.client_id]
    if join.zone is not None:
        parts.append(f"zone={join.zone}")
    if join.capacity != 1:
        parts.append(f"capacity={join.capacity}")
    if join.topics is not None:
        parts.append(f"topics={'+'.join(join.topics)}")
    if _DETAIL.search(join.client_id) or _DETAIL.search(join.zone or ""):
        raise _UnsayableError
    return ",".join(parts)


def _route(size: RouteSize) -> str:
    if "=" in (size.broker_name or ""):
        raise _UnsayableError
    place = size.topic if size.broker_name is None else f"{size.topic}/{size.broker_name}"
    return f"{place}={size.queues}"


def _gone(rule: RuleSet) -> Iterator[Flag]:
    if rule.rule in _WHOLE:
        yield "--unset", rule.rule
    elif rule.rule in SINGLE_RULES:
        subject = rule.subject[0] if len(rule.subject) == 1 else _queue(rule.subject)
        yield "--unset", f"{rule.rule}={subject}"
    else:
        raise _UnsayableError


def _rule(rule: str, value: Any) -> Iterator[Flag]:
    match rule:
        case "strategy":
            yield from _strategy(value)
        case "slots":
            yield "--slots", _text(value)
        case "weighing":
            _has_only(value, "by")
            yield "--weigh-by", _text(value["by"])
        case "designated":
            yield from _designated(value)
        case "pin":
            yield "--pin", f"{_queue(value['queue'])}={_text(value['client_id'])}"
        case "ban":
            if not value["client_ids"]:
                raise _UnsayableError
            for client_id in value["client_ids"]:
                yield "--ban", f"{_queue(value['queue'])}={_text(client_id)}"
        case "weight":
            yield "--weight", f"{_queue(value['queue'])}={value['weight']}"
        case "capacity":
            yield "--capacity", f"{_text(value['client_id'])}={value['capacity']}"
        case "drain":
            yield "--drain", _text(value["client_id"])
        case _:
            raise _UnsayableError


def _strategy(value: Any) -> Iterator[Flag]:
    _has_only(value, "name", "options")
    if value.get("name"):
        yield "--strategy", _text(value["name"])
    if value.get("options") or not value.get("name"):
        yield "--options", json_text(value.get("options") or {})


def _designated(value: Any) -> Iterator[Flag]:
    _has_only(value, "only", "topics", "if_nobody")
    if not value["only"]:
        raise _UnsayableError
    for name, flag in (("only", "--only"), ("topics", "--topics")):
        for each in value.get(name) or ():
            yield flag, _text(each)
    if value.get("if_nobody") is not None:
        yield "--if-nobody", _text(value["if_nobody"])


def _has_only(value: Any, *names: str) -> None:
    if not isinstance(value, dict) or not value.keys() <= {*names}:
        raise _UnsayableError


def _queue(parts: Iterable[Any]) -> str:
    topic, broker_name, number = map(str, parts)
    if "/" in broker_name or "=" in topic + broker_name or not number.isdecimal():
        raise _UnsayableError
    return f"{topic}/{broker_name}/{number}"


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _UnsayableError
    return value
