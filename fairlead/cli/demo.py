"""``fairlead demo``: the main job on real parts, broken on purpose and judged."""

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli.interruption import stop_once_on_signals
from fairlead.cli.options import OutputOption, OwnBrokerOption
from fairlead.cli.output import OutputFormat, write_document
from fairlead.demo.consumers import Consumers
from fairlead.errors import ExitCode


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
    consumers: Annotated[
        Consumers,
        typer.Option(
            "--consumers",
            help="How clients consume: in a loop of their own, by a listener (push), or mixed.",
        ),
    ] = Consumers.MIXED,
    report: Annotated[
        Path, typer.Option("--report", help="Where the verdict is written as JSON.")
    ] = Path("report.json"),
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Run the main job on a real broker, break things, and judge it.

    Six consumer processes share 32 queues; two join, one leaves, one is killed, partitions grow to
    48, the engine is killed with a handover open. Then journals, source topic and the engine's
    records are compared: no queue with two owners, no message missed, none read twice without need.
    """
    from fairlead.demo.report import print_report, write_report
    from fairlead.demo.run import Demo, DemoOptions, make_console
    from fairlead.demo.screen import Screen

    console = make_console(to_stderr=output is not OutputFormat.TABLE)
    options = DemoOptions(duration, seed, bootstrap, keep, consumers)
    stop_once_on_signals()
    try:
        with Screen(console) as screen:
            outcome = Demo(options, screen).run()
    except KeyboardInterrupt:
        typer.echo("interrupted; everything was stopped and removed", err=True)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    write_report(outcome, report)
    print_report(outcome, console)
    console.print(f"report: {report}", markup=False, soft_wrap=True)
    if output is not OutputFormat.TABLE:
        write_document(outcome.document(), output)
    if check and not outcome.passed:
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)
