"""The outcome of an applied plan: rows for people, one document for programs."""

from typing import TYPE_CHECKING, Final

import typer

from fairlead.cli.render.output import OutputFormat, write_document, write_rows
from fairlead.cli.render.rule import OUTCOME_COLUMNS, outcome_cells

if TYPE_CHECKING:
    from fairlead.operating.applied_plan import AppliedPlan, PlanInForce

__all__ = ["show_applied", "show_done"]

_COLUMNS: Final = ("queue", "planned", "moved", "verdict")


def show_applied(done: "AppliedPlan", output: OutputFormat) -> None:
    """Write the outcome of a plan to the standard output."""
    from fairlead.history.formatting import queue_words
    from fairlead.operating.plan_words import way_words

    document = done.to_json()
    if output is not OutputFormat.TABLE:
        write_document(document, output)
        return
    write_rows(map(outcome_cells, document["outcomes"]), OUTCOME_COLUMNS, output)
    rows = [
        {
            "queue": queue_words(row.queue),
            "planned": way_words(row.planned),
            "moved": way_words(row.moved),
            "verdict": row.verdict.replace("_", " "),
        }
        for row in done.rows
    ]
    write_rows(rows, _COLUMNS, output)
    typer.echo(_sum(done))


def show_done(done: "PlanInForce", output: OutputFormat) -> None:
    """Say that a plan is applied already, and by which decisions."""
    from fairlead.operating.plan_words import came_between, left_words

    if output is not OutputFormat.TABLE:
        write_document(done.to_json(), output)
        return
    words = f"{done.saved.group}: the plan is applied already; nothing is written."
    words += " Its rules are in force"
    between = came_between(done.decided)
    words += f", and led to:{between}" if done.decided else " since before it was made."
    typer.echo(words + left_words(done.saved.changes))


def _sum(done: "AppliedPlan") -> str:
    planned = len(done.planned)
    if done.dry_run:
        return f"{done.saved.group}: queues that would move: {planned}; nothing is written"
    good = sum(row.verdict == "as_planned" for row in done.rows)
    words = f"{done.saved.group}: {good} of {planned} queues move as planned"
    return words if not done.unplanned else f"{words}; not as planned: {done.unplanned}"
