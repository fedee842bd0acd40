"""Fills the tables of docs/metrics.md: what is said around them is written by hand."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tools.metrics.exported import Family, exported
from tools.metrics.samples import RARE, RECORDED, Sample, read_samples

__all__ = ["PAGE", "filled", "listed"]

PAGE: Final = Path(__file__).parents[2] / "docs" / "metrics.md"
_TABLE: Final = re.compile(
    r"(<!-- series of (\w+):([^>]*?)-->\n)(.*?)(<!-- end of series -->\n)", re.DOTALL
)
_ALL: Final = "@all"
_CODE: Final = re.compile(r"\b(fairlead_\w+|[a-z]+_[a-z_]+)\b")


def listed(page: str) -> list[tuple[str, str]]:
    """Return part and name of each family that the page has a row for, in order."""
    return [
        (part, name)
        for _, part, names, _, _ in _TABLE.findall(page)
        for name in _names(part, names)
    ]


def filled(page: str) -> str:
    """Return the page with its tables as code and samples have them.

    Raises:
        KeyError: a family that the page lists does not exist.
    """
    families = exported()
    recorded, rare = read_samples(RECORDED), read_samples(RARE)

    def table(marker: "re.Match[str]") -> str:
        part = marker[2]
        rows = [families[part][name] for name in _names(part, marker[3])]
        block = _block(rows, recorded.get(part, {}), rare.get(part, {}))
        return marker[1] + "\n" + "\n".join(block) + "\n\n" + marker[5]

    return _TABLE.sub(table, page)


def _names(part: str, listed: str) -> list[str]:
    """Return the families that a table is for: those that are named, or all of its part."""
    if listed.split() == [_ALL]:
        return list(exported()[part])
    return [f"fairlead_{name}" for name in listed.split()]


def _block(
    rows: list[Family], recorded: Mapping[str, Sample], rare: Mapping[str, Sample]
) -> Iterator[str]:
    yield "| metric | type | labels | meaning |"
    yield "|---|---|---|---|"
    for row in rows:
        sample = recorded.get(row.name) or rare.get(row.name)
        labels = ", ".join(sample.labels) if sample is not None else ""
        text = _CODE.sub(r"`\1`", row.text)
        yield f"| `{row.name}` | {row.kind} | {labels or '–'} | {text} |"
    yield ""
    yield "```"
    for row in rows:
        if row.name in recorded:
            yield recorded[row.name].line
        elif row.name in rare:
            yield f"{rare[row.name].line}  # made up"
    yield "```"
