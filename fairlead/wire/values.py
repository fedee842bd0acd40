"""Checks single JSON values, and builds the errors about them."""

from collections.abc import Callable
from typing import Any

from fairlead.core.model import MessageQueue
from fairlead.wire.errors import WireError
from fairlead.wire.limits import INT64_MAX, QUEUE_ID_MAX
from fairlead.wire.reasons import Reason
from fairlead.wire.texts import BROKER_NAME, TOPIC, TextRule

__all__ = [
    "bad_value",
    "check_integer",
    "check_pair",
    "check_text",
    "duplicate",
    "inconsistent",
    "read_queue",
    "wrong_type",
]

_JSON_TYPES = {
    dict: "an object",
    list: "an array",
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    float: "a number with a fraction",
    type(None): "null",
}
_QUEUE_WORDS = "the array [topic, broker_name, queue_id]"


def check_text(value: Any, path: str, rule: TextRule) -> None:
    """Refuse anything but a text that the rule allows."""
    if type(value) is not str:
        raise wrong_type(path, "a text", value)
    if not rule.allows(value):
        raise bad_value(path, rule.words)


def check_integer(value: Any, path: str, low: int = 0, high: int = INT64_MAX) -> None:
    """Refuse anything but a whole number in a range; true and false are not numbers."""
    if type(value) is not int:
        raise wrong_type(path, "a whole number", value)
    if not low <= value <= high:
        raise bad_value(path, f"a whole number from {low} to {high}")


def read_queue(value: Any, name: str, path: Callable[[str], str] = str) -> MessageQueue:
    """Read a queue from ``[topic, broker_name, queue_id]``; ``path`` returns the field's path."""
    if type(value) is list and len(value) == 3:  # noqa: PLR2004 - topic, broker name, queue id
        topic, broker_name, queue_id = value
        if (
            type(topic) is str
            and type(broker_name) is str
            and type(queue_id) is int
            and TOPIC.allows(topic)
            and BROKER_NAME.allows(broker_name)
            and 0 <= queue_id <= QUEUE_ID_MAX
        ):
            return MessageQueue(topic, broker_name, queue_id)
    _check_queue(value, path(name))
    raise AssertionError(_QUEUE_WORDS)


def _check_queue(value: Any, path: str) -> None:
    if type(value) is not list:
        raise wrong_type(path, _QUEUE_WORDS, value)
    if len(value) != 3:  # noqa: PLR2004 - topic, broker name, queue id
        raise bad_value(path, _QUEUE_WORDS)
    topic, broker_name, queue_id = value
    check_text(topic, path + "[0]", TOPIC)
    check_text(broker_name, path + "[1]", BROKER_NAME)
    check_integer(queue_id, path + "[2]", 0, QUEUE_ID_MAX)


def check_pair(value: Any, path: str, words: str) -> None:
    """Refuse anything but an array of two whole numbers; ``words`` describe them."""
    if type(value) is not list:
        raise wrong_type(path, f"the array {words}", value)
    if len(value) != 2:  # noqa: PLR2004 - a pair
        raise bad_value(path, f"the array {words}")
    check_integer(value[0], path + "[0]")
    check_integer(value[1], path + "[1]")


def bad_value(path: str, words: str) -> WireError:
    """Return the error of a field with a forbidden value; ``words`` say what is allowed."""
    return WireError(Reason.BAD_VALUE, path, "the value is not allowed", f"send {words}")


def duplicate(path: str, what: str) -> WireError:
    """Return the error of a list with a repeated entry."""
    return WireError(
        Reason.DUPLICATE_ENTRY, path, f"the list holds {what} twice", "name each one once"
    )


def inconsistent(path: str, detail: str, remedy: str) -> WireError:
    """Return the error of two fields that contradict each other."""
    return WireError(Reason.INCONSISTENT, path, detail, remedy)


def wrong_type(path: str, expected: str, value: Any) -> WireError:
    """Return the error of a field with another type."""
    return WireError(
        Reason.WRONG_TYPE, path, f"it is {_JSON_TYPES[type(value)]}", f"send {expected}"
    )
