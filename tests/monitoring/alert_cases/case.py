"""What a unit test of the rules is: series as they were scraped, and what fires when."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.alerts import ALERTS, Alert

BY_NAME = {alert.name: alert for alert in ALERTS}


@dataclass(frozen=True)
class Firing:
    """One alert that fires: its labels, and its value as a person reads it."""

    labels: Mapping[str, str]
    value: str = ""


@dataclass(frozen=True)
class Check:
    """What fires of one alert at a time; nothing: it is silent."""

    at: str
    alert: str
    fires: Sequence[Firing] = ()


@dataclass(frozen=True)
class Case:
    """One history of scrapes, and what is expected of it.

    Series are in promtool's notation: a name with labels, and values such as ``0x3 1+1x5 _x2``,
    one for each interval.
    """

    title: str
    series: Mapping[str, str]
    checks: Sequence[Check]
    interval: str = "15s"

    def to_json(self) -> dict[str, Any]:
        """Return it as promtool reads it."""
        return {
            "name": self.title,
            "interval": self.interval,
            "input_series": [
                {"series": series, "values": values} for series, values in self.series.items()
            ],
            "alert_rule_test": [_document(check) for check in self.checks],
        }


def engine(metric: str, **labels: str) -> str:
    """Name a series that an engine has."""
    return _series(metric, {"job": "fairlead-engine", "instance": "e:1", **labels})


def bridge(metric: str, **labels: str) -> str:
    """Name a series that a bridge has."""
    return _series(metric, {"job": "fairlead-bridge", "instance": "b:1", **labels})


def serve(metric: str, **labels: str) -> str:
    """Name a series that `fairlead serve` has."""
    return _series(metric, {"job": "fairlead-serve", "instance": "s:1", **labels})


def client(metric: str, **labels: str) -> str:
    """Name a series that an application has."""
    return _series(metric, {"job": "fairlead-clients", "instance": "c:1", **labels})


def of_engine(value: str = "", **labels: str) -> Firing:
    """An alert about an engine."""
    return Firing({"job": "fairlead-engine", "instance": "e:1", **labels}, value)


def of_bridge(value: str = "", **labels: str) -> Firing:
    """An alert about a bridge."""
    return Firing({"job": "fairlead-bridge", "instance": "b:1", **labels}, value)


def of_serve(value: str = "", **labels: str) -> Firing:
    """An alert from `fairlead serve`."""
    return Firing({"job": "fairlead-serve", "instance": "s:1", **labels}, value)


def of_client(value: str = "", **labels: str) -> Firing:
    """An alert from an application."""
    return Firing({"job": "fairlead-clients", "instance": "c:1", **labels}, value)


def _series(metric: str, labels: Mapping[str, str]) -> str:
    matchers = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"{metric}{{{matchers}}}"


def _document(check: Check) -> dict[str, Any]:
    return {
        "eval_time": check.at,
        "alertname": check.alert,
        "exp_alerts": [_expected(BY_NAME[check.alert], firing) for firing in check.fires],
    }


def _expected(alert: Alert, firing: Firing) -> dict[str, Any]:
    def said(template: str) -> str:
        named = re.sub(r"{{ \$labels\.(\w+) }}", lambda found: firing.labels[found[1]], template)
        return re.sub(r"{{ \$value \| humanize(1024)? }}", firing.value, named)

    return {
        "exp_labels": {**firing.labels, "severity": alert.severity, "service": "fairlead"},
        "exp_annotations": {
            "summary": said(alert.summary),
            "description": said(alert.description),
            "runbook_url": alert.runbook,
        },
    }
