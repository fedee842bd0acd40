"""Reads the fields of a case; a line that is no case is an error that says what it lacks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fairlead.core.model import MessageQueue
from strategies.options import QUEUE_FORM, written_queue

__all__ = [
    "BadCaseError",
    "CaseError",
    "client_ids_of",
    "flag_of",
    "list_of",
    "number_of",
    "options_of",
    "queues_of",
    "text_of",
    "word_of",
    "written",
]

INT_BITS: Final = 32
LONG_BITS: Final = 64
"""The numbers that Java's classes take: int and long."""


class BadCaseError(Exception):
    """A line is no case; the message names the field and what it must be."""


class CaseError(Exception):
    """RocketMQ throws at this case, or we refuse it.

    Attributes:
        code: the name of the reason.
        message: the reason in words.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


def queues_of(case: Mapping[str, Any], name: str = "queues") -> tuple[MessageQueue, ...]:
    """Read a list of queues, each [topic, broker_name, queue_id]; null is an empty list.

    Raises:
        BadCaseError: it is anything else.
    """
    return tuple(_queue(entry, f"{name}[{at}]") for at, entry in enumerate(list_of(case, name)))


def client_ids_of(case: Mapping[str, Any], name: str = "clients") -> tuple[str, ...]:
    """Read a list of client ids, which may be empty texts; null is an empty list.

    Raises:
        BadCaseError: it is anything else.
    """
    ids = list_of(case, name)
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


def list_of(case: Mapping[str, Any], name: str) -> list[Any]:
    """Read a list; null is an empty one.

    Raises:
        BadCaseError: it is missing or anything else.
    """
    value = _given(case, name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadCaseError(f"{name}: it must be a list")
    return value


def text_of(case: Mapping[str, Any], name: str) -> str:
    """Read a text.

    Raises:
        BadCaseError: it is missing or anything else.
    """
    value = _given(case, name)
    if not isinstance(value, str):
        raise BadCaseError(f"{name}: it must be a text")
    return value


def word_of(case: Mapping[str, Any], name: str, words: Sequence[str]) -> str:
    """Read one of a few words.

    Raises:
        BadCaseError: it is missing or anything else.
    """
    value = _given(case, name)
    if value not in words:
        raise BadCaseError(f"{name}: it must be one of {', '.join(words)}")
    return str(value)


def flag_of(case: Mapping[str, Any], name: str) -> bool:
    """Read true or false.

    Raises:
        BadCaseError: it is missing or anything else.
    """
    value = _given(case, name)
    if not isinstance(value, bool):
        raise BadCaseError(f"{name}: it must be true or false")
    return value


def number_of(case: Mapping[str, Any], name: str, bits: int = LONG_BITS) -> int:
    """Read a whole number of Java's long, or of its int.

    Raises:
        BadCaseError: it is missing or anything else.
    """
    value = _given(case, name)
    bound = 1 << (bits - 1)
    if not isinstance(value, int) or isinstance(value, bool) or not -bound <= value < bound:
        raise BadCaseError(f"{name}: it must be a whole number of {bits} bits")
    return value


def _given(case: Mapping[str, Any], name: str) -> Any:
    if name not in case:
        raise BadCaseError(f"{name}: it is missing")
    return case[name]


def _queue(value: object, path: str) -> MessageQueue:
    queue = written_queue(value)
    if queue is None:
        raise BadCaseError(f"{path}: it must be {QUEUE_FORM}")
    return queue
