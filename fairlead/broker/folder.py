"""A cluster's data folder before a start: who may start in it, its identity and its ports."""

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
    """Be the only one that starts a cluster in the folder, which is made if need be.

    Raises:
        RefusedError: another start is under way there.
        EnvironmentMissingError: the folder cannot be made.
    """
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        handle = (data_dir / ".start.lock").open("w")
    except OSError as error:
        raise EnvironmentMissingError(
            f"data-dir: {data_dir} cannot be written ({error.strerror}).",
            remedy="Give another --data-dir.",
        ) from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RefusedError(
                f"broker: another start is under way in {data_dir}.",
                remedy="Wait for it, or give another --data-dir.",
            ) from None
        yield


def new_state(brokers: int) -> ClusterState:
    """Return a cluster that never ran, with an identity of its own and no ports yet."""
    nodes = tuple(NodeState(number, port=0, controller_port=0) for number in range(1, brokers + 1))
    return ClusterState(_cluster_id(), nodes)


def with_ports(state: ClusterState, port: int | None, *, keep: bool) -> ClusterState:
    """Return the cluster with ports that are free now.

    Args:
        state: the cluster.
        port: what its first node must listen on, the next nodes on the next ports; None to choose.
        keep: use the recorded ports if all are free: clients that know them find it again.

    Raises:
        EnvironmentMissingError: a given port is taken.
    """
    count = len(state.nodes)
    recorded = [one for node in state.nodes for one in (node.port, node.controller_port)]
    if port is None and keep and all(one > 0 and is_free(one) for one in recorded):
        return state
    free = free_ports(2 * count)
    ports = free[:count] if port is None else _given_ports(port, count)
    # A controller's port is nobody's to know: it may change at each start.
    controllers = [one for one in free if one not in ports][:count]
    rows = zip(state.nodes, ports, controllers, strict=True)
    nodes = (replace(row, port=one, controller_port=other) for row, one, other in rows)
    return replace(state, nodes=tuple(nodes))


def _given_ports(port: int, count: int) -> tuple[int, ...]:
    ports = tuple(range(port, port + count))
    taken = [one for one in ports if not is_free(one)]
    if taken:
        raise EnvironmentMissingError(
            f"port: {LOOPBACK}:{taken[0]} is taken.",
            remedy="Stop what listens there, or give another --port.",
        )
    return ports


def _cluster_id() -> str:
    """Sixteen random bytes in 22 characters, as Kafka writes them."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode("ascii").rstrip("=")
        if not text.startswith("-"):  # Kafka's own command line would take it for an option
            return text


def default_data_dir() -> Path:
    """Return $XDG_STATE_HOME/fairlead/broker, or ~/.local/state/fairlead/broker."""
    named = os.environ.get("XDG_STATE_HOME")
    base = Path(named) if named else Path.home() / ".local" / "state"
    return base.absolute() / "fairlead" / "broker"
