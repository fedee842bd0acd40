"""`fairlead broker`: a real Kafka on this machine, for trying out."""

import signal
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fairlead.broker import (
    ClusterState,
    ClusterStatus,
    EmbeddedKafka,
    default_data_dir,
    read_state,
    read_status,
    stop_recorded,
)
from fairlead.cli.options import ConfigOption, OutputOption, ProfileOption, TopicPrefixOption
from fairlead.cli.output import OutputFormat, write_rows
from fairlead.errors import EnvironmentMissingError, ExitCode, RefusedError
from fairlead.jars.progress import ConsoleProgress
from fairlead.settings import Settings, load_settings
from fairlead.topics import create_topics, topic_specs
from streaming.stopping import StopSignal, on_signals

app = typer.Typer(no_args_is_help=True, help="Start and stop an embedded Kafka for trying out.")

DataDirOption = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        help="Where the cluster keeps its data, its logs and what it is.",
        show_default="~/.local/state/fairlead/broker",
    ),
]
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LOOK_SECONDS = 0.5


@app.command()
def start(
    *,
    brokers: Annotated[int, typer.Option("--brokers", help="How many nodes: 1 or 3.")] = 1,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=1,
            max=65_533,
            help="Of the first node; the others follow.",
            show_default="the last ones, or free ones",
        ),
    ] = None,
    data_dir: DataDirOption = None,
    topic_prefix: TopicPrefixOption = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Run until Ctrl-C, then stop the brokers.")
    ] = False,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Start a real Kafka (KRaft) on loopback, with Fairlead's topics; return when it is ready.

    The data folder keeps its topics from one start to the next. A cluster that runs there already
    is left as it is.
    """
    settings = load_settings(
        profile=profile, files=config or (), overrides={"kafka.topic_prefix": topic_prefix}
    )
    folder = (data_dir or default_data_dir()).absolute()
    running = read_state(folder)
    if running is not None and running.is_running():
        _require_same_size(running, brokers, folder)
        _say(f"a cluster of {brokers} runs already in {folder}")
        _finish_start(running.bootstrap, folder, settings, output)
        return
    progress = ConsoleProgress(Console(stderr=True))
    kafka = EmbeddedKafka(folder, brokers, port=port, detached=not foreground, progress=progress)
    # The handlers first: a Ctrl-C while the brokers start must not leave them behind.
    with (
        StopSignal() as stop,
        on_signals(_STOP_SIGNALS if foreground else (), lambda _: stop.set()),
    ):
        begun = time.monotonic()
        _say(f"starting {brokers} {'node' if brokers == 1 else 'nodes'} in {folder}")
        kafka.start()
        _say(f"in service after {time.monotonic() - begun:.1f} s")
        try:
            _finish_start(kafka.bootstrap, folder, settings, output)
            if foreground:
                _serve(kafka, stop)
        finally:
            if foreground:
                kafka.stop()


@app.command()
def stop(
    data_dir: DataDirOption = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0, help="Seconds until it is killed.")
    ] = 20.0,
) -> None:
    """Stop the cluster of a data folder, whoever started it."""
    folder = (data_dir or default_data_dir()).absolute()
    begun = time.monotonic()
    killed = stop_recorded(folder, timeout)
    if killed is None:
        _say(f"no cluster runs in {folder}")
        return
    for pid in killed:
        _say(f"process {pid} did not stop within {timeout:.0f} s and was killed")
    _say(f"stopped in {time.monotonic() - begun:.1f} s; its topics stay in {folder}")


@app.command()
def status(data_dir: DataDirOption = None, output: OutputOption = OutputFormat.TABLE) -> None:
    """Show the cluster of a data folder; exit with 1 unless every node is in service."""
    folder = (data_dir or default_data_dir()).absolute()
    cluster = read_status(folder)
    rows = [] if cluster is None else _status_rows(cluster)
    write_rows(rows, ("node", "address", "state", "pid", "log"), output)
    if any(row["state"] != "in service" for row in rows) or not rows:
        if cluster is None:
            _say(f"there never was a cluster in {folder}")
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)


def _require_same_size(running: ClusterState, brokers: int, folder: Path) -> None:
    if len(running.nodes) != brokers:
        raise RefusedError(
            f"brokers: a cluster of {len(running.nodes)} runs in {folder}, not of {brokers}.",
            remedy="Stop it with: fairlead broker stop, or give another --data-dir.",
        )


def _finish_start(bootstrap: str, folder: Path, settings: Settings, output: OutputFormat) -> None:
    """Make the topics and show what a user needs to go on."""
    prefix = settings.kafka.topic_prefix
    connection = {"bootstrap_servers": bootstrap, "client_id": "fairlead-broker-start"}
    report = create_topics(connection, prefix, topic_specs(settings.topics))
    _say(f"topics {prefix}*: {len(report.created)} made, {len(report.existing)} there")
    for one in report.differences:
        _say(f"warning: {one.topic}: {one.setting} is {one.found}, expected {one.expected}")
    row = {"bootstrap": bootstrap, "topic_prefix": prefix, "data_dir": str(folder)}
    write_rows([row], ("bootstrap", "topic_prefix", "data_dir"), output)


def _serve(kafka: EmbeddedKafka, stop: StopSignal) -> None:
    """Wait for a signal, or for a node to end by itself.

    Raises:
        EnvironmentMissingError: a node ended.
    """
    _say("running; Ctrl-C stops it")
    while not stop.wait(_LOOK_SECONDS):
        ended = [node for node in kafka.nodes if not kafka.is_running(node)]
        if ended:
            raise EnvironmentMissingError(
                f"broker: node {ended[0]} ended by itself.",
                remedy=f"Read {kafka.log_file(ended[0])}.",
            )
    _say("stopping")


def _status_rows(cluster: ClusterStatus) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for node in cluster.nodes:
        state = "in service" if node.in_service else "not ready" if node.running else "stopped"
        rows.append(
            {
                "node": node.node_id,
                "address": node.address,
                "state": state,
                "pid": node.pid if node.running else None,
                "log": str(node.log_file),
            }
        )
    return rows


def _say(text: str) -> None:
    typer.echo(f"broker: {text}", err=True)
