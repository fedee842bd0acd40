"""The record of an embedded RocketMQ in its folder, for the command that stops it."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from fairlead.broker.folder import default_data_dir
from fairlead.broker.processes import ProcessIdentity
from fairlead.broker.record_file import read_record, write_record
from fairlead.embedded_rocketmq.cluster_plan import ClusterPlan, ServerState

__all__ = ["default_folder", "read_plan", "write_plan"]

_FILE: Final = "rocketmq.json"
_FORMAT: Final = 1


def default_folder() -> Path:
    """Return the folder beside the embedded Kafka's."""
    return default_data_dir().with_name("rocketmq")


def read_plan(folder: Path) -> ClusterPlan | None:
    """Return the folder's cluster; None: there never was one.

    Raises:
        EnvironmentMissingError: the file cannot be read.
    """
    return read_record(folder / _FILE, _plan, "rocketmq", "servers")


def write_plan(folder: Path, plan: ClusterPlan) -> None:
    """Replace the folder's record in one step."""
    write_record(folder / _FILE, {"v": _FORMAT, **asdict(plan)})


def _plan(document: dict[str, Any]) -> ClusterPlan:
    if document["v"] != _FORMAT:
        raise ValueError(f"version {document['v']}, expected {_FORMAT}")
    servers = tuple(map(_server, document["servers"]))
    return ClusterPlan(str(document["version"]), str(document["cluster_name"]), servers)


def _server(row: dict[str, Any]) -> ServerState:
    process = row["process"]
    identity = None if process is None else ProcessIdentity(**process)
    return ServerState(str(row["name"]), row["role"], int(row["port"]), identity)
