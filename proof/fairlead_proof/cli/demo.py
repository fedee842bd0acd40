"""``fairlead demo``: the main job on real parts, broken on purpose and judged."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.interruption import stop_once_on_signals
from fairlead.cli.options import OutputOption, OwnBrokerOption
from fairlead.cli.render.output import OutputFormat, write_document
from fairlead.errors import ExitCode, UsageError
from fairlead_proof.demo.consumers import Consumers

if TYPE_CHECKING:
    from fairlead_proof.demo.broker_faults import BrokerFault

ConsumersOption = Annotated[
    Consumers,
    typer.Option(
        "--consumers",
        help="How clients consume: in a loop of their own, by a listener (push), or mixed.",
    ),
]
BrokersOption = Annotated[
    int, typer.Option("--brokers", help="1: the script below. 3: brokers are broken instead.")
]
RoundsOption = Annotated[
    int,
    typer.Option(
        "--rounds",
        min=0,
        help="With --brokers 3: so often each fault of leader, follower and controller. 0: the "
        "leader killed, the leader frozen, all restarted in turn.",
    ),
]
FreezeOption = Annotated[
    float, typer.Option("--freeze", min=1, help="Seconds that a broker is frozen for.")
]


def demo(
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Make the verdict the exit code: 1 if it is negative.")
    ] = False,
    duration: Annotated[
        float, typer.Option("--duration", min=5, help="Seconds of load, at least.")
    ] = 40.0,
    seed: Annotated[int, typer.Option("--seed", help="Chooses who leaves and who is killed.")] = 1,
    bootstrap: OwnBrokerOption = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave topics, journals and logs behind.")
    ] = False,
    consumers: ConsumersOption = Consumers.MIXED,
    brokers: BrokersOption = 1,
    rounds: RoundsOption = 0,
    freeze: FreezeOption = 30.0,
    report: Annotated[
        Path, typer.Option("--report", help="Where the verdict is written as JSON.")
    ] = Path("report.json"),
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Run the main job on a real broker, break things, and judge it.

    Six consumer processes share 32 queues; two join, one leaves, one is killed, partitions grow to
    48, the engine is killed with a handover open. Then journals, source topic and the engine's
    records are compared: no queue with two owners, no message missed, none read twice without need.

    With --brokers 3 a broker at a time is killed, frozen or restarted, and a client joins or leaves
    meanwhile: the engine must decide about it within 5 s of the new leaders.
    """
    from fairlead_proof.demo.report import print_report, write_report
    from fairlead_proof.demo.run import Demo, DemoOptions, make_console
    from fairlead_proof.demo.screen import Screen

    console = make_console(to_stderr=output is not OutputFormat.TABLE)
    options = DemoOptions(
        duration,
        seed,
        bootstrap,
        keep,
        consumers,
        faults=_faults(brokers, rounds, bootstrap),
        freeze_s=freeze,
    )
    stop_once_on_signals()
    try:
        with Screen(console) as screen:
            outcome = Demo(options, screen).run()
    except KeyboardInterrupt:
        typer.echo("interrupted; everything was stopped", err=True)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    write_report(outcome, report)
    print_report(outcome, console)
    console.print(f"report: {report}", markup=False, soft_wrap=True)
    if output is not OutputFormat.TABLE:
        write_document(outcome.to_json(), output)
    if check and not outcome.passed:
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)


def _faults(brokers: int, rounds: int, bootstrap: str | None) -> "tuple[BrokerFault, ...]":
    """Return what is done to brokers; nothing to a single one.

    Raises:
        UsageError: there are no such brokers to break.
    """
    from fairlead.broker.cluster import CLUSTER_SIZES
    from fairlead_proof.demo.broker_faults import faults_of

    if brokers not in CLUSTER_SIZES:
        raise UsageError(f"--brokers: {brokers} is neither 1 nor 3.", remedy="Give 1 or 3.")
    if brokers == 1:
        return ()
    if bootstrap is not None:
        raise UsageError(
            "--bootstrap: the brokers of --brokers 3 are killed and frozen.",
            remedy="Leave it out: three brokers of the demo's own are started.",
        )
    return faults_of(rounds)
