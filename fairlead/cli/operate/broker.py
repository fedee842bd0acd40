"""`fairlead broker`: a real Kafka on this machine, for trials."""

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli.options import (
    ConfigOption,
    OutputOption,
    ProfileOption,
    TopicPrefixOption,
    settings_of,
)
from fairlead.cli.render.output import OutputFormat
from fairlead.errors import ExitCode, UsageError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Start and stop an embedded Kafka for trials.",
)

DataDirOption = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        help="The folder of the cluster: data, logs and state.",
        show_default="~/.local/state/fairlead/broker",
    ),
]


@app.command()
def start(
    *,
    brokers: Annotated[
        int | None, typer.Option("--brokers", help="The number of nodes: 1 or 3.", show_default="1")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=1,
            max=65_533,
            help="The first node's port; the others follow.",
            show_default="the last ones, or free ones",
        ),
    ] = None,
    data_dir: DataDirOption = None,
    bootstrap: Annotated[
        str | None,
        typer.Option(
            "--bootstrap", help="Start nothing: create the topics on the cluster at host:port."
        ),
    ] = None,
    topic_prefix: TopicPrefixOption = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Run until Ctrl-C, then stop the brokers.")
    ] = False,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Start a real Kafka (KRaft) on loopback, with Fairlead's topics; return when it is ready.

    The data folder keeps the topics between starts. A running cluster stays as it is. With
    --bootstrap the command uses an existing cluster instead.
    """
    from fairlead.cli.operate.broker_work import start_cluster, use_existing

    settings = settings_of(bootstrap, topic_prefix, profile, config)
    if bootstrap is None:
        start_cluster(settings, brokers, port, data_dir, foreground=foreground, output=output)
        return
    of_a_start = {"--brokers": brokers, "--port": port, "--data-dir": data_dir}
    given = [name for name, value in of_a_start.items() if value is not None]
    _require_alone([*given, *(["--foreground"] if foreground else [])])
    use_existing(settings, output)


@app.command()
def stop(
    data_dir: DataDirOption = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0, help="Seconds until it is killed.")
    ] = 20.0,
) -> None:
    """Stop the cluster of a data folder."""
    from fairlead.cli.operate.broker_work import stop_cluster

    stop_cluster(data_dir, timeout)


@app.command()
def status(data_dir: DataDirOption = None, output: OutputOption = OutputFormat.TABLE) -> None:
    """Show the cluster of a data folder; exit with 1 unless every node is in service."""
    from fairlead.cli.operate.broker_work import show_cluster

    if not show_cluster(data_dir, output):
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)


def _require_alone(given: list[str]) -> None:
    """Refuse options of a start beside --bootstrap, which starts no cluster.

    Raises:
        UsageError: an option was given.
    """
    if given:
        raise UsageError(
            f"--bootstrap: it uses an existing cluster, so {', '.join(given)} has no effect.",
            remedy="Leave out one or the other.",
        )
