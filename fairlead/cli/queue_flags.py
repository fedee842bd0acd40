"""Queues in flags: ``topic/broker/3``, alone or with a value."""

import re
from typing import Final

from fairlead.errors import UsageError

__all__ = ["QUEUE_REMEDY", "is_queue", "queue_and_value", "queue_of"]

_QUEUE: Final = r"([^/=]+)/(.+?)/(\d{1,10})"
_QUEUE_ALONE: Final = re.compile(_QUEUE)
_QUEUE_AND_VALUE: Final = re.compile(_QUEUE + "=(.+)", re.DOTALL)

QUEUE_REMEDY: Final = "Write TOPIC/BROKER/NUMBER, such as orders/main/3."
"""How a queue is written."""


def is_queue(text: str) -> bool:
    """Tell whether a text is a queue's full name."""
    return _QUEUE_ALONE.fullmatch(text) is not None


def queue_of(flag: str, text: str) -> tuple[str, str, str]:
    """Return the queue that a flag names, as in the key of a rule.

    Raises:
        UsageError: the text names no queue.
    """
    match = _QUEUE_ALONE.fullmatch(text)
    if match is None:
        raise UsageError(f"--{flag}: {text!r} is no queue.", remedy=QUEUE_REMEDY)
    return _subject(match)


def queue_and_value(rule: str, text: str) -> tuple[tuple[str, ...], str]:
    """Return a queue as `queue_of` does, and the value that a flag gives it.

    Raises:
        UsageError: the text names no queue, or no value.
    """
    match = _QUEUE_AND_VALUE.fullmatch(text)
    if match is None:
        after = "2.5" if rule == "weight" else "client"
        raise UsageError(
            f"--{rule}: {text!r} is no queue with a value.",
            remedy=f"Write TOPIC/BROKER/NUMBER=…, such as orders/main/3={after}.",
        )
    return _subject(match), match.group(4)


def _subject(match: re.Match[str]) -> tuple[str, str, str]:
    """Return a queue as in the key of a rule: its number without leading zeros."""
    return match.group(1), match.group(2), str(int(match.group(3)))
