"""Percentiles of measured times, said the same way everywhere."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil


@dataclass(frozen=True, slots=True)
class Summary:
    """Some times, summed up; in milliseconds. Percentiles are measured values (nearest rank)."""

    n: int
    p50: float
    p95: float
    max: float

    def to_json(self) -> dict[str, float]:
        """The summary as JSON."""
        return asdict(self)


def summarise(values: Sequence[float]) -> Summary:
    """Return the summary of some times in milliseconds.

    Raises:
        ValueError: there are none: a summary of nothing would look like a good one.
    """
    if not values:
        raise ValueError("no values to sum up")
    ordered = sorted(values)
    return Summary(
        n=len(ordered),
        p50=_rank(ordered, 0.50),
        p95=_rank(ordered, 0.95),
        max=round(ordered[-1], 1),
    )


def _rank(ordered: Sequence[float], share: float) -> float:
    """The smallest value such that this share of all values is not greater."""
    return round(ordered[max(0, ceil(share * len(ordered)) - 1)], 1)
