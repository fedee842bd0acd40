"""The configuration of a Prometheus that watches one Fairlead."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from tools.alerts.alert import BRIDGE, CLIENTS, ENGINE, SERVE, Job
from tools.alerts.durations import scaled_duration

DEFAULT_TARGETS: Final[Mapping[Job, str]] = {
    ENGINE: "127.0.0.1:9464",
    BRIDGE: "127.0.0.1:9466",
    SERVE: "127.0.0.1:9465",
}
CLIENT_FILES: Final = "clients/*.yml"


def prometheus_document(
    targets: Mapping[Job, str] = DEFAULT_TARGETS,
    factor: Fraction = Fraction(1),
    rules: str = "rules/*.yml",
) -> dict[str, Any]:
    """Return the content of prometheus.yml.

    Args:
        targets: where engine, bridge and ``fairlead serve`` are.
        factor: by which the periods are multiplied, as those of the rules.
        rules: the files of the rules.
    """
    period = scaled_duration("15s", factor)
    fixed = [
        {"job_name": job, "static_configs": [{"targets": [target]}]}
        for job, target in targets.items()
    ]
    found = {"job_name": CLIENTS, "file_sd_configs": [{"files": [CLIENT_FILES]}]}
    return {
        "global": {
            "scrape_interval": period,
            # Prometheus refuses one that is longer than the interval.
            "scrape_timeout": scaled_duration("10s", factor),
            "evaluation_interval": period,
        },
        "rule_files": [rules],
        "scrape_configs": [*fixed, found],
    }
