"""The rules file that Prometheus loads."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Final

from tools.alerts.alert import BRIDGE, CLIENTS, ENGINE, SERVE, Alert, Growth, Job
from tools.alerts.durations import scaled, scaled_duration
from tools.alerts.table import ALERTS, GROWTHS

_JOBS: Final[tuple[Job, ...]] = (ENGINE, BRIDGE, SERVE, CLIENTS)


def rules_document(
    factor: Fraction = Fraction(1), *, name_prefix: str = "", runbook_base: str = ""
) -> dict[str, Any]:
    """Return the content of a rules file.

    What is recorded stands before the alerts that read it: a group's rules are evaluated in order.

    Args:
        factor: by which every duration is multiplied; names say what the duration is unscaled.
        name_prefix: what the alerts' names begin with; what is recorded keeps its names.
        runbook_base: the folder of the runbooks, with a slash at its end; empty: that of this
            repository.
    """
    return {"groups": [_group(job, factor, name_prefix, runbook_base) for job in _JOBS]}


def _group(job: Job, factor: Fraction, name_prefix: str, runbook_base: str) -> dict[str, Any]:
    recorded = [_recording(growth, factor) for growth in GROWTHS if growth.job == job]
    alerts = [_alerting(alert, factor, name_prefix, runbook_base) for alert in _of(job, ALERTS)]
    return {"name": job, "rules": [*recorded, *alerts]}


def _of(job: Job, alerts: Iterable[Alert]) -> list[Alert]:
    """The alerts of a job, those that get somebody up first."""
    return sorted((alert for alert in alerts if alert.job == job), key=lambda a: a.severity)


def _recording(growth: Growth, factor: Fraction) -> dict[str, Any]:
    return {"record": growth.name, "expr": scaled(growth.expression, factor)}


def _alerting(
    alert: Alert, factor: Fraction, name_prefix: str, runbook_base: str
) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "alert": f"{name_prefix}{alert.name}",
        "expr": scaled(alert.expression, factor),
    }
    if alert.hold != "0s":
        rule["for"] = scaled_duration(alert.hold, factor)
    rule["labels"] = {"severity": alert.severity, "service": "fairlead"}
    rule["annotations"] = {
        "summary": alert.summary,
        "description": alert.description,
        "runbook_url": f"{runbook_base}{alert.name}.md" if runbook_base else alert.runbook,
    }
    return rule
