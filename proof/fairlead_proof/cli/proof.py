"""`fairlead proof`: the commands for Fairlead's developers, each imported when it is used."""

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
        f"{_ROOM}.explore:explore", "Search every order of events in small worlds."
    ),
    "pitfalls": CommandEntry(
        f"{_ROOM}.pitfalls:pitfalls", "Show RocketMQ's rebalancing and Fairlead's side by side."
    ),
    "allocate": CommandEntry(
        f"{_ROOM}.allocate:allocate", "Show which client gets which queue under a strategy."
    ),
    "conform": CommandEntry(
        f"{_ROOM}.conform:conform", "Answer conformance cases as RocketMQ's own classes do."
    ),
    "bench": CommandEntry(
        f"{_ROOM}.bench:bench", "Measure joins and leaves on the real broker and job."
    ),
    "bench-strategies": CommandEntry(
        f"{_ROOM}.bench_strategies:bench_strategies",
        "Compare the strategies with Kafka's own assignors.",
    ),
    "demo-producer": CommandEntry(
        f"{_ROOM}.demo_producer:demo_producer",
        "Slow one broker, kill another, and check the producer.",
    ),
}


class ProofGroup(LazyGroup):
    """The group of these commands."""

    table = PROOFS


app = typer.Typer(
    name="proof",
    cls=ProofGroup,
    no_args_is_help=True,
    help="Test and measure Fairlead, as its developers do. Production needs none of this.",
)
