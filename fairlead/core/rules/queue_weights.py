"""What queues weigh, measured from what their owners report (ADR 0093).

Decides the weight of each queue for strategies that balance by weight; decides no owner. Two rules
keep an allocation still while a measure wobbles: a measure is an average over a window, and a new
weight replaces the one in force only if it differs by more than a set share. The engine weighs once
in a trigger period, at the multiple of the period that the shard's clock passed, before it counts
the first progress after that. So records without a decision give the same weights in one step or in
many, as a replay needs it.

A queue that nobody may write and that its group has read to the end weighs nothing: the old queues
of a topic that shrinks do not count while they can still be read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

from fairlead.core.model import MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.core.rules.rule_error import RuleError

__all__ = [
    "BY_COUNT",
    "CHANGE_PERCENT",
    "OVER_MS",
    "Measure",
    "WeighBy",
    "Weighing",
    "measured",
    "read_weighing",
    "weigh",
]

WeighBy = Literal["count", "rate", "lag"]
"""``count``: every queue weighs 1. ``rate``: messages written per second. ``lag``: messages not
processed yet."""

MS_PER_SECOND = 1_000
LIGHTEST = 0.1
"""A queue without traffic weighs a tenth of the mean: it still costs its owner a little."""

DIGITS = 2
"""Significant digits of a weight; more would claim a precision that no window has."""

OVER_MS = (1_000, 3_600_000)
CHANGE_PERCENT = (0, 10_000)


@dataclass(frozen=True, slots=True)
class Weighing:
    """The rule ``weighing``: what weighs, averaged over how long, and which change counts.

    A measured weight replaces the one in force if the two differ by more than ``change_percent`` of
    the lesser one.
    """

    by: WeighBy = "count"
    over_ms: int = 60_000
    change_percent: int = 50


BY_COUNT = Weighing()
"""What holds without a rule."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What the owners' progress says of one queue, on the shard's clock.

    ``end`` is the next offset to be written at the report of ``at_ms``, ``behind`` the unprocessed
    messages then. ``rate`` (messages per second) and ``lag`` (messages) are averages since
    ``since_ms``, over the window at most.
    """

    since_ms: int
    at_ms: int
    end: int
    behind: int
    rate: float = 0.0
    lag: float = 0.0


def read_weighing(value: object) -> Weighing:
    """Return the rule of a plain value.

    Raises:
        RuleError: names the field and what it must be.
    """
    if not isinstance(value, dict) or not value.keys() <= {"by", "over_ms", "change_percent"}:
        detail = "weighing is an object of nothing but its fields"
        raise RuleError("", detail, "send an object of by, over_ms and change_percent")
    words = get_args(WeighBy)
    by = value.get("by")
    if by not in words:
        raise RuleError("by", f"{by!r} cannot be weighed by", f"say {', '.join(words)}")
    return Weighing(
        cast("WeighBy", by),
        _whole(value, "over_ms", BY_COUNT.over_ms, OVER_MS),
        _whole(value, "change_percent", BY_COUNT.change_percent, CHANGE_PERCENT),
    )


def _whole(value: dict[str, Any], name: str, default: int, bounds: tuple[int, int]) -> int:
    number = value.get(name, default)
    low, high = bounds
    if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
        raise RuleError(name, f"{number!r} is out of bounds", f"send {low} to {high}")
    return number


def measured(
    known: Measure | None, clock_ms: int, end: int, processed: int, over_ms: int
) -> Measure:
    """Return the measure of a queue after a report.

    The averages weigh a report by the time since the last one: the plain mean until the window is
    full, then exponentially. An end that went back is another log, and measuring starts again.
    """
    behind = max(0, end - processed)
    if known is None or end < known.end:
        return Measure(clock_ms, clock_ms, end, behind, lag=float(behind))
    passed = clock_ms - known.at_ms
    if passed <= 0:
        # The next report counts this one's end: no time has passed for a rate.
        return replace(known, behind=behind)
    share = max(passed / (passed + over_ms), passed / (clock_ms - known.since_ms))
    rate = (end - known.end) * MS_PER_SECOND / passed
    return Measure(
        known.since_ms,
        clock_ms,
        end,
        behind,
        known.rate + share * (rate - known.rate),
        known.lag + share * (behind - known.lag),
    )


def weigh(
    measures: Mapping[MessageQueue, Measure],
    in_force: Mapping[MessageQueue, float],
    *,
    writable: Mapping[MessageQueue, bool],
    weighing: Weighing,
    period_ms: int,
    at_ms: int,
) -> dict[MessageQueue, float]:
    """Return the weights that come into force; a queue without one weighs 1.

    Args:
        measures: those of the group's queues.
        in_force: the present weights.
        writable: the readable queues, and whether producers may write to them.
        weighing: the rule.
        period_ms: a queue with a shorter history is not measured yet.
        at_ms: the clock of the weights, at or after every report.
    """
    loads = {}
    for queue, ready in writable.items():
        measure = measures.get(queue)
        if measure is None or at_ms - measure.since_ms < period_ms:
            continue
        if weighing.by == "rate" and ready:
            loads[queue] = _rate(measure, at_ms, weighing.over_ms)
        elif weighing.by == "lag":
            loads[queue] = measure.lag
    mean = sum(loads[queue] for queue in sorted(loads, key=queue_order)) / max(1, len(loads))
    weights = {}
    for queue, ready in writable.items():
        measure = measures.get(queue)
        before = in_force.get(queue, 1.0)
        if not ready and measure is not None and not measure.behind:
            weights[queue] = 0.0
        elif weighing.by == "count":
            weights[queue] = 1.0
        elif queue not in loads or not mean:
            weights[queue] = before or 1.0
        else:
            weights[queue] = _damped(before, loads[queue] / mean, weighing.change_percent)
    return {queue: weight for queue, weight in weights.items() if weight != 1}


def _rate(measure: Measure, at_ms: int, over_ms: int) -> float:
    """Return the rate at a later clock: without a report nothing was written."""
    passed = max(0, at_ms - measure.at_ms)
    return measure.rate * over_ms / (passed + over_ms)


def _damped(before: float, share: float, change_percent: int) -> float:
    weight = float(f"{max(LIGHTEST, share):.{DIGITS}g}")
    greater, lesser = max(weight, before), min(weight, before)
    return before if lesser and greater <= lesser * (1 + change_percent / 100) else weight
