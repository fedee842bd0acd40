"""``fairlead proof demo-producer``: slows one broker, kills another, checks the producer."""

from dataclasses import asdict
from typing import Annotated

import typer

from fairlead.cli.interruption import stop_once_on_signals
from fairlead.cli.options import OutputOption
from fairlead.cli.render.output import OutputFormat, write_document
from fairlead.errors import ExitCode


def demo_producer(
    *,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 if a check fails.")] = False,
    trouble: Annotated[
        float, typer.Option("--trouble", min=1, help="Seconds each trouble lasts and is measured.")
    ] = 8.0,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Send through three brokers started for this; make one slow, kill another, and check.

    The producer sends 200 messages a second. Every message must be acknowledged and be at the
    offset it was acknowledged with; a broker in trouble gets almost none; afterwards all get their
    share.
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
