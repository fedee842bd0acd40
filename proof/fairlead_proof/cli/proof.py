"""`fairlead proof`: the commands of those who prove Fairlead, imported one by one."""

from typing import Final

import typer

from fairlead.cli.commands import CommandEntry
from fairlead.cli.lazy import LazyGroup

_ROOM: Final = "fairlead_proof.cli"

PROOFS: Final[dict[str, CommandEntry]] = {
    "sim": CommandEntry(
        f"{_ROOM}.sim:sim", "Run the real engine and client in simulated time, with faults."
    ),
    "explore": CommandEntry(
        f"{_ROOM}.explore:explore", "Search every order of events of small worlds."
    ),
    "pitfalls": CommandEntry(
        f"{_ROOM}.pitfalls:pitfalls", "Show RocketMQ's own way and Fairlead's side by side."
    ),
    "allocate": CommandEntry(
        f"{_ROOM}.allocate:allocate", "Show who gets which queue under a strategy."
    ),
    "conform": CommandEntry(
        f"{_ROOM}.conform:conform", "Answer cases as RocketMQ's own classes answer them."
    ),
    "bench": CommandEntry(
        f"{_ROOM}.bench:bench", "Measure joins and leaves on the real broker and job."
    ),
    "bench-strategies": CommandEntry(
        f"{_ROOM}.bench_strategies:bench_strategies",
        "Measure the strategies beside Kafka's own assignors.",
    ),
    "demo-producer": CommandEntry(
        f"{_ROOM}.demo_producer:demo_producer",
        "Slow one broker and kill another under a producer, and judge it.",
    ),
}


class ProofGroup(LazyGroup):
    """The group of these commands."""

    table = PROOFS


app = typer.Typer(
    name="proof",
    cls=ProofGroup,
    no_args_is_help=True,
    help="Try Fairlead and judge it, as its makers do. No production process needs this.",
)
