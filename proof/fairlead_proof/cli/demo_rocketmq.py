"""``fairlead demo-rocketmq``: Java consumers under Fairlead, and under RocketMQ's own rebalance."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli.options import OutputOption
from fairlead.cli.render.output import OutputFormat
from fairlead.errors import UsageError
from fairlead_proof.cli.played import play_and_show
from fairlead_proof.demo_rocketmq.way import Way


class ServerVersion(StrEnum):
    """RocketMQ's brokers."""

    V4 = "4.9.7"
    V5 = "5.3.3"


class ClientVersion(StrEnum):
    """RocketMQ's Java client."""

    V4 = "4.9.8"
    V5 = "5.3.3"


WaysOption = Annotated[
    list[Way] | None,
    typer.Option("--way", help="What to play; default: fairlead, then rocketmq. Repeatable."),
]
ServerOption = Annotated[
    ServerVersion, typer.Option("--server-version", help="RocketMQ's brokers.")
]
ClientOption = Annotated[
    ClientVersion, typer.Option("--client-version", help="RocketMQ's Java client.")
]
OrderedOption = Annotated[
    bool, typer.Option("--ordered", help="Ordered listeners; by default concurrent ones.")
]
ConsumersOption = Annotated[
    int, typer.Option("--consumers", min=3, help="How many are there at first; two more join.")
]
WorkOption = Annotated[
    int, typer.Option("--work-ms", min=0, help="How long a listener takes for a message.")
]
FreezeOption = Annotated[
    float, typer.Option("--freeze", min=1, help="Seconds a consumer stands still, at most.")
]
SeedOption = Annotated[
    int, typer.Option("--seed", help="Random seed: picks who leaves and who is killed.")
]
StepsOption = Annotated[
    list[str] | None,
    typer.Option("--step", help="Only start and this step. Repeatable."),
]


def demo_rocketmq(
    *,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 if a check fails.")] = False,
    way: WaysOption = None,
    server: ServerOption = ServerVersion.V5,
    client: ClientOption = ClientVersion.V5,
    ordered: OrderedOption = False,
    consumers: ConsumersOption = 6,
    work_ms: WorkOption = 30,
    freeze: FreezeOption = 30.0,
    seed: SeedOption = 1,
    step: StepsOption = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep journals, logs and the servers' data.")
    ] = False,
    report: Annotated[
        Path, typer.Option("--report", help="Where the outcome is written, as JSON.")
    ] = Path("report.json"),
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Run unmodified listeners on a real RocketMQ, break parts of it, and compare both ways.

    Six consumers share the queues of two brokers; two join, one leaves, one is killed, one is
    frozen, the queues grow, a broker restarts, and a name server is away. The script is played with
    Fairlead attached, and then under RocketMQ's own rebalance. The consumers' journals must show
    for Fairlead: nobody at work beside another, no message missed, and none begun again without
    need.
    """
    from fairlead_proof.demo_rocketmq.run import DemoRocketMQ, DemoRocketMQOptions
    from fairlead_proof.demo_rocketmq.table import print_outcome

    steps = _steps(step or ())
    options = DemoRocketMQOptions(
        ways=tuple(way or (Way.FAIRLEAD, Way.ROCKETMQ)),
        server=server.value,
        client=client.value,
        ordered=ordered,
        consumers=consumers,
        work_ms=work_ms,
        freeze_s=freeze,
        seed=seed,
        steps=steps,
        keep=keep,
    )
    play_and_show(
        lambda screen: DemoRocketMQ(options, screen).run(),
        print_outcome,
        report=report,
        output=output,
        check=check,
    )


def _steps(wanted: Sequence[str]) -> Sequence[str]:
    """Return the steps to play; none: all.

    Raises:
        UsageError: one of them is none.
    """
    from fairlead_proof.demo_rocketmq.script import STEPS

    for each in wanted:
        if each not in STEPS:
            raise UsageError(
                f"--step: there is no step {each}.", remedy=f"Choose from {', '.join(STEPS)}."
            )
    return [each for each in STEPS if each in ("start", *wanted)] if wanted else ()
