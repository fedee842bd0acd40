"""What `fairlead broker` does: an embedded cluster started, stopped and shown, with the topics."""

import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
from fairlead.cli.render.output import OutputFormat, write_rows
from fairlead.errors import EnvironmentMissingError, RefusedError
from fairlead.jars.progress import ConsoleProgress
from fairlead.kafka.connection import library_options
from fairlead.kafka.topic_creation import BROKERS_CHOICE, create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import Settings
from fairlead.stop_signal import StopSignal, on_signals

__all__ = ["show_cluster", "start_cluster", "stop_cluster", "use_existing"]

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LOOK_SECONDS = 0.5


def start_cluster(
    settings: Settings,
    brokers: int | None,
    port: int | None,
    data_dir: Path | None,
    *,
    foreground: bool,
    output: OutputFormat,
) -> None:
    """Start a cluster with Fairlead's topics, or leave the one that runs in the folder as it is.

    Raises:
        RefusedError: another one runs there.
        EnvironmentMissingError: it does not start.
    """
    folder = (data_dir or default_data_dir()).absolute()
    nodes = 1 if brokers is None else brokers
    running = read_state(folder)
    if running is not None and running.is_running():
        _require_same_shape(running, nodes, port, folder)
        _say(f"a cluster of {nodes} runs already in {folder}")
        for node in running.nodes:
            if not node.is_running():
                back = "fairlead broker stop, then start, brings it back"
                _say(f"node {node.node_id} does not run: {back}")
        _finish_embedded(running.bootstrap, folder, settings, output)
        return
    progress = ConsoleProgress(Console(stderr=True))
    kafka = EmbeddedKafka(folder, nodes, port=port, detached=not foreground, progress=progress)
    _start_embedded(kafka, settings, output, foreground=foreground)


def stop_cluster(data_dir: Path | None, timeout: float) -> None:
    """Stop the cluster of a folder, and say what became of it."""
    folder = (data_dir or default_data_dir()).absolute()
    begun = time.monotonic()
    killed = stop_recorded(folder, timeout)
    if killed is None:
        _say(f"no cluster runs in {folder}")
        return
    for pid in killed:
        _say(f"process {pid} did not stop within {timeout:.0f} s and was killed")
    _say(f"stopped in {time.monotonic() - begun:.1f} s; its topics stay in {folder}")


def show_cluster(data_dir: Path | None, output: OutputFormat) -> bool:
    """Show the nodes of the cluster of a folder; return whether every one is in service."""
    folder = (data_dir or default_data_dir()).absolute()
    cluster = read_status(folder)
    rows = [] if cluster is None else _status_rows(cluster)
    write_rows(rows, ("node", "address", "state", "pid", "log"), output)
    if cluster is None:
        _say(f"there never was a cluster in {folder}")
    return bool(rows) and all(row["state"] == "in service" for row in rows)


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


def use_existing(settings: Settings, output: OutputFormat) -> None:
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
