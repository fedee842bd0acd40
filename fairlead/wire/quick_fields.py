"""Reads records as quickly as possible, without the engine's strict checks.

Followers of the log skip invalid records, as a client does, and refuse nothing. So they parse
values with orjson and check only the fields that they use.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.wire.limits import INT64_MAX

__all__ = [
    "NO_RECORD",
    "RecordPlace",
    "body_of",
    "boolean_of",
    "epoch_of",
    "integer_of",
    "member_of",
    "name_of",
    "position_of",
    "queue_of",
    "text_of",
    "words_of",
]

NO_RECORD = (KeyError, TypeError, ValueError, IndexError, AttributeError)
"""The errors of reading a value that breaks the protocol."""

_NAME_MAX: Final = 255
"""The longest name of a client, topic or broker; the engine refuses longer ones."""


class RecordPlace(NamedTuple):
    """The position of a record in the log."""

    topic: str
    partition: int
    offset: int

    def to_json(self) -> list[str | int]:
        """Return the place as ``at`` of a cause has it."""
        return [self.topic, self.partition, self.offset]


def body_of(value: bytes) -> dict[str, Any]:
    """Return the fields of a value; ValueError if it is not an object."""
    body = orjson.loads(value)
    if type(body) is not dict:
        raise ValueError("the value is not an object")
    return body


def text_of(value: object) -> str:
    """Return a text; ValueError for anything else."""
    if type(value) is not str:
        raise ValueError("not a text")
    return value


def name_of(value: object) -> str:
    """Return a text that is short enough for a name; ValueError for anything else."""
    name = text_of(value)
    if len(name) > _NAME_MAX:
        raise ValueError("too long for a name")
    return name


def words_of(value: object) -> tuple[str, ...]:
    """Return a list of texts; ValueError for anything else."""
    if type(value) is not list or not all(type(word) is str for word in value):
        raise ValueError("not a list of texts")
    return tuple(value)


def boolean_of(value: object) -> bool:
    """Return true or false; ValueError for anything else."""
    if type(value) is not bool:
        raise ValueError("neither true nor false")
    return value


def integer_of(value: object) -> int:
    """Return a signed 64-bit integer that is not negative; ValueError for anything else."""
    if type(value) is not int or not 0 <= value <= INT64_MAX:
        raise ValueError("not a whole number")
    return value


def epoch_of(value: Any) -> Epoch:
    """Return an epoch from ``[generation, number]``; ValueError for anything else."""
    generation, number = value
    return Epoch(integer_of(generation), integer_of(number))


def position_of(value: Any) -> Position:
    """Return a position from ``[reset, offset]``; ValueError for anything else."""
    reset, offset = value
    return Position(integer_of(reset), integer_of(offset))


def queue_of(value: Any) -> MessageQueue:
    """Return a queue from ``[topic, broker_name, queue_id]``; ValueError for anything else."""
    topic, broker_name, queue_id = value
    return MessageQueue(name_of(topic), name_of(broker_name), integer_of(queue_id))


def member_of(body: Mapping[str, Any]) -> MemberKey:
    """Return the member that a record names; ValueError if it names none."""
    return MemberKey(name_of(body["client_id"]), name_of(body["incarnation"]))
