"""A real Prometheus with our rules, their durations shortened, beside a real system."""

import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final, NamedTuple

from fairlead.broker.ports import free_ports
from tests.monitoring.prometheus_server import PrometheusServer
from tools.alerts.alert import Job
from tools.alerts.rules import rules_document
from tools.alerts.scraping import prometheus_document
from tools.alerts.yaml_text import yaml_text

_LOOK_SECONDS: Final = 0.25


class Fired(NamedTuple):
    """An alert, and the group that it is about; none: it is about a process."""

    alert: str
    group: str = ""


class LivePrometheus(PrometheusServer):
    """One that evaluates our rules; as a context it runs."""

    def __init__(
        self,
        folder: Path,
        targets: Mapping[Job, str],
        factor: Fraction,
        clients: Sequence[str] = (),
    ) -> None:
        """Write its configuration, and the rules with every duration multiplied.

        Args:
            folder: takes everything.
            targets: where engine and ``fairlead serve`` are.
            factor: by which every duration is multiplied.
            clients: where applications show their clients' metrics.
        """
        super().__init__(folder, free_ports(1)[0])
        self._targets = [*targets.values(), *clients]
        document = prometheus_document(targets, factor, "rules.yml")
        # On a busy machine an answer takes as long as it does on any other clock.
        document["global"] = dict.fromkeys(document["global"], "1s")
        (folder / "clients").mkdir(parents=True)
        files = {
            "prometheus": document,
            "rules": rules_document(factor),
            "clients/test": [{"targets": [*clients]}],
        }
        for name, content in files.items():
            (folder / f"{name}.yml").write_text(yaml_text(content, "Of a test."), encoding="utf-8")

    def firing(self) -> set[Fired]:
        """Return what fires now."""
        return self._alerts('ALERTS{alertstate="firing"}')

    def await_scraped(self, seconds: float) -> None:
        """Return when all of them have been asked: what happens from now on is seen."""
        self.await_true(
            lambda: len(self.now("up == 1")) == len(self._targets), "not scraped", seconds
        )

    def ever_fired(self) -> set[Fired]:
        """Return what has fired since it was started."""
        return self._alerts('count_over_time(ALERTS{alertstate="firing"}[1h])')

    def await_firing(
        self, wanted: Callable[[set[Fired]], bool], seconds: float, look: Callable[[], None]
    ) -> None:
        """Return as soon as what fires is as wanted.

        Args:
            wanted: told what fires.
            seconds: how long at most.
            look: called now and then: raises if something has died.

        Raises:
            AssertionError: it was not in time.
        """
        deadline = time.monotonic() + seconds
        while not wanted(firing := self.firing()):
            look()
            assert time.monotonic() < deadline, f"firing: {sorted(firing)}"
            time.sleep(_LOOK_SECONDS)

    def _alerts(self, expression: str) -> set[Fired]:
        labels = [series.labels for series in self.now(expression)]
        return {Fired(each["alertname"], each.get("group", "")) for each in labels}
