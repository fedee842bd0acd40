"""One line of each family: recorded from a run, or made up where a short one has none."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from prometheus_client.parser import text_string_to_metric_families

__all__ = ["RARE", "RECORDED", "Sample", "picked", "read_samples", "samples_text"]

_FOLDER: Final = Path(__file__).parents[2] / "docs" / "metrics"
RECORDED: Final = _FOLDER / "samples.txt"
RARE: Final = _FOLDER / "rare.txt"
_HEADING: Final = "# of: "
_NAME: Final = re.compile(r"[a-zA-Z_:]\w*")


class Sample(NamedTuple):
    """A line of an exposition, and the labels of its family: without the bound of a bucket."""

    line: str
    labels: tuple[str, ...]


def picked(exposition: str) -> dict[str, str]:
    """Return one line of each family of an exposition that has any: of a histogram, a bucket."""
    lines = exposition.splitlines()
    by_family = {}
    for family in text_string_to_metric_families(exposition):
        counter, histogram = family.type == "counter", family.type == "histogram"
        name = f"{family.name}_total" if counter else family.name
        shown = f"{name}_bucket" if histogram else name
        of_it = [line for line in lines if _NAME.match(line) and _name_of(line) == shown]
        candidates = [line for line in of_it if not line.endswith(" 0.0")] or of_it
        if candidates:
            by_family[name] = candidates[len(candidates) // 2 if histogram else 0]
    return by_family


def samples_text(parts: Mapping[str, Mapping[str, str]]) -> str:
    """Return the file with a line of each family of each part."""
    blocks = [
        "\n".join([f"{_HEADING}{part}", *(line for _, line in sorted(lines.items()))])
        for part, lines in parts.items()
    ]
    return "\n\n".join(blocks) + "\n"


def read_samples(path: Path) -> dict[str, dict[str, Sample]]:
    """Return the samples of each part by the name of their family."""
    parts: dict[str, dict[str, Sample]] = {}
    part: dict[str, Sample] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(_HEADING):
            part = parts.setdefault(line.removeprefix(_HEADING), {})
        elif line and not line.startswith("#"):
            name = _name_of(line).removesuffix("_bucket")
            labels = tuple(each for each in re.findall(r'[{,](\w+)="', line) if each != "le")
            part[name] = Sample(line, labels)
    return parts


def _name_of(line: str) -> str:
    name = _NAME.match(line)
    assert name is not None
    return name[0]
