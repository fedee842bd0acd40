"""Places, queues and clocks as people read them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

__all__ = [
    "at_words",
    "clock_words",
    "epoch_words",
    "queue_words",
    "time_words",
]


def at_words(topic: str, partition: int, offset: int) -> str:
    """Write a place in the log.

    >>> at_words("fairlead.heartbeats", 2, 88123)
    'fairlead.heartbeats/2@88123'
    """
    return f"{topic}/{partition}@{offset}"


def queue_words(queue: Sequence[Any]) -> str:
    """Write a queue.

    >>> queue_words(["orders", "main", 3])
    'orders/main/3'
    """
    return "/".join(map(str, queue))


def epoch_words(epoch: Sequence[int]) -> str:
    """Write an epoch.

    >>> epoch_words((7, 41))
    '7.41'
    """
    return ".".join(map(str, epoch))


def time_words(time_ms: int) -> str:
    """Write a time: UTC, to the second.

    >>> time_words(1_781_000_000_250)
    '2026-06-09 10:13:20Z'
    """
    return datetime.fromtimestamp(time_ms // 1_000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def clock_words(time_ms: int) -> str:
    """Write the time of a day: UTC, to the millisecond.

    >>> clock_words(1_781_000_000_250)
    '10:13:20.250'
    """
    seconds, rest = divmod(time_ms, 1_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%H:%M:%S}.{rest:03}"
