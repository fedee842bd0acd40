"""Starts, stops and shows the embedded cluster of `fairlead rocketmq`."""

import signal
import time
from pathlib import Path

import typer
from rich.console import Console

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
from fairlead.stop_signal import StopSignal, on_signals

__all__ = ["show_cluster", "start_cluster", "stop_cluster"]

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LOOK_SECONDS = 0.5


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
    begun = time.monotonic()
    killed = stop_servers(folder, timeout)
    if killed is None:
        _say(f"no cluster runs in {folder}")
        return
    for pid in killed:
        _say(f"process {pid} did not stop within {timeout:.0f} s and was killed")
    _say(f"stopped in {time.monotonic() - begun:.1f} s; its topics stay in {folder}")


def show_cluster(data_dir: Path | None, output: OutputFormat) -> bool:
    """Show the servers of a folder's cluster; return whether all are in service."""
    folder = (data_dir or default_folder()).absolute()
    rows = [
        {
            "server": each.name,
            "address": each.address,
            "state": "in_service"
            if each.in_service
            else "not_ready"
            if each.running
            else "stopped",
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
    # The handlers come first: Ctrl-C during the start must not leave servers behind.
    with (
        StopSignal() as stop,
        on_signals(_STOP_SIGNALS if foreground else (), lambda _: stop.set()),
    ):
        begun = time.monotonic()
        _say(f"starting {counted(servers, 'server')} in {cluster.folder}")
        cluster.start()
        _say(f"in service after {time.monotonic() - begun:.1f} s")
        try:
            _show(cluster.plan, cluster.folder, output)
            if foreground:
                _serve(cluster, stop)
        finally:
            if foreground:
                cluster.stop()


def _show(plan: ClusterPlan, folder: Path, output: OutputFormat) -> None:
    row = {
        "namesrv": plan.namesrv,
        "cluster_name": plan.cluster_name,
        "version": plan.version,
        "data_dir": str(folder),
    }
    write_rows([row], ("namesrv", "cluster_name", "version", "data_dir"), output)


def _serve(cluster: EmbeddedRocketMQ, stop: StopSignal) -> None:
    """Wait for a signal, or for the end of a server.

    Raises:
        EnvironmentMissingError: a server ended.
    """
    _say("running; Ctrl-C stops it")
    while not stop.wait(_LOOK_SECONDS):
        ended = [name for name in cluster.servers if not cluster.is_running(name)]
        if ended:
            raise EnvironmentMissingError(
                f"rocketmq: {ended[0]} ended by itself.",
                remedy=f"Read {cluster.log_file(ended[0])}.",
            )
    _say("stopping")


def _say(text: str) -> None:
    typer.echo(f"rocketmq: {text}", err=True)
