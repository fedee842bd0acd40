"""Records as quickly as they can be read: what the engine reads strictly is only looked at here.

A view passes over what is no record, as a client would; it refuses nobody. So a value is read with
orjson, and of its fields only those that are shown are looked at.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.wire.limits import INT64_MAX

__all__ = [
    "NO_RECORD",
    "Place",
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
"""What reading a value raises that is not what the protocol says."""

_NAME_MAX: Final = 255
"""The engine refuses longer ones: of a client, a topic or a broker."""


class Place(NamedTuple):
    """Where a record stands in the log."""

    topic: str
    partition: int
    offset: int

    def to_json(self) -> list[str | int]:
        """Return the place as ``at`` of a cause has it."""
        return [self.topic, self.partition, self.offset]


def body_of(value: bytes) -> dict[str, Any]:
    """Return the fields of a value; ValueError if it is no object."""
    body = orjson.loads(value)
    if type(body) is not dict:
        raise ValueError("the value is no object")
    return body


def text_of(value: object) -> str:
    """Return a text; ValueError if it is none."""
    if type(value) is not str:
        raise ValueError("no text")
    return value


def name_of(value: object) -> str:
    """Return a text that is no longer than any name may be; ValueError if it is none."""
    name = text_of(value)
    if len(name) > _NAME_MAX:
        raise ValueError("no name is so long")
    return name


def words_of(value: object) -> tuple[str, ...]:
    """Return a list of texts; ValueError if it is none."""
    if type(value) is not list or not all(type(word) is str for word in value):
        raise ValueError("no list of texts")
    return tuple(value)


def boolean_of(value: object) -> bool:
    """Return a truth value; ValueError if it is none."""
    if type(value) is not bool:
        raise ValueError("no truth value")
    return value


def integer_of(value: object) -> int:
    """Return a whole number from 0 that 64 bits with a sign hold; ValueError if it is none."""
    if type(value) is not int or not 0 <= value <= INT64_MAX:
        raise ValueError("no whole number")
    return value


def epoch_of(value: Any) -> Epoch:
    """Return an epoch from ``[generation, number]``; ValueError if it is none."""
    generation, number = value
    return Epoch(integer_of(generation), integer_of(number))


def position_of(value: Any) -> Position:
    """Return a position from ``[reset, offset]``; ValueError if it is none."""
    reset, offset = value
    return Position(integer_of(reset), integer_of(offset))


def queue_of(value: Any) -> MessageQueue:
    """Return a queue from ``[topic, broker_name, queue_id]``; ValueError if it is none."""
    topic, broker_name, queue_id = value
    return MessageQueue(name_of(topic), name_of(broker_name), integer_of(queue_id))


def member_of(body: Mapping[str, Any]) -> MemberKey:
    """Return whom a record names; ValueError if it names nobody."""
    return MemberKey(name_of(body["client_id"]), name_of(body["incarnation"]))
