"""Reads the parts of RocketMQ's JSON bodies that several answers share.

A broken server costs its own answers alone: who reads several takes each with `read_answer`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from fairlead_client.remoting.command import Command
from fairlead_client.remoting.fastjson import DialectError, read_fastjson
from fairlead_client.remoting.remoting_error import RemotingError

from fairlead.core.model import MessageQueue
from fairlead.errors import EnvironmentMissingError
from fairlead.rocketmq.asking import Answer

__all__ = [
    "UnreadableAnswerError",
    "body_of",
    "counted_from",
    "long_of",
    "queue_of",
    "read_answer",
    "table_of",
    "texts_of",
    "whole_of",
]

_REMEDY = "Check that the address is one of RocketMQ's servers, 4.x or 5.x."
_LONG_BITS: Final = 63
_LONG_DIGITS: Final = 19
_WORDS_MAX: Final = 300

_Read = TypeVar("_Read")


class UnreadableAnswerError(RemotingError):
    """A server has answered, and the answer does not have its form."""


def read_answer(
    address: str, answer: Answer, read: Callable[[Command], _Read]
) -> _Read | RemotingError:
    """Return what a server says, or why it says nothing that can be read."""
    if isinstance(answer, RemotingError):
        return answer
    try:
        return read(answer)
    except EnvironmentMissingError as error:
        return UnreadableAnswerError(address, f"unreadable answer: {error.message}")
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        why = f"unreadable answer: {type(error).__name__}: {error}"
        return UnreadableAnswerError(address, why[:_WORDS_MAX])


def body_of(answer: Command, asked: str) -> Mapping[Any, Any]:
    """Return the object in a response's body.

    Raises:
        EnvironmentMissingError: it is no JSON object; `asked` names the request.
    """
    try:
        body = read_fastjson(answer.body)
    except DialectError as error:
        raise EnvironmentMissingError(f"{asked}: {error}.", remedy=_REMEDY) from error
    if not isinstance(body, dict):
        raise EnvironmentMissingError(f"{asked}: it is no object.", remedy=_REMEDY)
    return body


def table_of(body: Mapping[Any, Any], name: str) -> Mapping[Any, Any]:
    """Return a field that is a map in Java; a missing one and null are empty.

    Raises:
        EnvironmentMissingError: it is something else.
    """
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise EnvironmentMissingError(f"{name}: it is no object.", remedy=_REMEDY)
    return value


def texts_of(body: Mapping[Any, Any], name: str) -> tuple[str, ...]:
    """Return a field that is a collection of texts in Java, sorted; a missing one is empty."""
    value = body.get(name)
    return tuple(sorted(map(str, value))) if isinstance(value, list) else ()


def queue_of(key: Any) -> MessageQueue:
    """Return the queue that is a key of a map, as fastjson writes it: an object.

    Raises:
        EnvironmentMissingError: it is no queue.
    """
    try:
        fields = dict(key)
        queue_id = whole_of(fields["queueId"])
        return MessageQueue(str(fields["topic"]), str(fields["brokerName"]), queue_id)
    except (KeyError, TypeError, ValueError) as error:
        raise EnvironmentMissingError(f"queue: {key!r} is none.", remedy=_REMEDY) from error


def counted_from(value: Mapping[Any, Any], name: str) -> int:
    """Return a whole number; a missing one is 0, as in Java."""
    number = value.get(name)
    return whole_of(number) if type(number) is int else 0


def long_of(text: str) -> int | None:
    """Return the number of 0 or more in a field, as a long of Java has it; None: it is none."""
    digits = text.isascii() and text.isdigit() and len(text) <= _LONG_DIGITS
    number = int(text) if digits else -1
    return number if 0 <= number < 1 << _LONG_BITS else None


def whole_of(value: Any) -> int:
    """Return a number that fits into a long of Java.

    Raises:
        ValueError: it is none.
    """
    if type(value) is not int or value.bit_length() > _LONG_BITS:
        raise ValueError("no whole number of 64 bits")
    return value
