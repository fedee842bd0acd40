"""Reads rules and resets, which operators and the driver write, and their keys.

It checks the shape of a rule. It does not check whether the engine supports the rule, or whether a
strategy of that name exists.
"""

from collections.abc import Callable, Collection
from typing import Any, get_args

import orjson

from fairlead.core.model import MessageQueue
from fairlead.core.records import ALL_GROUPS, Reset, RuleSet
from fairlead.core.rules.designation import ENTRIES_MAX, IF_NOBODY
from fairlead.core.rules.group_rules import MAY_BE_NEVER, NEVER, WORDS
from fairlead.core.rules.queue_weights import CHANGE_PERCENT, OVER_MS, WeighBy
from fairlead.core.rules.quota import QUOTA_BOUNDS
from fairlead.core.rules.single_rules import BANNED_MAX, read_decimal
from fairlead.wire.errors import WireError
from fairlead.wire.fields import Fields
from fairlead.wire.placement import check_key, key_mismatch, read_array_key
from fairlead.wire.reasons import Reason
from fairlead.wire.strict_json import check_plain
from fairlead.wire.texts import (
    CLIENT_ID,
    DECIMAL,
    GROUP,
    GROUP_OR_ALL,
    NOTE,
    STRATEGY_NAME,
    TOPIC,
    TextRule,
)
from fairlead.wire.values import bad_value, read_queue

__all__ = ["read_removed_rule", "read_reset", "read_rule", "reset_key", "rule_key"]

_RULE = frozenset(("v", "kind", "group", "rule", "value", "by"))
_RESET = frozenset(("v", "kind", "group", "queue", "offset", "by"))
_IDENTITY = "identity"
_BECAUSE = "because"
_RESET_WORD = "reset"
_PER_CLIENT = frozenset(("drain", "capacity"))
_PER_QUEUE = frozenset(("pin", "ban", "weight"))
_TIMES_MS = {
    "lease_ms": (1_000, 600_000),
    "margin_ms": (1, 600_000),
    "trigger_ms": (1_000, 3_600_000),
    "drain_deadline_ms": (1, 3_600_000),
    "pull_max_idle_ms": (1, 3_600_000),
    "restart_grace_ms": (0, 3_600_000),
    "settle_ms": (0, 600_000),
}


def rule_key(group: str, rule: str, subject: tuple[str, ...]) -> bytes:
    """Return the key of a rule.

    ``subject`` is empty, (client id,) or (topic, broker name, queue id in digits).
    """
    if rule in _PER_QUEUE:
        topic, broker_name, queue_id = subject
        return orjson.dumps([group, rule, topic, broker_name, int(queue_id)])
    return orjson.dumps([group, rule, *subject])


def reset_key(group: str, queue: MessageQueue) -> bytes:
    """Return the key of a reset."""
    return orjson.dumps([group, _RESET_WORD, *queue])


def read_rule(fields: Fields, key: bytes | None) -> RuleSet:
    """Read a rule; the key names the rule, and its client or queue."""
    because = _known(fields, _RULE)
    group = fields.text("group", GROUP_OR_ALL)
    rule = fields.get("rule", _RULE_WORDS)
    if type(rule) is not str or rule not in _VALUES:
        raise _unsupported("rule")
    by = fields.text("by", NOTE)
    named = read_removed_rule(key)
    value = fields.get("value", "the rule's value, or null to remove it")
    subject = named.subject if value is None else _VALUES[rule](fields)
    if (named.group, named.rule, named.subject) != (group, rule, subject):
        raise key_mismatch(_RULE_KEY)
    return RuleSet(group, rule, subject, value, by, because)


def read_removed_rule(key: bytes | None) -> RuleSet:
    """Read the key of a removed rule, whose value is null."""
    match read_array_key(key, _RULE_KEY):
        case [str(group), str(rule), *rest]:
            pass
        case _:
            raise key_mismatch(_RULE_KEY)
    if rule == _RESET_WORD:
        raise WireError(
            Reason.NULL_VALUE, None, "a reset cannot be removed", "write another reset of the queue"
        )
    if rule not in _VALUES:
        raise _unsupported(None)
    subject = _read_subject(rule, rest)
    if not GROUP_OR_ALL.allows(group) or (subject and group == ALL_GROUPS):
        raise key_mismatch(_RULE_KEY)
    return RuleSet(group, rule, subject, None)


def read_reset(fields: Fields, key: bytes | None) -> Reset:
    """Read the reset of one queue of one group."""
    because = _known(fields, _RESET, _IDENTITY)
    reset = Reset(
        fields.text("group", GROUP),
        fields.queue("queue"),
        fields.integer("offset"),
        fields.text("by", NOTE),
        because,
        fields.identity(),
    )
    check_key(key, reset_key(reset.group, reset.queue).decode(), _RESET_KEY)
    return reset


def _known(fields: Fields, names: frozenset[str], *optional: str) -> str | None:
    """Count unknown fields besides these and the reason; return the reason, if any."""
    fields.known(names, (_BECAUSE, *optional))
    return fields.text(_BECAUSE, NOTE) if _BECAUSE in fields.body else None


def _read_subject(rule: str, rest: list[Any]) -> tuple[str, ...]:
    """Return a rule's subject from the part of its key after group and rule."""
    if rule in _PER_QUEUE:
        try:
            return _subject(read_queue(rest, "key"))
        except WireError:
            raise key_mismatch(_RULE_KEY) from None
    if rule in _PER_CLIENT:
        if len(rest) != 1 or type(rest[0]) is not str or not CLIENT_ID.allows(rest[0]):
            raise key_mismatch(_RULE_KEY)
        return (rest[0],)
    if rest:
        raise key_mismatch(_RULE_KEY)
    return ()


