"""Writes the figures of the last `make bench-strategies` into docs/strategy-benchmark.md.

Everything below the heading *Figures* is replaced; the rest of the page is left alone.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import orjson

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "strategy-benchmark.md"
REPORT: Final = ROOT / "bench-strategies.json"
HEADING: Final = "## Figures\n"
NAMES: Final = ("UNIFORM", "RANGE", "COOPERATIVE_STICKY", "STICKY")
TITLES: Final = (
    *("members / queues / topics", "subscriptions", "run", "contestant", "settled by"),
    *("ms", "runs", "ours / theirs", "moved", "least", "spread", "squares"),
)
BUSY: Final = 0.5
"""Of so many cores another process was using, a figure is not one of a quiet machine."""


def written(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the section."""
    yield (
        f"Kafka {report['kafka']}, {report['java']}, Python {report['python']}, {report['cores']} "
        f"cores, {report['seconds']:g} s for each figure; load {report['load']:.1f}"
        + (": a busy machine, so times are longer than they are by themselves." * busy(report))
        + "." * (not busy(report))
        + " Milliseconds are of processor time, the median of so many runs."
    )
    yield ""
    yield f"| {' | '.join(TITLES)} |"
    yield f"|{'---|' * len(TITLES)}"
    for row in report["figures"]:
        if row["contestant"] in NAMES:
            yield f"| {' | '.join(cells(row, report['limit_ms']))} |"


def busy(report: Mapping[str, Any]) -> bool:
    """Tell whether others were at work: the benchmark itself is one thread at a time."""
    return bool(report["load"] > 1 + BUSY)


def cells(row: Mapping[str, Any], limit_ms: float) -> Iterator[str]:
    """Yield the cells of one figure."""
    yield f"{row['members']:,} / {row['queues']:,} / {row['topics']:,}"
    for name in ("subscriptions", "run", "contestant"):
        yield row[name]
    yield row["settled_by"] or "–"
    if row["beyond_limit"]:
        yield f"> {limit_ms:,.0f}"
        yield from "–" * (len(TITLES) - 6)
        return
    yield (
        f"{row['processor_ms']:,.3g}"
        if row["processor_ms"] < 1_000
        else (f"{row['processor_ms']:,.0f}")
    )
    yield f"{row['runs']:,}"
    yield "–" if row["ours_to_theirs"] is None else f"{row['ours_to_theirs']:.2g}"
    for name in ("moved", "least", "spread", "squares"):
        yield "–" if row[name] is None else f"{row[name]:,}"


def main() -> None:
    """Rewrite the page."""
    if not REPORT.exists():
        sys.exit(f"{REPORT.name} is not there; run: make bench-strategies")
    report = orjson.loads(REPORT.read_bytes())
    above, heading, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    assert heading, f"{PAGE.name} has no heading {HEADING!r}"
    section = "\n".join(written(report))
    PAGE.write_text(f"{above}{heading}\n{section}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
