"""What each query of the dashboards answers while a real system runs."""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final, Protocol

from tests.monitoring.dashboard_queries import Query, queries

RIGHTLY_EMPTY: Final[Mapping[tuple[str, str], str]] = {
    ("Which groups", "A"): "no group is unwell",
    ("Alerts that fire", "A"): "no alert fires",
    ("Alarms and alerts", "A"): "no decision has an alarm",
    ("Alarms and alerts", "B"): "all members subscribe to the same",
    ("Alarms and alerts", "C"): "no alert about the group fires",
    **{
        (f"{panel}: p50 and p99", letter): "the gateway has no clients"
        for panel in ("Until a client hears the news", "Until a heartbeat is in the log")
        for letter in "AB"
    },
}
"""The queries that have no answer while all is well, by panel and letter, each with its reason."""

STEP_S: Final = 3
"""From one point of a panel to the next: several scrapes."""


class Answers(Protocol):
    """Asks Prometheus."""

    def __call__(self, expression: str, *, instant: bool) -> Iterable[Sequence[float]]:
        """Return the values of each series: of now, or of all the time since the start."""


def asked(query: Query, group: str, factor: Fraction) -> str:
    """Return what Grafana asks, its own durations shortened like those of the rules."""
    chosen = {
        "$__rate_interval": f"{STEP_S}s",
        "$__interval": f"{STEP_S}s",
        "$__range": "1h",
        "$job": ".*",
        "$group": ".*" if "overview" in query.dashboard else group,
    }
    return query.asked(chosen, factor)


def unanswered(answers: Answers, group: str, factor: Fraction) -> set[tuple[str, str]]:
    """Return the panel and letter of every query that has no number for an answer.

    Args:
        answers: asks Prometheus, told whether the panel asks for this moment alone.
        group: the one that is chosen where one is.
        factor: by which the durations of the expressions are multiplied.
    """
    return {
        (query.panel, query.ref)
        for query in queries()
        if not any(
            math.isfinite(value)
            for series in answers(asked(query, group, factor), instant=query.instant)
            for value in series
        )
    }
