"""Reads the parts of RocketMQ's JSON bodies that several answers share."""

from collections.abc import Mapping
from typing import Any

from fairlead_client.remoting.command import Command
from fairlead_client.remoting.fastjson import DialectError, read_fastjson

from fairlead.core.model import MessageQueue
from fairlead.errors import EnvironmentMissingError

__all__ = ["body_of", "counted_from", "queue_of", "table_of", "texts_of"]

_REMEDY = "Check that the address is one of RocketMQ's servers, 4.x or 5.x."


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
        return MessageQueue(str(fields["topic"]), str(fields["brokerName"]), fields["queueId"])
    except (KeyError, TypeError, ValueError) as error:
        raise EnvironmentMissingError(f"queue: {key!r} is none.", remedy=_REMEDY) from error


def counted_from(value: Mapping[Any, Any], name: str) -> int:
    """Return a whole number; a missing one is 0, as in Java."""
    number = value.get(name)
    return number if isinstance(number, int) else 0
