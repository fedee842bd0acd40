"""The verdict for people and for programs: a table on the console, and report.json."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import orjson
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fairlead_proof.demo.verdict import Verdict

REPORT_VERSION: Final = 1
_WIDTH_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class DemoReport:
    """The outcome of one run.

    Attributes:
        verdict: what the judge says.
        seed: what chose who leaves and who dies.
        prefix: of the run's topics.
        took_s: how long it all took, set-up included.
        failure: why the script ended early; None if it did not.
    """

    verdict: Verdict
    seed: int
    prefix: str
    took_s: float
    failure: str | None = None

    @property
    def passed(self) -> bool:
        """True if the script came to its end and every requirement holds."""
        return self.failure is None and self.verdict.passed

    def to_json(self) -> dict[str, Any]:
        """The report as JSON."""
        verdict = self.verdict
        return {
            "v": REPORT_VERSION,
            "passed": self.passed,
            "failure": self.failure,
            "seed": self.seed,
            "prefix": self.prefix,
            "took_s": round(self.took_s, 1),
            "messages": verdict.messages,
            "queues": verdict.queues,
            "memory_mib": verdict.memory_mib,
            "checks": [asdict(check) for check in verdict.checks],
            "steps": [asdict(step) for step in verdict.steps],
            "killed": [
                {**asdict(client), "read_twice": client.read_twice, "at_most": client.at_most}
                for client in verdict.killed
            ],
        }


def write_report(document: Mapping[str, Any], path: Path) -> None:
    """Write a report as JSON, replacing an older one in one step."""
    staging = path.with_name(f".{path.name}.new")
    staging.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
    staging.replace(path)


def print_report(report: DemoReport, console: Console) -> None:
    """Print the verdict: steps, what the killed left behind, requirements, and the last word."""
    tables = [_step_table(report.verdict), _killed_table(report.verdict), _checks(report.verdict)]
    # A narrow terminal wraps a wide table; nothing is cut off.
    wide = console.options.update(max_width=_WIDTH_MAX)
    widths = (console.measure(table, options=wide).maximum for table in tables)
    console.width = max(console.width, *widths)
    for table in tables:
        if table.row_count:
            console.print(table)
    for check in report.verdict.checks:
        if not check.passed:
            console.print(Text(f"{check.name}:", style="red"))
            for finding in check.findings:
                console.print(Text(f"  {finding}"), soft_wrap=True)
    if report.failure is not None:
        console.print(Text(f"the script ended early: {report.failure}", style="red"))
    word, style = ("PASSED", "bold green") if report.passed else ("FAILED", "bold red")
    console.print(Text(f"verdict: {word} in {report.took_s:.0f} s (seed {report.seed})", style))


def _step_table(verdict: Verdict) -> Table:
    table = _table("step", "queues moved", "AVG would move", "converged after")
    for step in verdict.steps:
        took = "-" if step.converged_ms is None else f"{step.converged_ms / 1000:.2f} s"
        table.add_row(step.name, str(step.moved), str(step.moved_by_avg), took)
    return table


def _killed_table(verdict: Verdict) -> Table:
    columns = ("killed, queue", "progress read", "processed", "granted at", "read twice", "at most")
    table = _table(*columns)
    for client in verdict.killed:
        for queue in client.queues:
            figures = (
                queue.progress, queue.processed, queue.granted, queue.read_twice, queue.at_most,
            )  # fmt: skip
            table.add_row(f"{client.client_id} {queue.queue}", *map(str, figures))
    return table


def _checks(verdict: Verdict) -> Table:
    table = _table("", "requirement", "measured", "required")
    for check in verdict.checks:
        mark = Text("ok", style="green") if check.passed else Text("FAIL", style="bold red")
        table.add_row(mark, check.name, check.measured, check.required)
    return table


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=True, overflow="ignore")
    return table
