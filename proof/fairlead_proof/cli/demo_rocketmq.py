"""``fairlead demo-rocketmq``: Java consumers under Fairlead, and under RocketMQ's own rebalance."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.interruption import stop_once_on_signals
from fairlead.cli.options import OutputOption
from fairlead.cli.render.output import OutputFormat, write_document
from fairlead.errors import ExitCode, UsageError
from fairlead_proof.demo_rocketmq.way import Way

if TYPE_CHECKING:
    from fairlead_proof.demo_rocketmq.outcome import DemoOutcome


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
    from fairlead_proof.demo.report import write_report
    from fairlead_proof.demo.run import make_console
    from fairlead_proof.demo.screen import Screen
    from fairlead_proof.demo_rocketmq.run import DemoRocketMQ, DemoRocketMQOptions
    from fairlead_proof.demo_rocketmq.table import print_outcome

    steps = _steps(step or ())
    console = make_console(to_stderr=output is not OutputFormat.TABLE)
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
    stop_once_on_signals()
    try:
        with Screen(console) as screen:
            outcome = DemoRocketMQ(options, screen).run()
    except KeyboardInterrupt:
        typer.echo("interrupted; everything was stopped", err=True)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    write_report(outcome.to_json(), report)
    print_outcome(outcome, console)
    console.print(f"report: {report}", markup=False, soft_wrap=True)
    _end(outcome, output, check=check)


def _end(outcome: "DemoOutcome", output: OutputFormat, *, check: bool) -> None:
    """Write the outcome for programs, and end with the verdict if asked to."""
    if output is not OutputFormat.TABLE:
        write_document(outcome.to_json(), output)
    if check and not outcome.passed:
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)


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
