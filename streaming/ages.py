"""How old records are when the engine has decided on them, by the wall clock of the worker.

The core reads no clock. It reports each record's append time; the worker compares that with its own
clock as soon as the batch is decided, and reports counts per bucket.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

BOUNDS_MS: Final = (50, 100, 200, 300, 500, 750, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000)
"""Upper bounds of the buckets; one more bucket without a bound follows."""


@dataclass(frozen=True, slots=True)
class Ages:
    """The ages of some records, as a histogram.

    Attributes:
        numbers: records per bucket; the last bucket has no bound.
        sum_ms: the sum of all ages.
    """

    numbers: tuple[int, ...] = (0,) * (len(BOUNDS_MS) + 1)
    sum_ms: int = 0

    def plus(self, other: "Ages") -> "Ages":
        """Return the sum of both."""
        pairs = zip(self.numbers, other.numbers, strict=True)
        return Ages(tuple(mine + its for mine, its in pairs), self.sum_ms + other.sum_ms)


def ages_at(now_ms: int, append_times: Sequence[int]) -> Ages:
    """Return how old records were at a time; a record from the future has age 0."""
    numbers = [0] * (len(BOUNDS_MS) + 1)
    sum_ms = 0
    for append_ms in append_times:
        age_ms = max(0, now_ms - append_ms)
        numbers[bisect_left(BOUNDS_MS, age_ms)] += 1
        sum_ms += age_ms
    return Ages(tuple(numbers), sum_ms)


class EventAges(Collector):
    """The ages of all records since the start, by kind."""

    def __init__(self) -> None:
        self._kinds: dict[str, Ages] = {}

    def add(self, ages: Mapping[str, Ages]) -> None:
        """Add the ages that one shard reports of a batch."""
        added = {kind: self._kinds.get(kind, Ages()).plus(each) for kind, each in ages.items()}
        self._kinds = {**self._kinds, **added}

    def collect(self) -> Iterator[Metric]:
        """Yield the histogram."""
        family = HistogramMetricFamily(
            "fairlead_event_age_seconds",
            "Age of records when their batch had decided on them, by kind: from their append "
            "time to the wall clock of the worker. It includes the difference between the clocks "
            "of broker and engine.",
            labels=["type"],
        )
        bounds = [*(str(bound / 1_000) for bound in BOUNDS_MS), "+Inf"]
        for kind, ages in sorted(self._kinds.items()):
            buckets = list(zip(bounds, accumulate(ages.numbers), strict=True))
            family.add_metric([kind], buckets, ages.sum_ms / 1_000)
        yield family
