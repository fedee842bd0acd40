"""What is measured of one queue as plain JSON values; the queue is a row of the group's table."""

from collections.abc import Sequence
from typing import Any

from fairlead.core.rules.queue_weights import Measure

__all__ = ["plain_measure", "read_measure"]


def plain_measure(row: int, measure: Measure) -> list[Any]:
    """Return the measure of the queue in this row of the queue table."""
    # Field by field: this is done for every queue of a group that reports progress.
    times = (measure.since_ms, measure.at_ms)
    return [row, *times, measure.end, measure.behind, measure.rate, measure.lag]


def read_measure(plain: Sequence[Any]) -> Measure:
    """Return the measure that :func:`plain_measure` wrote."""
    _, since_ms, at_ms, end, behind, rate, lag = plain
    return Measure(since_ms, at_ms, end, behind, rate, lag)
