"""``fairlead demo``: runs the whole system, breaks parts of it, and checks the result."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.options import OutputOption, OwnBrokerOption
from fairlead.cli.render.output import OutputFormat
from fairlead.errors import UsageError
from fairlead_proof.cli.played import play_and_show
from fairlead_proof.demo.consumers import Consumers

if TYPE_CHECKING:
    from fairlead_proof.demo.broker_faults import BrokerFault

ConsumersOption = Annotated[
    Consumers,
    typer.Option(
        "--consumers",
        help="How clients consume: by polling in a loop, by a listener (push), or mixed.",
    ),
]
BrokersOption = Annotated[
    int,
    typer.Option("--brokers", help="1: break clients and the engine. 3: break brokers instead."),
]
RoundsOption = Annotated[
    int,
    typer.Option(
        "--rounds",
        min=0,
        help="With --brokers 3: how often to do each fault to leader, follower and controller. 0: "
        "the leader is killed once and frozen once, then all brokers restart in turn.",
    ),
]
FreezeOption = Annotated[
    float, typer.Option("--freeze", min=1, help="With --brokers 3: seconds a broker stays frozen.")
]
GatewayOption = Annotated[
    bool,
    typer.Option(
        "--gateway",
        help="Half of the clients take part through two gateways behind a TCP balancer; each "
        "gateway is killed during a handover.",
    ),
]


def demo(
    *,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 if a check fails.")] = False,
    duration: Annotated[
        float, typer.Option("--duration", min=5, help="Seconds of load, at least.")
    ] = 40.0,
    seed: Annotated[
        int, typer.Option("--seed", help="Random seed: picks who leaves and who is killed.")
    ] = 1,
    bootstrap: OwnBrokerOption = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep topics, journals and logs afterwards.")
    ] = False,
    consumers: ConsumersOption = Consumers.MIXED,
    brokers: BrokersOption = 1,
    rounds: RoundsOption = 0,
    freeze: FreezeOption = 30.0,
    gateway: GatewayOption = False,
    report: Annotated[
        Path, typer.Option("--report", help="Where the verdict is written, as JSON.")
    ] = Path("report.json"),
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Run the system on a real broker, break parts of it, and check that nothing was lost.

    Six consumers share 32 queues; two join, one leaves, one is killed, the queues grow to 48, and
    the engine is killed during a handover. Journals, topic and records must agree: no two owners
    at a time, no message missed, and none read twice without need.

    With --brokers 3, one broker at a time is killed, frozen or restarted while a client joins or
    leaves: the engine must decide within 5 s after new partition leaders are elected.
    """
    from fairlead_proof.demo.report import print_report
    from fairlead_proof.demo.run import Demo, DemoOptions

    options = DemoOptions(
        duration,
        seed,
        bootstrap,
        keep,
        consumers,
        faults=_faults(brokers, rounds, bootstrap),
        freeze_s=freeze,
        gateways=_gateways(brokers, asked=gateway),
    )
    play_and_show(
        lambda screen: Demo(options, screen).run(),
        print_report,
        report=report,
        output=output,
        check=check,
    )


def _gateways(brokers: int, *, asked: bool) -> int:
    """Return how many gateways there are.

    Raises:
        UsageError: the flags do not go together.
    """
    if asked and brokers != 1:
        raise UsageError(
            "--gateway: not with --brokers 3, which plays another script.",
            remedy="Leave one of the two out.",
        )
    return 2 if asked else 0


def _faults(brokers: int, rounds: int, bootstrap: str | None) -> "tuple[BrokerFault, ...]":
    """Return the faults for the brokers; none for a single broker.

    Raises:
        UsageError: the flags do not allow these faults.
    """
    from fairlead.broker.cluster import CLUSTER_SIZES
    from fairlead_proof.demo.broker_faults import faults_of

    if brokers not in CLUSTER_SIZES:
        raise UsageError(f"--brokers: {brokers} is neither 1 nor 3.", remedy="Give 1 or 3.")
    if brokers == 1:
        return ()
    if bootstrap is not None:
        raise UsageError(
            "--bootstrap: not with --brokers 3, which kills and freezes brokers.",
            remedy="Leave it out: the demo then starts three brokers of its own.",
        )
    return faults_of(rounds)
