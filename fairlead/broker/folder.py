"""Prepares a cluster's data folder for a start: the lock, the cluster's identity and its ports."""

import base64
import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fairlead.broker.ports import LOOPBACK, free_ports, is_free
from fairlead.broker.state import ClusterState, NodeState
from fairlead.errors import EnvironmentMissingError, RefusedError


@contextmanager
def sole_starter(data_dir: Path) -> Iterator[None]:
    """Hold the folder's lock for a start; create the folder if it is missing.

    Raises:
        RefusedError: another start is in progress there.
        EnvironmentMissingError: the folder cannot be created.
    """
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        handle = (data_dir / ".start.lock").open("w")
    except OSError as error:
        raise EnvironmentMissingError(
            f"data-dir: {data_dir} cannot be written ({error.strerror}).",
            remedy="Choose another --data-dir.",
        ) from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RefusedError(
                f"broker: another start is in progress in {data_dir}.",
                remedy="Wait for it, or choose another --data-dir.",
            ) from None
        yield


def new_state(brokers: int) -> ClusterState:
    """Return a new cluster with its own identity and no ports yet."""
    nodes = tuple(NodeState(number, port=0, controller_port=0) for number in range(1, brokers + 1))
    return ClusterState(_cluster_id(), nodes)


def with_ports(state: ClusterState, port: int | None, *, keep: bool) -> ClusterState:
    """Return the cluster with ports that are free now.

    Args:
        state: the cluster.
        port: the first node's port, the next nodes get the next ports; None: any.
        keep: use the recorded ports if all are free, so that clients find the cluster again.

    Raises:
        EnvironmentMissingError: a given port is in use.
    """
    count = len(state.nodes)
    recorded = [one for node in state.nodes for one in (node.port, node.controller_port)]
    if port is None and keep and all(one > 0 and is_free(one) for one in recorded):
        return state
    free = free_ports(2 * count)
    ports = free[:count] if port is None else _given_ports(port, count)
    # Nobody needs to know a controller's port, so it may change at each start.
    controllers = [one for one in free if one not in ports][:count]
    rows = zip(state.nodes, ports, controllers, strict=True)
    nodes = (replace(row, port=one, controller_port=other) for row, one, other in rows)
    return replace(state, nodes=tuple(nodes))


def _given_ports(port: int, count: int) -> tuple[int, ...]:
    ports = tuple(range(port, port + count))
    taken = [one for one in ports if not is_free(one)]
    if taken:
        raise EnvironmentMissingError(
            f"port: {LOOPBACK}:{taken[0]} is in use.",
            remedy="Stop the program that listens there, or choose another --port.",
        )
    return ports


def _cluster_id() -> str:
    """Return sixteen random bytes in 22 characters, in Kafka's form."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode("ascii").rstrip("=")
        if not text.startswith("-"):  # Kafka's command line would parse it as an option
            return text


def default_data_dir() -> Path:
    """Return $XDG_STATE_HOME/fairlead/broker, or ~/.local/state/fairlead/broker."""
    named = os.environ.get("XDG_STATE_HOME")
    base = Path(named) if named else Path.home() / ".local" / "state"
    return base.absolute() / "fairlead" / "broker"
