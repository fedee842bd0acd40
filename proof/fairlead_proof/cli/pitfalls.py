"""``fairlead proof pitfalls``: what goes wrong with RocketMQ's rebalancing, and here instead."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlead.cli.options import OutputOption
from fairlead.cli.render.output import OutputFormat, write_rows
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead_proof.pitfalls.pitfall import Pitfall, PitfallRun

COLUMNS = ("pitfall", "side", "owned twice", "nobody's", "read twice", "not read", "pause s")


def pitfalls(
    *,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="The pitfall to show event by event; without it, the counts of all.",
        ),
    ] = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Show what goes wrong when each client rebalances by itself, and what happens here instead.

    The left side is a small model of RocketMQ's clients and brokers with its strategies: each
    client decides from what it sees itself. The right side is the engine's real core on the same
    events. The command reads nothing and needs no broker; its answers are always the same.
    """
    from fairlead_proof.pitfalls.catalogue import PITFALLS
    from fairlead_proof.pitfalls.document import document_of
    from fairlead_proof.pitfalls.text import text_of

    runs = [each.run() for each in _chosen(PITFALLS, name)]
    if output is not OutputFormat.TABLE:
        write_rows([document_of(each) for each in runs], (), output)
    elif name is not None:
        typer.echo(text_of(runs[0]), nl=False)
    else:
        write_rows([row for each in runs for row in _rows(each)], COLUMNS, output)


def _chosen(catalogue: "tuple[Pitfall, ...]", name: str | None) -> "tuple[Pitfall, ...]":
    chosen = tuple(each for each in catalogue if name in (None, each.name))
    if not chosen:
        raise UsageError(
            f"NAME: there is no pitfall {name!r}.",
            remedy=f"Name one of {', '.join(each.name for each in catalogue)}.",
        )
    return chosen


def _rows(run: "PitfallRun") -> list[dict[str, Any]]:
    return [
        {
            "pitfall": run.pitfall.name if index == 0 else "",
            "side": side,
            "owned twice": _for(len(made.tally.twice), made.tally.twice_ms),
            "nobody's": _for(len(made.tally.nobody), made.tally.nobody_ms),
            "read twice": made.tally.read_twice,
            "not read": made.tally.unread,
            "pause s": f"{made.tally.longest_pause_ms / 1_000:.2f}",
        }
        for index, (side, made) in enumerate(run.sides.items())
    ]


def _for(queues: int, total_ms: int) -> str:
    each_s = total_ms / 1_000 / queues if queues else 0
    return f"{queues} for {each_s:.1f} s" if queues else "0"
