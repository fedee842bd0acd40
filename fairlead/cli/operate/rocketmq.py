"""`fairlead rocketmq`: a real RocketMQ on this machine, for trials."""

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli.options import OutputOption
from fairlead.cli.render.output import OutputFormat
from fairlead.errors import ExitCode

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Start and stop an embedded RocketMQ for trials.",
)

DataDirOption = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        help="The folder of the cluster: data, logs and state.",
        show_default="~/.local/state/fairlead/rocketmq",
    ),
]


@app.command()
def start(
    *,
    version: Annotated[
        str, typer.Option("--version", help="Of RocketMQ's servers: 4.9.7 or 5.3.3.")
    ] = "5.3.3",
    brokers: Annotated[
        int, typer.Option("--brokers", help="The number of master brokers: 1 or 2.")
    ] = 1,
    name_servers: Annotated[
        int, typer.Option("--name-servers", help="The number of name servers: 1 or 2.")
    ] = 1,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=1,
            max=65_535,
            help="The first name server's port.",
            show_default="the last one, or a free one",
        ),
    ] = None,
    data_dir: DataDirOption = None,
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Run until Ctrl-C, then stop the servers.")
    ] = False,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Start name servers and brokers on loopback; return when they are ready.

    The data folder keeps the topics between starts. A running cluster stays as it is.
    """
    from fairlead.cli.operate.rocketmq_work import start_cluster
    from fairlead.embedded_rocketmq import ClusterPlan

    wanted = ClusterPlan.new(version, brokers, name_servers, "main")
    start_cluster(wanted, port, data_dir, foreground=foreground, output=output)


@app.command()
def stop(
    data_dir: DataDirOption = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0, help="Seconds until it is killed.")
    ] = 20.0,
) -> None:
    """Stop the cluster of a data folder."""
    from fairlead.cli.operate.rocketmq_work import stop_cluster

    stop_cluster(data_dir, timeout)


@app.command()
def status(data_dir: DataDirOption = None, output: OutputOption = OutputFormat.TABLE) -> None:
    """Show the cluster of a data folder; exit with 1 unless every server is in service."""
    from fairlead.cli.operate.rocketmq_work import show_cluster

    if not show_cluster(data_dir, output):
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)
