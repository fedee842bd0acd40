"""`fairlead broker`: a real Kafka on this machine, for trying out."""

import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

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
from fairlead.cli.options import (
    ConfigOption,
    OutputOption,
    ProfileOption,
    TopicPrefixOption,
    settings_of,
)
from fairlead.cli.output import OutputFormat, write_rows
from fairlead.errors import EnvironmentMissingError, ExitCode, RefusedError, UsageError
from fairlead.jars.progress import ConsoleProgress
from fairlead.settings import Settings, library_options
from fairlead.topics import BROKERS_CHOICE, create_topics, topic_specs
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
    brokers: Annotated[
        int | None, typer.Option("--brokers", help="How many nodes: 1 or 3.", show_default="1")
    ] = None,
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
    bootstrap: Annotated[
        str | None,
        typer.Option(
            "--bootstrap", help="Start nothing: make the topics on the cluster at host:port."
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

    The data folder keeps its topics from one start to the next. A cluster that runs there already
    is left as it is. With --bootstrap an existing cluster is used instead.
    """
    settings = settings_of(bootstrap, topic_prefix, profile, config)
    if bootstrap is not None:
        of_a_start = {"--brokers": brokers, "--port": port, "--data-dir": data_dir}
        given = [name for name, value in of_a_start.items() if value is not None]
        _require_alone([*given, *(["--foreground"] if foreground else [])])
        _use_existing(settings, output)
        return
    folder = (data_dir or default_data_dir()).absolute()
    nodes = 1 if brokers is None else brokers
    running = read_state(folder)
    if running is not None and running.is_running():
        _require_same_shape(running, nodes, port, folder)
        _say(f"a cluster of {nodes} runs already in {folder}")
        _finish_embedded(running.bootstrap, folder, settings, output)
        return
    progress = ConsoleProgress(Console(stderr=True))
    kafka = EmbeddedKafka(folder, nodes, port=port, detached=not foreground, progress=progress)
    _start_embedded(kafka, settings, output, foreground=foreground)


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


def _require_same_shape(
    running: ClusterState, brokers: int, port: int | None, folder: Path
) -> None:
    """Refuse to take a cluster that runs for the one that was asked for.

    Raises:
        RefusedError: it has another number of nodes, or its first node listens on another port.
    """
    remedy = "Stop it with: fairlead broker stop, or give another --data-dir."
    if len(running.nodes) != brokers:
        raise RefusedError(
            f"brokers: a cluster of {len(running.nodes)} runs in {folder}, not of {brokers}.",
            remedy=remedy,
        )
    if port is not None and running.nodes[0].port != port:
        raise RefusedError(
            f"port: the cluster that runs in {folder} listens on {running.bootstrap}, "
            f"not on {port}.",
            remedy=remedy,
        )


def _require_alone(given: list[str]) -> None:
    """Refuse what says how a cluster is started beside --bootstrap, which starts none.

    Raises:
        UsageError: something was given.
    """
    if given:
        raise UsageError(
            f"--bootstrap: an existing cluster is used, so {', '.join(given)} can say nothing.",
            remedy="Leave out one or the other.",
        )


def _use_existing(settings: Settings, output: OutputFormat) -> None:
    """Make the topics on a cluster that is not ours, as the settings say how to speak to it."""
    kafka = settings.kafka
    _say(f"nothing is started; the cluster at {kafka.bootstrap} is used")
    connection = {"bootstrap_servers": kafka.bootstrap_servers, **library_options(kafka)}
    _make_topics(connection, settings, kafka.replication_factor)
    _show(kafka.bootstrap, settings, None, output)


def _start_embedded(
    kafka: EmbeddedKafka, settings: Settings, output: OutputFormat, *, foreground: bool
) -> None:
    """Start the cluster and make its topics; in the foreground, stay until a signal."""
    # The handlers first: a Ctrl-C while the brokers start must not leave them behind.
    with (
        StopSignal() as stop,
        on_signals(_STOP_SIGNALS if foreground else (), lambda _: stop.set()),
    ):
        begun = time.monotonic()
        nodes = kafka.size
        _say(f"starting {nodes} {'node' if nodes == 1 else 'nodes'} in {kafka.data_dir}")
        kafka.start()
        _say(f"in service after {time.monotonic() - begun:.1f} s")
        try:
            _finish_embedded(kafka.bootstrap, kafka.data_dir, settings, output)
            if foreground:
                _serve(kafka, stop)
        finally:
            if foreground:
                kafka.stop()


def _finish_embedded(
    bootstrap: str, folder: Path, settings: Settings, output: OutputFormat
) -> None:
    """Make the topics; each has as many copies as the embedded cluster has nodes."""
    _make_topics({"bootstrap_servers": bootstrap}, settings, BROKERS_CHOICE)
    _show(bootstrap, settings, folder, output)


def _make_topics(
    connection: Mapping[str, Any], settings: Settings, replication_factor: int
) -> None:
    """Make the topics that are missing, and tell what differs in the others.

    Raises:
        EnvironmentMissingError: the cluster does not answer, or refuses to make a topic.
    """
    prefix = settings.kafka.topic_prefix
    report = create_topics(
        {**connection, "client_id": "fairlead-broker-start"},
        prefix,
        topic_specs(settings.topics),
        replication_factor,
    )
    _say(f"topics {prefix}*: {len(report.created)} made, {len(report.existing)} there")
    for one in report.differences:
        _say(f"warning: {one.topic}: {one.setting} is {one.found}, expected {one.expected}")


def _show(bootstrap: str, settings: Settings, folder: Path | None, output: OutputFormat) -> None:
    """Show what a user needs to go on; no folder: the cluster is somebody else's."""
    row = {
        "bootstrap": bootstrap,
        "topic_prefix": settings.kafka.topic_prefix,
        "data_dir": None if folder is None else str(folder),
    }
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
