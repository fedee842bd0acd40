"""Finds and stops a cluster that another process has started, from the record in its folder."""

from dataclasses import dataclass
from pathlib import Path

from fairlead.broker.cluster import STOP_SECONDS_MAX
from fairlead.broker.ports import LOOPBACK
from fairlead.broker.processes import quorum_of, terminate
from fairlead.broker.readiness import nodes_seen_by
from fairlead.broker.state import read_state


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """One node, seen from outside.

    Attributes:
        node_id: 1, 2, 3.
        address: host:port for clients.
        pid: the process that runs it or ran it last; None if it never ran.
        running: the process lives.
        in_service: it answers, and reports that it takes part in its cluster.
        log_file: its log file.
    """

    node_id: int
    address: str
    pid: int | None
    running: bool
    in_service: bool
    log_file: Path


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """A recorded cluster and the status of its nodes."""

    bootstrap: str
    nodes: tuple[NodeStatus, ...]

    @property
    def running(self) -> bool:
        """Whether any node's process lives."""
        return any(node.running for node in self.nodes)


def read_status(data_dir: Path) -> ClusterStatus | None:
    """Return the status of the folder's cluster; None if there never was one."""
    state = read_state(data_dir)
    if state is None:
        return None
    rows = []
    for node in state.nodes:
        running = node.is_running()
        in_service = running and node.node_id in nodes_seen_by(node.port)
        pid = node.process.pid if node.process is not None else None
        log_file = data_dir / f"node-{node.node_id}" / "broker.log"
        address = f"{LOOPBACK}:{node.port}"
        rows.append(NodeStatus(node.node_id, address, pid, running, in_service, log_file))
    return ClusterStatus(state.bootstrap, tuple(rows))


def stop_recorded(data_dir: Path, timeout_s: float = STOP_SECONDS_MAX) -> tuple[int, ...] | None:
    """Stop the folder's cluster, whoever started it.

    Args:
        data_dir: the cluster's folder.
        timeout_s: the time limit for all nodes together; after it they are killed.

    Returns:
        The pids that had to be killed; None if nothing ran.
    """
    state = read_state(data_dir)
    if state is None or not state.is_running():
        return None
    return terminate(state.processes(), timeout_s, quorum=quorum_of(len(state.nodes)))
