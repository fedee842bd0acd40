"""Starts, stops and shows the embedded cluster of `fairlead rocketmq`."""

from pathlib import Path

import typer
from rich.console import Console

from fairlead.cli.operate.embedded_cluster import run_cluster, state_of, stop_and_tell
from fairlead.cli.render.output import OutputFormat, write_rows
from fairlead.counts import counted
from fairlead.embedded_rocketmq import (
    ClusterPlan,
    EmbeddedRocketMQ,
    default_folder,
    read_plan,
    read_servers,
    stop_servers,
)
from fairlead.errors import EnvironmentMissingError, RefusedError
from fairlead.jars.progress import ConsoleProgress

__all__ = ["show_cluster", "start_cluster", "stop_cluster"]


def start_cluster(
    wanted: ClusterPlan,
    port: int | None,
    data_dir: Path | None,
    *,
    foreground: bool,
    output: OutputFormat,
) -> None:
    """Start a cluster; one that runs in the folder stays as it is.

    Raises:
        RefusedError: another cluster runs there.
        EnvironmentMissingError: the cluster does not start.
    """
    folder = (data_dir or default_folder()).absolute()
    running = read_plan(folder)
    if running is not None and running.is_running:
        _require_same(running, wanted, port, folder)
        _say(f"a cluster runs already in {folder}")
        for each in running.servers:
            if not each.is_running:
                back = "fairlead rocketmq stop, then start, brings it back"
                _say(f"{each.name} does not run: {back}")
        _show(running, folder, output)
        return
    cluster = EmbeddedRocketMQ(
        folder,
        version=wanted.version,
        brokers=len(wanted.brokers),
        name_servers=len(wanted.name_servers),
        port=port,
        detached=not foreground,
        progress=ConsoleProgress(Console(stderr=True)),
    )
    _start(cluster, len(wanted.servers), output, foreground=foreground)


def stop_cluster(data_dir: Path | None, timeout: float) -> None:
    """Stop the cluster of a folder and report how it ended."""
    folder = (data_dir or default_folder()).absolute()
    stop_and_tell(folder, timeout, stop_servers, _say)


def show_cluster(data_dir: Path | None, output: OutputFormat) -> bool:
    """Show the servers of a folder's cluster; return whether all are in service."""
    folder = (data_dir or default_folder()).absolute()
    rows = [
        {
            "server": each.name,
            "address": each.address,
            "state": state_of(running=each.running, in_service=each.in_service),
            "pid": each.pid if each.running else None,
            "log": str(each.log_file),
        }
        for each in read_servers(folder)
    ]
    write_rows(rows, ("server", "address", "state", "pid", "log"), output)
    if not rows:
        _say(f"there is no cluster in {folder}")
    return bool(rows) and all(row["state"] == "in_service" for row in rows)


def _require_same(
    running: ClusterPlan, wanted: ClusterPlan, port: int | None, folder: Path
) -> None:
    remedy = "Stop it with: fairlead rocketmq stop, or give another --data-dir."
    for option, is_so, is_wanted in (
        ("version", running.version, wanted.version),
        ("brokers", len(running.brokers), len(wanted.brokers)),
        ("name-servers", len(running.name_servers), len(wanted.name_servers)),
        ("port", running.servers[0].port, port or running.servers[0].port),
    ):
        if is_so != is_wanted:
            raise RefusedError(
                f"{option}: the cluster that runs in {folder} has {is_so}, not {is_wanted}.",
                remedy=remedy,
            )


def _start(
    cluster: EmbeddedRocketMQ, servers: int, output: OutputFormat, *, foreground: bool
) -> None:
    def ended() -> EnvironmentMissingError | None:
        name = next((each for each in cluster.servers if not cluster.is_running(each)), None)
        if name is None:
            return None
        return EnvironmentMissingError(
            f"rocketmq: {name} ended by itself.", remedy=f"Read {cluster.log_file(name)}."
        )

    def finish() -> None:
        _show(cluster.plan, cluster.folder, output)

    begins = f"starting {counted(servers, 'server')} in {cluster.folder}"
    run_cluster(cluster, begins, _say, finish, ended, foreground=foreground)


def _show(plan: ClusterPlan, folder: Path, output: OutputFormat) -> None:
    row = {
        "namesrv": plan.namesrv,
        "cluster_name": plan.cluster_name,
        "version": plan.version,
        "data_dir": str(folder),
    }
    write_rows([row], ("namesrv", "cluster_name", "version", "data_dir"), output)


def _say(text: str) -> None:
    typer.echo(f"rocketmq: {text}", err=True)
