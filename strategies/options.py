"""Reads the options of a strategy; every error names the option."""

from collections.abc import Iterator, Mapping
from typing import Any

from fairlead.core.allocation import AllocationError
from fairlead.core.model import MessageQueue

__all__ = [
    "QUEUE_FORM",
    "bad_option",
    "mapping_of",
    "names_of",
    "pairs_of",
    "queue_of",
    "refuse_unknown",
    "sequence_of",
    "text_of",
    "written_queue",
    "wrong_option",
]

QUEUE_FORM = "[topic, broker_name, queue_id] with a 32-bit integer as the id"
_QUEUE_ID_MAX = 2**31 - 1
"""RocketMQ's queue ids are Java's int."""


def bad_option(name: str, expected: str) -> AllocationError:
    """Return the error of an option with a wrong value."""
    return AllocationError("bad_option", f"{name}: it must be {expected}")


def wrong_option(name: str, detail: str) -> AllocationError:
    """Return the error of an option; ``detail`` says what is wrong and what is expected."""
    return AllocationError("bad_option", f"{name}: {detail}")


def refuse_unknown(options: Mapping[str, Any], *known: str) -> None:
    """Refuse options that the strategy does not have.

    Raises:
        AllocationError: ``bad_option``, with the known options.
    """
    unknown = sorted(set(options) - set(known))
    if unknown:
        has = ", ".join(known) if known else "none"
        raise AllocationError("bad_option", f"{unknown[0]}: no such option; known: {has}")


def written_queue(value: object) -> MessageQueue | None:
    """Read a queue written as [topic, broker_name, queue_id]; None for anything else."""
    match value:
        case [str(topic), str(broker_name), int(queue_id)] if (
            not isinstance(queue_id, bool) and -_QUEUE_ID_MAX - 1 <= queue_id <= _QUEUE_ID_MAX
        ):
            return MessageQueue(topic, broker_name, queue_id)
        case _:
            return None


def queue_of(value: object, name: str) -> MessageQueue:
    """Read a queue of an option.

    Raises:
        AllocationError: ``bad_option``.
    """
    queue = written_queue(value)
    if queue is None:
        raise bad_option(name, f"a queue: {QUEUE_FORM}")
    return queue


def text_of(name: str, value: object) -> str:
    """Read a name: a non-empty text.

    Raises:
        AllocationError: ``bad_option``.
    """
    if not isinstance(value, str) or not value:
        raise wrong_option(name, f"{value!r} is not a name; expected a non-empty string")
    return value


def mapping_of(options: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an option that is an object with names as keys; empty if it is missing.

    Raises:
        AllocationError: ``bad_option``.
    """
    value = options.get(name, {})
    if not isinstance(value, Mapping):
        expected = "expected an object with client or broker names as keys"
        raise wrong_option(name, f"{value!r} is not an object; {expected}")
    for key in value:
        text_of(name, key)
    return value


def names_of(options: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return an option that is an object of names.

    Raises:
        AllocationError: ``bad_option``.
    """
    return {key: text_of(name, value) for key, value in mapping_of(options, name).items()}


def sequence_of(options: Mapping[str, Any], name: str) -> list[Any] | tuple[Any, ...]:
    """Return an option that is a list; empty if it is missing.

    Raises:
        AllocationError: ``bad_option``.
    """
    value = options.get(name, [])
    if not isinstance(value, list | tuple):
        raise wrong_option(name, f"{value!r} is not a list")
    return value


def pairs_of(
    options: Mapping[str, Any], name: str, of: str
) -> Iterator[tuple[str, MessageQueue, Any]]:
    """Yield place, queue and value of an option that is a list of [queue, value].

    The place names the pair in errors; ``of`` names the kind of value.

    Raises:
        AllocationError: ``bad_option``.
    """
    for number, item in enumerate(sequence_of(options, name)):
        place = f"{name}[{number}]"
        match item:
            case [written, value]:
                queue = written_queue(written)
                if queue is None:
                    raise wrong_option(place, f"{written!r} is not a queue; expected {QUEUE_FORM}")
                yield place, queue, value
            case _:
                raise wrong_option(place, f"{item!r} is not a pair; expected [queue, {of}]")
