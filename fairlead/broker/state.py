"""The record of a cluster in its data folder, so that another command can find and stop it."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from fairlead.broker.ports import LOOPBACK
from fairlead.broker.processes import ProcessIdentity
from fairlead.broker.record_file import read_record, write_record

_FILE: Final = "cluster.json"
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class NodeState:
    """One node: broker and controller in one process.

    Attributes:
        node_id: 1, 2, 3.
        port: the port for clients.
        controller_port: the port for the other controllers.
        process: the process that runs it, or ran it last; None before its first start.
    """

    node_id: int
    port: int
    controller_port: int
    process: ProcessIdentity | None = None

    def is_running(self) -> bool:
        """Tell whether the node's process lives."""
        return self.process is not None and self.process.is_alive()


@dataclass(frozen=True, slots=True)
class ClusterState:
    """A cluster.

    Attributes:
        cluster_id: the id with which the nodes' folders are formatted.
        nodes: one or three nodes, in order of their ids.
    """

    cluster_id: str
    nodes: tuple[NodeState, ...]

    @property
    def bootstrap(self) -> str:
        """The address for clients: host:port of each node, comma separated."""
        return ",".join(f"{LOOPBACK}:{node.port}" for node in self.nodes)

    def is_running(self) -> bool:
        """Tell whether any node's process lives."""
        return any(node.is_running() for node in self.nodes)

    def processes(self) -> list[ProcessIdentity]:
        """The processes that run the nodes, or ran them last."""
        return [node.process for node in self.nodes if node.process is not None]


def read_state(data_dir: Path) -> ClusterState | None:
    """Return the data folder's record, or None if there never was a cluster in it.

    Raises:
        EnvironmentMissingError: the file cannot be parsed.
    """
    return read_record(data_dir / _FILE, _cluster, "broker", "brokers")


def write_state(data_dir: Path, state: ClusterState) -> None:
    """Replace the data folder's record, in one step."""
    document: dict[str, Any] = {"v": _VERSION, "cluster_id": state.cluster_id}
    document |= {"bootstrap": state.bootstrap, "nodes": [asdict(node) for node in state.nodes]}
    write_record(data_dir / _FILE, document)


def _cluster(document: dict[str, Any]) -> ClusterState:
    if document["v"] != _VERSION:
        raise ValueError(f"version {document['v']}, expected {_VERSION}")
    return ClusterState(str(document["cluster_id"]), tuple(map(_node, document["nodes"])))


def _node(row: dict[str, Any]) -> NodeState:
    process = row["process"]
    identity = ProcessIdentity(**process) if process is not None else None
    return NodeState(int(row["node_id"]), int(row["port"]), int(row["controller_port"]), identity)
