"""The outcome of the demo on RocketMQ for people: both ways side by side, and the verdict."""

from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fairlead_proof.demo_rocketmq.outcome import DemoOutcome, WayOutcome

__all__ = ["print_outcome"]


def _frozen(way: WayOutcome) -> str:
    if not any(step.name == "freeze" for step in way.steps):
        return "-"
    took_ms = way.handled.taken_over_ms
    return "not while it was frozen" if took_ms is None else _ms(took_ms)


_ROWS: tuple[tuple[str, Callable[[WayOutcome], str]], ...] = (
    ("calls of listeners", lambda way: f"{way.handled.calls:,}"),
    ("queues moved", lambda way: str(len(way.handled.moves))),
    ("begun again, nobody killed or frozen", lambda way: str(len(way.handled.begun_again))),
    ("begun again after a kill or freeze", lambda way: str(way.handled.begun_again_after_cut)),
    ("begun beside another consumer", lambda way: str(len(way.handled.beside))),
    ("messages missed", lambda way: str(way.handled.holes)),
    ("pause of a queue that moves, median", lambda way: _ms(way.handled.gap_ms())),
    ("longest pause of a queue that moves", lambda way: _ms(way.handled.longest_gap_ms())),
    ("a frozen consumer's queues taken over", _frozen),
)


def print_outcome(outcome: DemoOutcome, console: Console) -> None:
    """Print the tables, what was demanded and missed, and the verdict."""
    table = _table("", *(way.way.words for way in outcome.ways))
    for name, cell in _ROWS:
        table.add_row(name, *(cell(way) for way in outcome.ways))
    console.print(table)
    for way in outcome.ways:
        console.print(_steps(way))
    for way in outcome.ways:
        if way.failure is not None:
            console.print(Text(f"{way.way.words}: the script ended early: {way.failure}", "red"))
        for check in way.checks:
            if not check.passed:
                missed = f"{check.name}: {check.measured}, required: {check.required}"
                console.print(Text(missed, style="red"))
                for finding in check.findings:
                    console.print(Text(f"  {finding}"), soft_wrap=True)
    word, style = ("PASSED", "bold green") if outcome.passed else ("FAILED", "bold red")
    kind = "ordered" if outcome.ordered else "concurrent"
    told = (
        f"verdict: {word} in {outcome.took_s:.0f} s (brokers {outcome.server}, clients"
        f" {outcome.client}, {kind} listeners, seed {outcome.seed})"
    )
    console.print(Text(told, style), soft_wrap=True)


def _steps(way: WayOutcome) -> Table:
    table = _table(f"step, {way.way.words}", "moved", "over after", "beside", "again")
    for step in way.steps:
        row = (str(step.moves), _ms(step.over_ms), str(step.beside), str(step.again))
        table.add_row(step.name, *row)
    return table


def _ms(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f} ms" if value < 1_000 else f"{value / 1_000:.2f} s"  # noqa: PLR2004 - a second


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
