"""Reads the fields of one JSON object by their rules, with the exact path in each error.

It checks presence, type and range of a field, and counts unknown fields. It does not know which
records exist. Every heartbeat passes here, so good values take a short path, and only an error
computes the path of its field.
"""

from collections.abc import Collection, Iterator
from typing import Any

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.wire.errors import WireError
from fairlead.wire.limits import INT64_MAX, TIME_MS_MAX, TIME_MS_MIN
from fairlead.wire.reasons import Reason
from fairlead.wire.strict_json import check_plain
from fairlead.wire.texts import CLIENT_ID, IDENTITY, UUID, TextRule
from fairlead.wire.values import (
    bad_value,
    check_integer,
    check_pair,
    check_text,
    duplicate,
    read_queue,
    wrong_type,
)

__all__ = ["Fields", "Tally"]

_EPOCH_WORDS = "[generation, number]"
_POSITION_WORDS = "[reset, offset]"


class Tally:
    """The number of unknown fields of one record."""

    __slots__ = ("ignored",)

    def __init__(self) -> None:
        self.ignored = 0


class Fields:
    """One object of a record: the record itself, a field of it, or an entry of an array.

    ``outer`` is the path to the object without its index, ``index`` its index in an array or None,
    ``depth`` its level, from 1.
    """

    __slots__ = ("body", "depth", "index", "outer", "tally")

    def __init__(
        self,
        body: dict[str, Any],
        tally: Tally,
        outer: str = "",
        index: int | None = None,
        *,
        depth: int = 1,
    ) -> None:
        self.body = body
        self.tally = tally
        self.outer = outer
        self.index = index
        self.depth = depth

    def path(self, name: str) -> str:
        """Return the path of a field of this object."""
        place = self.outer if self.index is None else f"{self.outer}[{self.index}]"
        return f"{place}.{name}" if place else name

    def known(self, names: Collection[str], optional: Collection[str] = ()) -> None:
        """Count the unknown fields.

        All ``names`` are required, so reading a missing one is an error; ``optional`` may be
        missing.
        """
        if len(self.body) > len(names):
            for name, value in self.body.items():
                if name not in names and name not in optional:
                    self.tally.ignored += 1
                    check_plain(value, self.depth)

    def get(self, name: str, expected: str) -> Any:
        """Return a field of any type; the error about a missing field says ``expected``."""
        try:
            return self.body[name]
        except KeyError:
            raise WireError(
                Reason.MISSING_FIELD,
                self.path(name),
                "the field is missing",
                f"send {name}: {expected}",
            ) from None

    def integer(self, name: str, low: int = 0, high: int = INT64_MAX) -> int:
        """Return a whole number in a range; true and false are not numbers."""
        value = self.body.get(name)
        if type(value) is int and low <= value <= high:
            return value
        expected = f"a whole number from {low} to {high}"
        check_integer(self.get(name, expected), self.path(name), low, high)
        raise AssertionError(expected)

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
            raise wrong_type(self.path(name), "true or false", value)
        return value

    def text(self, name: str, rule: TextRule) -> str:
        """Return a text that the rule allows."""
        value = self.body.get(name)
        if type(value) is str and rule.allows(value):
            return value
        check_text(self.get(name, rule.words), self.path(name), rule)
        raise AssertionError(rule.words)

    def optional_text(self, name: str, rule: TextRule) -> str | None:
        """Return a text that the rule allows, or None for null."""
        return None if self.get(name, f"{rule.words}, or null") is None else self.text(name, rule)

    def word(self, name: str, words: Collection[str]) -> str:
        """Return one word of a closed list."""
        value = self.body.get(name)
        if type(value) is str and value in words:
            return value
        expected = "one of " + ", ".join(words)
        if type(self.get(name, expected)) is not str:
            raise wrong_type(self.path(name), "a text", value)
        raise bad_value(self.path(name), expected)

    def items(self, name: str) -> list[Any]:
        """Return an array, unchecked."""
        value = self.get(name, "an array")
        if type(value) is not list:
            raise wrong_type(self.path(name), "an array", value)
        return value

    def texts(self, name: str, rule: TextRule) -> tuple[str, ...]:
        """Return an array of distinct texts that the rule allows."""
        values = self.items(name)
        for index, value in enumerate(values):
            check_text(value, f"{self.path(name)}[{index}]", rule)
        if len(set(values)) != len(values):
            raise duplicate(self.path(name), "a text")
        return tuple(values)

    def texts_or_nulls(self, name: str, rule: TextRule) -> tuple[str | None, ...]:
        """Return an array of nulls and of texts that the rule allows."""
        values = self.items(name)
        for index, value in enumerate(values):
            if value is not None:
                check_text(value, f"{self.path(name)}[{index}]", rule)
        return tuple(values)

    def mapping(self, name: str) -> "Fields":
        """Return a nested object with arbitrary field names."""
        value = self.get(name, "an object")
        if type(value) is not dict:
            raise wrong_type(self.path(name), "an object", value)
        return Fields(value, self.tally, self.path(name), depth=self.depth + 1)

    def object(self, name: str, names: Collection[str]) -> "Fields":
        """Return a nested object with these fields."""
        nested = self.mapping(name)
        nested.known(names)
        return nested

    def entries(
        self, name: str, names: Collection[str], optional: Collection[str] = ()
    ) -> Iterator["Fields"]:
        """Yield the objects of an array, each with these fields."""
        path = self.path(name)
        depth = self.depth + 2
        for index, value in enumerate(self.items(name)):
            if type(value) is not dict:
                raise wrong_type(f"{path}[{index}]", "an object", value)
            nested = Fields(value, self.tally, path, index, depth=depth)
            nested.known(names, optional)
            yield nested

    def member(self) -> MemberKey:
        """Return the sender: ``client_id`` and ``incarnation``."""
        return MemberKey(self.text("client_id", CLIENT_ID), self.text("incarnation", UUID))

    def queue(self, name: str) -> MessageQueue:
        """Return a queue, ``[topic, broker_name, queue_id]``."""
        return read_queue(self.get(name, "[topic, broker_name, queue_id]"), name, self.path)

    def optional_queues(self, name: str) -> tuple[MessageQueue, ...] | None:
        """Return an array of queues, or None for null."""
        if self.get(name, "an array of queues, or null") is None:
            return None
        values = enumerate(self.items(name))
        return tuple(read_queue(value, f"{name}[{index}]", self.path) for index, value in values)

    def epoch(self, name: str) -> Epoch:
        """Return an epoch, ``[generation, number]``."""
        return Epoch._make(self._pair(name, _EPOCH_WORDS))

    def position(self, name: str) -> Position:
        """Return a position, ``[reset, offset]``."""
        return Position._make(self._pair(name, _POSITION_WORDS))

    def optional_position(self, name: str) -> Position | None:
        """Return a position, or None for null."""
        return None if self.get(name, f"{_POSITION_WORDS} or null") is None else self.position(name)

    def identity(self) -> str | None:
        """Return the identity of the topic; None if the field is missing."""
        if self.body.get("identity") is None:
            return None
        return self.text("identity", IDENTITY)

    def _pair(self, name: str, words: str) -> list[int]:
        value = self.body.get(name)
        if type(value) is list and len(value) == 2:  # noqa: PLR2004 - a pair
            first, second = value
            if (
                type(first) is int
                and type(second) is int
                and 0 <= first <= INT64_MAX
                and 0 <= second <= INT64_MAX
            ):
                return value
        check_pair(self.get(name, words), self.path(name), words)
        raise AssertionError(words)
