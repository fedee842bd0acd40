"""The record of an embedded RocketMQ in its folder, for the command that stops it."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from fairlead.broker.folder import default_data_dir
from fairlead.broker.processes import ProcessIdentity
from fairlead.embedded_rocketmq.cluster_plan import ClusterPlan, ServerState
from fairlead.errors import EnvironmentMissingError

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
    path = folder / _FILE
    try:
        return _plan(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise EnvironmentMissingError(
            f"rocketmq: {path} cannot be read ({error}).",
            remedy=f"Stop its servers by hand if any run, and remove {folder}.",
        ) from error


def write_plan(folder: Path, plan: ClusterPlan) -> None:
    """Replace the folder's record in one step."""
    staging = folder / f".{_FILE}.{os.getpid()}"
    document = {"v": _FORMAT, **asdict(plan)}
    staging.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    staging.replace(folder / _FILE)


def _plan(document: dict[str, Any]) -> ClusterPlan:
    if document["v"] != _FORMAT:
        raise ValueError(f"version {document['v']}, expected {_FORMAT}")
    servers = tuple(map(_server, document["servers"]))
    return ClusterPlan(str(document["version"]), str(document["cluster_name"]), servers)


def _server(row: dict[str, Any]) -> ServerState:
    process = row["process"]
    identity = None if process is None else ProcessIdentity(**process)
    return ServerState(str(row["name"]), row["role"], int(row["port"]), identity)
