"""Typed reading of one JSON object: each field by its rule, with the exact path in the error.

Decides whether a field is there, of its type and in its range; counts fields that the protocol does
not know. It does not know which records exist.
"""

from collections.abc import Collection, Iterator
from typing import Any

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.wire.errors import WireError
from fairlead.wire.limits import INT64_MAX, QUEUE_ID_MAX, TIME_MS_MAX, TIME_MS_MIN
from fairlead.wire.reasons import Reason
from fairlead.wire.strict_json import check_plain
from fairlead.wire.texts import BROKER_NAME, CLIENT_ID, TOPIC, UUID, TextRule

__all__ = ["Fields", "Tally", "bad_value", "duplicate", "inconsistent"]

_JSON_TYPES = {
    dict: "an object",
    list: "an array",
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    float: "a number with a fraction",
    type(None): "null",
}


class Tally:
    """How many fields of one record the protocol does not know."""

    __slots__ = ("ignored",)

    def __init__(self) -> None:
        self.ignored = 0


class Fields:
    """One object of a record.

    ``path`` is what stands before its field names; ``depth`` its level, from 1.
    """

    __slots__ = ("body", "depth", "path", "tally")

    def __init__(self, body: dict[str, Any], tally: Tally, path: str = "", depth: int = 1) -> None:
        self.body = body
        self.tally = tally
        self.path = path
        self.depth = depth

    def known(self, names: Collection[str]) -> None:
        """Count the fields beside these.

        ``names`` are all required, so a missing one shows when it is read.
        """
        if len(self.body) > len(names):
            self._count_unknown(names)

    def _count_unknown(self, names: Collection[str]) -> None:
        for name, value in self.body.items():
            if name not in names:
                self.tally.ignored += 1
                check_plain(value, self.path, self.depth)

    def get(self, name: str, expected: str) -> Any:
        """Return a field of any type."""
        try:
            return self.body[name]
        except KeyError:
            raise WireError(
                Reason.MISSING_FIELD,
                self.path + name,
                "the field is missing",
                f"send {name}: {expected}",
            ) from None

    def integer(self, name: str, low: int = 0, high: int = INT64_MAX) -> int:
        """Return a whole number in a range; true and false are none."""
        value = self.get(name, "a whole number")
        if type(value) is not int:
            raise _wrong_type(self.path + name, "a whole number", value)
        if not low <= value <= high:
            raise bad_value(self.path + name, f"a whole number from {low} to {high}")
        return value

    def time_ms(self, name: str) -> int:
        """Return a time in milliseconds since 1970, between the years 2001 and 2286."""
        return self.integer(name, TIME_MS_MIN, TIME_MS_MAX)

    def optional_time_ms(self, name: str) -> int | None:
        """Return a time as :meth:`time_ms`, or None for null."""
        return None if self.get(name, "a time or null") is None else self.time_ms(name)

    def boolean(self, name: str) -> bool:
        """Return true or false."""
        value = self.get(name, "true or false")
        if type(value) is not bool:
            raise _wrong_type(self.path + name, "true or false", value)
        return value

    def text(self, name: str, rule: TextRule) -> str:
        """Return a text that its rule allows."""
        value = self.get(name, rule.words)
        if type(value) is not str or not rule.allows(value):
            check_text(value, self.path + name, rule)
        return value  # type: ignore[no-any-return]  # check_text let a text pass

    def optional_text(self, name: str, rule: TextRule) -> str | None:
        """Return a text that its rule allows, or None for null."""
        return None if self.get(name, f"{rule.words}, or null") is None else self.text(name, rule)

    def word(self, name: str, words: Collection[str]) -> str:
        """Return one word of a closed list."""
        value = self.get(name, "one of " + ", ".join(words))
        if type(value) is not str:
            raise _wrong_type(self.path + name, "a text", value)
        if value not in words:
            raise bad_value(self.path + name, "one of " + ", ".join(words))
        return value

    def items(self, name: str) -> list[Any]:
        """Return an array as it is."""
        value = self.get(name, "an array")
        if type(value) is not list:
            raise _wrong_type(self.path + name, "an array", value)
        return value

    def texts(self, name: str, rule: TextRule) -> tuple[str, ...]:
        """Return an array of different texts that a rule allows."""
        values = self.items(name)
        for index, value in enumerate(values):
            check_text(value, f"{self.path}{name}[{index}]", rule)
        if len(set(values)) != len(values):
            raise duplicate(self.path + name, "the same text")
        return tuple(values)

    def texts_or_nulls(self, name: str, rule: TextRule) -> tuple[str | None, ...]:
        """Return an array of texts that a rule allows, or nulls."""
        values = self.items(name)
        for index, value in enumerate(values):
            if value is not None:
                check_text(value, f"{self.path}{name}[{index}]", rule)
        return tuple(values)

    def mapping(self, name: str) -> "Fields":
        """Return a nested object whose field names are data."""
        value = self.get(name, "an object")
        if type(value) is not dict:
            raise _wrong_type(self.path + name, "an object", value)
        return Fields(value, self.tally, f"{self.path}{name}.", self.depth + 1)

    def object(self, name: str, names: Collection[str]) -> "Fields":
        """Return a nested object with these fields."""
        nested = self.mapping(name)
        nested.known(names)
        return nested

    def entries(self, name: str, names: Collection[str]) -> Iterator["Fields"]:
        """Yield the objects of an array, each with these fields."""
        for index, value in enumerate(self.items(name)):
            if type(value) is not dict:
                raise _wrong_type(f"{self.path}{name}[{index}]", "an object", value)
            nested = Fields(value, self.tally, f"{self.path}{name}[{index}].", self.depth + 2)
            nested.known(names)
            yield nested

    def member(self) -> MemberKey:
        """Return who sends: ``client_id`` and ``incarnation``."""
        return MemberKey(self.text("client_id", CLIENT_ID), self.text("incarnation", UUID))

    def queue(self, name: str) -> MessageQueue:
        """Return a queue, ``[topic, broker_name, queue_id]``."""
        return read_queue(self.get(name, _QUEUE_WORDS), self.path + name)

    def optional_queues(self, name: str) -> tuple[MessageQueue, ...] | None:
        """Return an array of queues, or None for null."""
        if self.get(name, "an array of queues, or null") is None:
            return None
        path = self.path + name
        values = enumerate(self.items(name))
        return tuple(read_queue(value, f"{path}[{index}]") for index, value in values)

    def epoch(self, name: str) -> Epoch:
        """Return an epoch, ``[generation, number]``."""
        return Epoch(*self._pair(name, "[generation, number]"))

    def position(self, name: str) -> Position:
        """Return a position, ``[reset, offset]``."""
        return Position(*self._pair(name, "[reset, offset]"))

    def optional_position(self, name: str) -> Position | None:
        """Return a position, or None for null."""
        value = self.get(name, "[reset, offset] or null")
        return None if value is None else self.position(name)

    def _pair(self, name: str, words: str) -> tuple[int, int]:
        value = self.get(name, words)
        path = self.path + name
        if type(value) is not list:
            raise _wrong_type(path, f"the array {words}", value)
        if len(value) != 2:  # noqa: PLR2004 - a pair
            raise bad_value(path, f"the array {words}")
        first, second = value
        check_integer(first, path + "[0]", INT64_MAX)
        check_integer(second, path + "[1]", INT64_MAX)
        return first, second


