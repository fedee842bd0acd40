"""Reads the fields of a case; a line that is no case is an error that says what it lacks."""

from collections.abc import Mapping
from typing import Any

from fairlead.core.model import MessageQueue
from strategies.options import QUEUE_FORM, written_queue

__all__ = ["BadCaseError", "client_ids_of", "options_of", "queues_of", "written"]


class BadCaseError(Exception):
    """A line is no case; the message names the field and what it must be."""


def queues_of(case: Mapping[str, Any], name: str = "queues") -> tuple[MessageQueue, ...]:
    """Read a list of queues, each [topic, broker_name, queue_id]; null is an empty list.

    Raises:
        BadCaseError: it is anything else.
    """
    return tuple(_queue(entry, f"{name}[{at}]") for at, entry in enumerate(_list(case, name)))


def client_ids_of(case: Mapping[str, Any], name: str = "clients") -> tuple[str, ...]:
    """Read a list of client ids, which may be empty texts; null is an empty list.

    Raises:
        BadCaseError: it is anything else.
    """
    ids = _list(case, name)
    for at, client_id in enumerate(ids):
        if not isinstance(client_id, str):
            raise BadCaseError(f"{name}[{at}]: it must be a text")
    return tuple(ids)


def options_of(case: Mapping[str, Any]) -> Mapping[str, Any]:
    """Read the options; left out or null is none.

    Raises:
        BadCaseError: they are no object.
    """
    options = case.get("options")
    if options is None:
        return {}
    if not isinstance(options, dict):
        raise BadCaseError("options: it must be an object")
    return options


def written(queues: tuple[MessageQueue, ...]) -> list[list[Any]]:
    """Write queues as they are read."""
    return [list(queue) for queue in queues]


def _list(case: Mapping[str, Any], name: str) -> list[Any]:
    if name not in case:
        raise BadCaseError(f"{name}: it is missing")
    value = case[name]
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadCaseError(f"{name}: it must be a list")
    return value


def _queue(value: object, path: str) -> MessageQueue:
    queue = written_queue(value)
    if queue is None:
        raise BadCaseError(f"{path}: it must be {QUEUE_FORM}")
    return queue
