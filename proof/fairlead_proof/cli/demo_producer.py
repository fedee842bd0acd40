"""``fairlead proof demo-producer``: slows one broker and kills one under a producer."""

from dataclasses import asdict
from typing import Annotated

import typer

from fairlead.cli.interruption import stop_once_on_signals
from fairlead.cli.options import OutputOption
from fairlead.cli.render.output import OutputFormat, write_document
from fairlead.errors import ExitCode


def demo_producer(
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Make the verdict the exit code: 1 if it is negative.")
    ] = False,
    trouble: Annotated[
        float, typer.Option("--trouble", min=1, help="Seconds that each trouble is judged for.")
    ] = 8.0,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Send through three brokers of its own; make one slow, kill another, and judge.

    The producer sends 200 messages a second. Every message must be acknowledged and stand where it
    was said to stand; a broker in trouble gets next to none; afterwards all share the load again.
    """
    from fairlead_proof.demo.run import make_console
    from fairlead_proof.demo.sending_run import ProducerDemo
    from fairlead_proof.demo.sending_table import SendingScreen, print_sending_report

    console = make_console(to_stderr=output is not OutputFormat.TABLE)
    stop_once_on_signals()
    try:
        report = ProducerDemo(trouble, SendingScreen(console)).run()
    except KeyboardInterrupt:
        typer.echo("interrupted; everything was stopped and removed", err=True)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    print_sending_report(report, console)
    if output is not OutputFormat.TABLE:
        write_document(
            {
                "passed": report.passed,
                "messages": report.messages,
                "attempts": {str(number): count for number, count in report.attempts.items()},
                "took_s": round(report.took_s, 1),
                "checks": [asdict(check) for check in report.checks],
            },
            output,
        )
    if check and not report.passed:
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)