_QUEUE_WORDS = "the array [topic, broker_name, queue_id]"


def read_queue(value: Any, path: str) -> MessageQueue:
    """Return a queue read from ``[topic, broker_name, queue_id]``."""
    if type(value) is not list:
        raise _wrong_type(path, _QUEUE_WORDS, value)
    if len(value) != 3:  # noqa: PLR2004 - topic, broker name, queue id
        raise bad_value(path, _QUEUE_WORDS)
    topic, broker_name, queue_id = value
    check_text(topic, path + "[0]", TOPIC)
    check_text(broker_name, path + "[1]", BROKER_NAME)
    check_integer(queue_id, path + "[2]", QUEUE_ID_MAX)
    return MessageQueue(topic, broker_name, queue_id)


def check_text(value: Any, path: str, rule: TextRule) -> None:
    """Refuse what is no text that the rule allows."""
    if type(value) is not str:
        raise _wrong_type(path, "a text", value)
    if not rule.allows(value):
        raise bad_value(path, rule.words)


def check_integer(value: Any, path: str, high: int) -> None:
    """Refuse what is no whole number from 0 to ``high``."""
    if type(value) is not int:
        raise _wrong_type(path, "a whole number", value)
    if not 0 <= value <= high:
        raise bad_value(path, f"a whole number from 0 to {high}")


def bad_value(path: str, words: str) -> WireError:
    """Return the error of a field whose value is not allowed; ``words`` say what is."""
    return WireError(Reason.BAD_VALUE, path, "the value is not allowed", f"send {words}")


def duplicate(path: str, what: str) -> WireError:
    """Return the error of a list that names something twice."""
    return WireError(
        Reason.DUPLICATE_ENTRY, path, f"the list holds {what} twice", "name each one once"
    )


def inconsistent(path: str, detail: str, remedy: str) -> WireError:
    """Return the error of two fields that contradict each other."""
    return WireError(Reason.INCONSISTENT, path, detail, remedy)


def _wrong_type(path: str, expected: str, value: Any) -> WireError:
    return WireError(
        Reason.WRONG_TYPE, path, f"it is {_JSON_TYPES[type(value)]}", f"send {expected}"
    )
