"""What the dashboards ask Prometheus, read from the files that Grafana is given."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from tools.alerts.durations import scaled

FOLDER: Final = Path(__file__).resolve().parents[2] / "deploy" / "grafana" / "dashboards"

CHOSEN: Final = {
    "$__rate_interval": "1m",
    "$__interval": "1m",
    "$__range": "1h",
    "$job": ".*",
    "$group": ".*",
}
"""What Grafana puts in place of its variables, while everything is chosen."""


class Query(NamedTuple):
    """One query of one panel.

    Attributes:
        dashboard: the name of its file.
        panel: its title; of marks in time their name.
        ref: which of the panel's queries.
        legend: what its series are called.
        expression: PromQL, as it stands in the file.
        instant: it is asked for one moment, the end of the time that is shown.
    """

    dashboard: str
    panel: str
    ref: str
    legend: str
    expression: str
    instant: bool

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"{self.dashboard} · {self.panel} · {self.ref}"

    def asked(self, chosen: Mapping[str, str] = CHOSEN, factor: Fraction = Fraction(1)) -> str:
        """Return what Grafana asks.

        Args:
            chosen: what it puts in place of its variables.
            factor: by which the expression's own durations are multiplied.
        """
        expression = scaled(self.expression, factor)
        for variable, value in chosen.items():
            expression = expression.replace(variable, value)
        return expression


def dashboards() -> dict[str, dict[str, Any]]:
    """Return the files, by their names."""
    return {path.name: orjson.loads(path.read_bytes()) for path in sorted(FOLDER.glob("*.json"))}


def panels(dashboard: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the panels of a dashboard without the headings of rows."""
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def queries() -> list[Query]:
    """Return every query of every dashboard, those of marks in time included."""
    return [query for name, dashboard in dashboards().items() for query in _of(name, dashboard)]


def _of(name: str, dashboard: Mapping[str, Any]) -> Iterator[Query]:
    for panel in panels(dashboard):
        for target in panel.get("targets", []):
            legend, instant = target.get("legendFormat", ""), target.get("instant", False)
            yield Query(name, panel["title"], target["refId"], legend, target["expr"], instant)
    for marks in dashboard["annotations"]["list"]:
        yield Query(
            name, marks["name"], "marks", marks["titleFormat"], marks["expr"], instant=False
        )
