"""Starts, stops and shows the embedded cluster of `fairlead broker`, and creates its topics."""

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
from fairlead.cli.operate.embedded_cluster import run_cluster, state_of, stop_and_tell
from fairlead.cli.render.output import OutputFormat, write_rows
from fairlead.counts import counted
from fairlead.errors import EnvironmentMissingError, RefusedError
from fairlead.jars.progress import ConsoleProgress
from fairlead.kafka.connection import library_options
from fairlead.kafka.topic_creation import BROKERS_CHOICE, create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import Settings

__all__ = ["show_cluster", "start_cluster", "stop_cluster", "use_existing"]


def start_cluster(
    settings: Settings,
    brokers: int | None,
    port: int | None,
    data_dir: Path | None,
    *,
    foreground: bool,
    output: OutputFormat,
) -> None:
    """Start a cluster with Fairlead's topics; one that runs in the folder stays as it is.

    Raises:
        RefusedError: another cluster runs there.
        EnvironmentMissingError: the cluster does not start.
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
    """Stop the cluster of a folder and report how it ended."""
    folder = (data_dir or default_data_dir()).absolute()
    stop_and_tell(folder, timeout, stop_recorded, _say)


def show_cluster(data_dir: Path | None, output: OutputFormat) -> bool:
    """Show the nodes of a folder's cluster; return whether all are in service."""
    folder = (data_dir or default_data_dir()).absolute()
    cluster = read_status(folder)
    rows = [] if cluster is None else _status_rows(cluster)
    write_rows(rows, ("node", "address", "state", "pid", "log"), output)
    if cluster is None:
        _say(f"there is no cluster in {folder}")
    return bool(rows) and all(row["state"] == "in_service" for row in rows)


def _require_same_shape(
    running: ClusterState, brokers: int, port: int | None, folder: Path
) -> None:
    """Require that the running cluster is as asked for.

    Raises:
        RefusedError: it has another number of nodes, or its first node has another port.
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
    """Create the topics on an existing cluster, over the connection of the settings."""
    kafka = settings.kafka
    _say(f"using the cluster at {kafka.bootstrap}; nothing is started")
    connection = {"bootstrap_servers": kafka.bootstrap_servers, **library_options(kafka)}
    _make_topics(connection, settings, kafka.replication_factor)
    _show(kafka.bootstrap, settings, None, output)


def _start_embedded(
    kafka: EmbeddedKafka, settings: Settings, output: OutputFormat, *, foreground: bool
) -> None:
    """Start the cluster and create its topics; in the foreground, stay until a signal."""

    def finish() -> None:
        _finish_embedded(kafka.bootstrap, kafka.data_dir, settings, output)

    def ended() -> EnvironmentMissingError | None:
        node = next((node for node in kafka.nodes if not kafka.is_running(node)), None)
        if node is None:
            return None
        return EnvironmentMissingError(
            f"broker: node {node} ended by itself.", remedy=f"Read {kafka.log_file(node)}."
        )

    begins = f"starting {counted(kafka.size, 'node')} in {kafka.data_dir}"
    run_cluster(kafka, begins, _say, finish, ended, foreground=foreground)


def _finish_embedded(
    bootstrap: str, folder: Path, settings: Settings, output: OutputFormat
) -> None:
    """Create the topics, with as many replicas as the embedded cluster has nodes."""
    _make_topics({"bootstrap_servers": bootstrap}, settings, BROKERS_CHOICE)
    _show(bootstrap, settings, folder, output)


def _make_topics(
    connection: Mapping[str, Any], settings: Settings, replication_factor: int
) -> None:
    """Create missing topics, and report what differs in the others.

    Raises:
        EnvironmentMissingError: the cluster does not answer, or refuses to create a topic.
    """
    prefix = settings.kafka.topic_prefix
    report = create_topics(
        {**connection, "client_id": "fairlead-broker-start"},
        prefix,
        topic_specs(settings.topics),
        replication_factor,
    )
    _say(f"topics {prefix}*: {len(report.created)} created, {len(report.existing)} exist")
    for one in report.differences:
        _say(f"warning: {one.topic}: {one.setting} is {one.found}, expected {one.expected}")


def _show(bootstrap: str, settings: Settings, folder: Path | None, output: OutputFormat) -> None:
    """Show the cluster's address; no folder: the cluster is somebody else's."""
    row = {
        "bootstrap": bootstrap,
        "topic_prefix": settings.kafka.topic_prefix,
        "data_dir": None if folder is None else str(folder),
    }
    write_rows([row], ("bootstrap", "topic_prefix", "data_dir"), output)


def _status_rows(cluster: ClusterStatus) -> list[dict[str, object]]:
    return [
        {
            "node": node.node_id,
            "address": node.address,
            "state": state_of(running=node.running, in_service=node.in_service),
            "pid": node.pid if node.running else None,
            "log": str(node.log_file),
        }
        for node in cluster.nodes
    ]


def _say(text: str) -> None:
    typer.echo(f"broker: {text}", err=True)
