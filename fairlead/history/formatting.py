"""Places, queues, clocks and spans as people read them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

__all__ = [
    "at_words",
    "clock_words",
    "epoch_words",
    "queue_words",
    "span_words",
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


def span_words(span_ms: int) -> str:
    """Write how long something took, in its two greatest units.

    >>> [span_words(each) for each in (0, 31, 2_345, 75_000, 34_380_000, 95_000_000)]
    ['0.00 s', '0.03 s', '2.34 s', '1 min 15 s', '9 h 33 min', '1 d 2 h']
    """
    seconds = max(span_ms, 0) // 1_000
    if seconds < 60:  # noqa: PLR2004 - a minute
        return f"{max(span_ms, 0) / 1_000:.2f} s"
    minutes, hours, days = seconds // 60, seconds // 3_600, seconds // 86_400
    if hours == 0:
        return f"{minutes} min {seconds % 60} s"
    if days == 0:
        return f"{hours} h {minutes % 60} min"
    return f"{days} d {hours % 24} h"