def _subject(queue: MessageQueue) -> tuple[str, ...]:
    return (queue.topic, queue.broker_name, str(queue.queue_id))


def _closed(fields: Fields, required: Collection[str], optional: Collection[str] = ()) -> Fields:
    """Return the rule's value as an object; unknown fields are an error in a command."""
    value = fields.mapping("value")
    if not set(required) <= value.body.keys() <= {*required, *optional}:
        raise bad_value("value", "an object of " + ", ".join((*required, *optional)))
    return value


def _strategy(fields: Fields) -> tuple[str, ...]:
    value = _closed(fields, ("name",), ("options",))
    value.text("name", STRATEGY_NAME)
    if "options" in value.body:
        check_plain(value.mapping("options").body, value.depth)
    return ()


def _timing(fields: Fields) -> tuple[str, ...]:
    value = _closed(fields, (), tuple(_TIMES_MS))
    for name, time in value.body.items():
        if name in MAY_BE_NEVER and time == NEVER:
            continue
        low, high = _TIMES_MS[name]
        value.integer(name, low, high)
    return ()


def _pause(fields: Fields) -> tuple[str, ...]:
    if not fields.boolean("value"):
        raise bad_value("value", "true, or null to go on")
    return ()


def _drain(fields: Fields) -> tuple[str, ...]:
    return (_closed(fields, ("client_id",)).text("client_id", CLIENT_ID),)


def _pin(fields: Fields) -> tuple[str, ...]:
    value = _closed(fields, ("queue", "client_id"))
    value.text("client_id", CLIENT_ID)
    return _subject(value.queue("queue"))


def _ban(fields: Fields) -> tuple[str, ...]:
    value = _closed(fields, ("queue", "client_ids"))
    _some_texts(value, "client_ids", CLIENT_ID, BANNED_MAX)
    return _subject(value.queue("queue"))


def _weight(fields: Fields) -> tuple[str, ...]:
    value = _closed(fields, ("queue", "weight"))
    _decimal(value, "weight")
    return _subject(value.queue("queue"))


def _capacity(fields: Fields) -> tuple[str, ...]:
    value = _closed(fields, ("client_id", "capacity"))
    if not _decimal(value, "capacity"):
        raise bad_value(value.path("capacity"), "more than 0; drain a client to give it nothing")
    return (value.text("client_id", CLIENT_ID),)


def _decimal(fields: Fields, name: str) -> float:
    number = read_decimal(fields.text(name, DECIMAL))
    assert number is not None, "the text rule allows only decimals"
    return number


def _designated(fields: Fields) -> tuple[str, ...]:
    value = _closed(fields, ("only",), ("topics", "if_nobody"))
    _some_texts(value, "only", CLIENT_ID)
    if value.body.get("topics") is not None:
        _some_texts(value, "topics", TOPIC)
    if "if_nobody" in value.body:
        value.word("if_nobody", IF_NOBODY)
    return ()


def _weighing(fields: Fields) -> tuple[str, ...]:
    value = _closed(fields, ("by",), ("over_ms", "change_percent"))
    value.word("by", get_args(WeighBy))
    if "over_ms" in value.body:
        value.integer("over_ms", *OVER_MS)
    if "change_percent" in value.body:
        value.integer("change_percent", *CHANGE_PERCENT)
    return ()


def _quota(fields: Fields) -> tuple[str, ...]:
    value = _closed(fields, (), tuple(QUOTA_BOUNDS))
    for name, bounds in QUOTA_BOUNDS.items():
        if name in value.body:
            value.integer(name, *bounds)
    return ()


def _some_texts(fields: Fields, name: str, rule: TextRule, most: int = ENTRIES_MAX) -> None:
    if not 1 <= len(fields.texts(name, rule)) <= most:
        raise bad_value(fields.path(name), f"1 to {most} entries, or null as the rule's value")


def _words(*words: str) -> Callable[[Fields], tuple[str, ...]]:
    def read(fields: Fields) -> tuple[str, ...]:
        fields.word("value", words)
        return ()

    return read


_VALUES: dict[str, Callable[[Fields], tuple[str, ...]]] = {
    "strategy": _strategy,
    "timing": _timing,
    "slots": _words(*WORDS["slots"]),
    "mode": _words(*WORDS["mode"]),
    "pause": _pause,
    "drain": _drain,
    "capacity": _capacity,
    "pin": _pin,
    "ban": _ban,
    "weight": _weight,
    "designated": _designated,
    "weighing": _weighing,
    "quota": _quota,
    "on_mute": _words(*WORDS["on_mute"]),
    "react": _words(*WORDS["react"]),
    "start_policy": _words(*WORDS["start_policy"]),
    "retry_topics": _words(*WORDS["retry_topics"]),
    "take_over": _words(*WORDS["take_over"]),
}
"""Rule -> the reader that checks its value and returns its subject."""

_RULE_WORDS = "one of " + ", ".join(_VALUES)
_RULE_KEY = '["group","rule"] (and client id or queue) as in section 3.10, without white space'
_RESET_KEY = '["group","reset","topic","broker_name",queue_id], without white space'


def _unsupported(field: str | None) -> WireError:
    return WireError(
        Reason.UNSUPPORTED_RULE,
        field,
        "this engine does not know the rule",
        f"send {_RULE_WORDS}",
    )
