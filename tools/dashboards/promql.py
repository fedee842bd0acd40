"""What the panels ask Prometheus: series by job and group, what counters grew by, honest zeros.

Three things are easy to get wrong here, so each has one function:

- `fairlead serve` leaves out counters of a group while they are 0, so a series is born at its first
  event, and ``increase()`` never sees that event. `Series.grown` does, in whole numbers.
- Where 0 is the good news, "no series" means 0 only while somebody looks. `or_zero` says 0 while
  the exporter is there, and `or_unknown` says -1 where it is not: a dead exporter is no safe group.
- Two `fairlead serve` side by side tell the same of each group. `of_groups` counts it once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

UNKNOWN: Final = -1
"""The value of a tile whose numbers nobody exports."""

STEP: Final = "$__interval"
"""The time between two points of a panel."""

RANGE: Final = "$__range"
"""The time that the dashboard shows."""

_CHOSEN: Final = ('job=~"$job"', 'group=~"$group"')


@dataclass(frozen=True, slots=True)
class Series:
    """The series of one metric.

    Attributes:
        metric: its name.
        where: what its labels must be, each as PromQL writes it.
        by: the labels that are kept, where several exporters tell the same; None: all are kept.
    """

    metric: str
    where: tuple[str, ...]
    by: tuple[str, ...] | None = None

    def __str__(self) -> str:
        """Return their values now."""
        return self.at("")

    def at(self, modifier: str) -> str:
        """Return their values at another time, as a modifier of PromQL says it."""
        return self._kept(f"{self._selector()}{modifier}")

    def before(self, time: str) -> str:
        """Return their values that long ago."""
        return self.at(f" offset {time}")

    def grown(self, time: str = STEP) -> str:
        """Return by how much counters grew in that time: all of it, if they were born or reset."""
        return f"({self} - {self.before(time)} >= 0 or {self})"

    def lowest(self, time: str) -> str:
        """Return the lowest values of that time."""
        return self._kept(f"min_over_time({self._selector()}[{time}])")

    def highest(self, time: str) -> str:
        """Return the highest values of that time."""
        return self._kept(f"max_over_time({self._selector()}[{time}])")

    def changes(self, time: str) -> str:
        """Return how often gauges changed in that time."""
        return self._kept(f"changes({self._selector()}[{time}])")

    def rate(self) -> str:
        """Return how much counters that never are absent grow in a second."""
        return self._kept(f"rate({self._selector()}[$__rate_interval])")

    def _selector(self) -> str:
        return f"{self.metric}{{{', '.join(self.where)}}}"

    def _kept(self, expression: str) -> str:
        if self.by is None:
            return expression
        if not self.by:
            return f"max({expression})"
        return f"max by ({', '.join(self.by)}) ({expression})"


def of_job(metric: str, **where: str) -> Series:
    """Return a metric of the chosen jobs, where its labels are these."""
    return Series(metric, ('job=~"$job"', *_equal(where)))


def of_clients(metric: str) -> Series:
    """Return a metric of the clients of the chosen groups; each process tells its own part."""
    return Series(metric, _CHOSEN)


def of_the_group(metric: str, **where: str) -> Series:
    """Return a metric that `fairlead serve` tells of the one chosen group, without labels."""
    return Series(metric, (*_CHOSEN, *_equal(where)), ())


def of_groups(metric: str, *by: str, **where: str) -> Series:
    """Return a metric that `fairlead serve` tells of the chosen groups, group kept."""
    return Series(metric, (*_CHOSEN, *_equal(where)), ("group", *by))


def of_all_groups(metric: str, *by: str, **where: str) -> Series:
    """Return a metric that `fairlead serve` tells of no single group, these labels kept."""
    return Series(metric, ('job=~"$job"', *_equal(where)), by)


def firing(*by: str, match: str) -> Series:
    """Return the alerts of deploy/prometheus that fire, these labels kept.

    Args:
        by: labels of alerts.
        match: which groups; an alert about the engine has none.
    """
    which = ('alertstate="firing"', 'service="fairlead"', f'group=~"{match}"')
    return Series("ALERTS", which, by)


def _equal(where: dict[str, str]) -> tuple[str, ...]:
    return tuple(f'{label}="{value}"' for label, value in where.items())


FOLLOWED: Final = f"(max({of_job('fairlead_view_ready')}) == 1)"
"""There while a `fairlead serve` has caught up with the topics: what it does not tell is 0."""

ENGINE_SEEN: Final = f"max({of_job('fairlead_generation')})"
"""There while an engine is scraped."""

CLIENTS_SEEN: Final = f"max({of_clients('fairlead_client_owned_queues')})"
"""There while an application's client is scraped."""

GATEWAY_SEEN: Final = f"max({of_job('fairlead_gateway_ready')})"
"""There while a gateway is scraped."""


def or_zero(expression: str, seen: str = FOLLOWED) -> str:
    """Return 0 where there is nothing to tell, as long as the exporter is seen."""
    return f"{expression} or 0 * {seen}"


def or_unknown(expression: str) -> str:
    """Return `UNKNOWN` where nobody tells."""
    return f"{expression} or vector({UNKNOWN})"


def quantile(share: float, buckets: str, *by: str) -> str:
    """Return the value that this share of what was observed stayed below."""
    return f"histogram_quantile({share}, sum by ({', '.join(('le', *by))}) ({buckets}))"


def most(count: int, of: Callable[[str], str]) -> str:
    """Return the series with the greatest values at the end of the time that is shown.

    Args:
        count: so many at most.
        of: returns the expression, with a modifier of its selectors.
    """
    return f"{of('')} and topk({count}, {of(' @ end()')})"
