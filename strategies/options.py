"""Reads the options of a strategy: what is wrong is an error that names the option."""

from collections.abc import Mapping
from typing import Any

from fairlead.core.allocation import AllocationError
from fairlead.core.model import MessageQueue

__all__ = ["QUEUE_FORM", "bad_option", "queue_of", "refuse_unknown", "written_queue"]

QUEUE_FORM = "[topic, broker_name, queue_id], the id a whole number of 32 bits"
_QUEUE_ID_MAX = 2**31 - 1
"""RocketMQ's queue ids are Java's int."""


def bad_option(name: str, expected: str) -> AllocationError:
    """Return the error of an option that is not what it must be."""
    return AllocationError("bad_option", f"{name}: it must be {expected}")


def refuse_unknown(options: Mapping[str, Any], *known: str) -> None:
    """Refuse options that the strategy does not have.

    Raises:
        AllocationError: ``bad_option``, with those that it has.
    """
    unknown = sorted(set(options) - set(known))
    if unknown:
        has = ", ".join(known) if known else "none"
        raise AllocationError("bad_option", f"{unknown[0]}: no such option; known: {has}")


def written_queue(value: object) -> MessageQueue | None:
    """Read a queue written as [topic, broker_name, queue_id]; None if it is anything else."""
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
