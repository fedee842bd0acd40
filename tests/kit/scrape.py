"""Reads /metrics as Prometheus does."""

import re
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

from fairlead.settings import MetricsSettings
from tests.kit.awaiting import LONGEST_SECONDS, await_seen

_LOOK_SECONDS: Final = 0.2
_PAGE: Final = Path(__file__).parents[2] / "docs" / "metrics.md"


class Scrape:
    """One answer of the endpoint."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._families = list(text_string_to_metric_families(text))

    def __repr__(self) -> str:
        return "\n".join(line for line in self._text.splitlines() if not line.startswith("#"))

    def families(self) -> set[str]:
        """Return the names of the families, as they are documented."""
        return {
            f"{family.name}_total" if family.type == "counter" else family.name
            for family in self._families
        }

    def labels(self, sample: str, label: str) -> set[str]:
        """Return the values of one label."""
        return {
            found.labels[label]
            for family in self._families
            for found in family.samples
            if found.name == sample
        }

    def value(self, sample: str, labels: Mapping[str, str] | None = None) -> float:
        """Return the value of one sample; 0 when it is not there."""
        for family in self._families:
            for found in family.samples:
                if found.name == sample and found.labels == (labels or {}):
                    return found.value
        return 0.0


def documented() -> set[str]:
    """Return the families of the engine that docs/metrics.md explains."""
    page = _PAGE.read_text(encoding="utf-8")
    of_engine = page.partition("\n## The engine\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `(fairlead_\w+)` \|", of_engine, re.MULTILINE))


def scrape(where: MetricsSettings) -> Scrape:
    """Ask the endpoint."""
    with urllib.request.urlopen(f"http://{where.host}:{where.port}/metrics", timeout=10) as answer:
        return Scrape(answer.read().decode())


def await_metric(
    where: MetricsSettings, wanted: Callable[[Scrape], bool], check: Callable[[], None]
) -> Scrape:
    """Scrape until the numbers are as wanted, as an alert would; ``check`` may give up."""

    def look() -> Scrape:
        found = scrape(where)
        if not wanted(found):
            check()
        return found

    return await_seen(
        look, wanted, what="such numbers", seconds=LONGEST_SECONDS, pause=_LOOK_SECONDS
    )
