"""EmbeddedKafka: a real Kafka on loopback to start, break on purpose, repair and stop."""

import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from fairlead.broker.folder import new_state, sole_starter, with_ports
from fairlead.broker.node import BrokerProgram, EmbeddedNode
from fairlead.broker.ports import is_free
from fairlead.broker.processes import quorum_of, terminate
from fairlead.broker.readiness import nodes_seen_by
from fairlead.broker.state import ClusterState, read_state, write_state
from fairlead.errors import EnvironmentMissingError, RefusedError, UsageError
from fairlead.jars import ensure_jars
from fairlead.jars.manifest import BROKER_SETS
from fairlead.jars.progress import FetchProgress
from fairlead.java import find_java

CLUSTER_SIZES: Final = (1, 3)
READY_SECONDS_MAX: Final = 90.0
STOP_SECONDS_MAX: Final = 20.0
_START_ATTEMPTS_MAX: Final = 3
_LOOK_SECONDS: Final = 0.1


class EmbeddedKafka:
    """A cluster in one data folder; as a context it starts on entry and stops on exit.

    Unless detached, its brokers die with this process, however that ends. It is for one thread.
    """

    def __init__(
        self,
        data_dir: Path,
        brokers: int = 1,
        *,
        port: int | None = None,
        detached: bool = False,
        properties: Mapping[str, str] | None = None,
        progress: FetchProgress | None = None,
        recorded: Path | None = None,
    ) -> None:
        """Describe the cluster; `start` starts it.

        Args:
            data_dir: its folder; an existing cluster in it goes on, with its topics.
            brokers: the number of nodes, 1 or 3; each is broker and controller.
            port: the first node's port, the others follow; None: the recorded or any free ones.
            detached: the brokers outlive this process, until somebody stops them.
            properties: server.properties that replace or complete the built-in ones.
            progress: shows a download of the jars.
            recorded: where a single node writes the archive of its classes when it ends.

        Raises:
            UsageError: another number of brokers.
        """
        if brokers not in CLUSTER_SIZES:
            raise UsageError(
                f"brokers: {brokers} is neither 1 nor 3.",
                remedy="Use one node for trials, three to see brokers fail.",
            )
        self.data_dir = data_dir.absolute()
        self._brokers = brokers
        self._port = port
        self._detached = detached
        self._properties = dict(properties or {})
        self._progress = progress
        self._recorded = recorded
        self._nodes: dict[int, EmbeddedNode] = {}
        self._state: ClusterState | None = None

    @property
    def size(self) -> int:
        """The number of nodes, running or not."""
        return self._brokers

    @property
    def bootstrap(self) -> str:
        """The address for clients: host:port of each node, comma separated."""
        return self._started_state().bootstrap

    @property
    def nodes(self) -> tuple[int, ...]:
        """The ids of the nodes."""
        return tuple(node.node_id for node in self._started_state().nodes)

    def log_file(self, node: int = 1) -> Path:
        """Return a node's log file."""
        return self._node(node).log_file

    def __enter__(self) -> Self:
        """Start the cluster."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the cluster."""
        self.stop()

    def start(self) -> Self:
        """Start every node and return when all are in service.

        Raises:
            RefusedError: a cluster runs in this folder, or has another number of nodes.
            EnvironmentMissingError: Java, the jars or a port is missing, or a node did not start.
        """
        jars = tuple(ensure_jars(name, self._progress) for name in BROKER_SETS)
        program = BrokerProgram(find_java(), jars, self._recorded)
        with sole_starter(self.data_dir):
            state = self._recorded_state()
            for attempt in range(1, _START_ATTEMPTS_MAX + 1):
                state = with_ports(state, self._port, keep=attempt == 1)
                try:
                    self._start_all(program, state)
                    break
                except BaseException as error:
                    self.stop()
                    # Another process took a port between the check and the bind: choose again.
                    lost_port = self._port is None and not _all_free(state)
                    mendable = isinstance(error, EnvironmentMissingError) and lost_port
                    if not mendable or attempt == _START_ATTEMPTS_MAX:
                        raise
        return self

    def stop(self) -> None:
        """Stop every node: SIGTERM, and SIGKILL for those that do not end in time."""
        running = [node.child.identity for node in self._nodes.values() if node.child is not None]
        terminate(running, STOP_SECONDS_MAX, quorum=quorum_of(len(self._nodes)))

    def is_running(self, node: int = 1) -> bool:
        """Tell whether a node's process lives; a paused process lives."""
        return self._node(node).is_running()

    def kill(self, node: int = 1) -> None:
        """Kill a node, as a crash would (SIGKILL); return when it is gone."""
        one = self._node(node)
        one.signal(signal.SIGKILL)
        if one.child is not None:
            one.child.identity.wait(STOP_SECONDS_MAX)

    def pause(self, node: int = 1) -> None:
        """Pause a node (SIGSTOP): its connections stay open, but it answers nothing."""
        self._node(node).pause()

    def resume(self, node: int = 1) -> None:
        """Resume a paused node (SIGCONT)."""
        self._node(node).signal(signal.SIGCONT)

    def halt(self, node: int = 1) -> None:
        """Stop a node in order (SIGTERM): it hands over its leaderships first."""
        one = self._node(node)
        if one.child is not None:
            terminate([one.child.identity], STOP_SECONDS_MAX)

    def restart(self, node: int = 1) -> None:
        """Restart a node on its data and ports, stopping it first if it runs.

        Returns when it is in service again.

        Raises:
            EnvironmentMissingError: it did not come back in time.
        """
        one = self._node(node)
        self.halt(node)
        one.start(detached=self._detached)
        self._remember_processes(self._started_state())
        self.await_ready()

    def await_ready(self) -> None:
        """Return when every running node is in service, in the view of each of them.

        Raises:
            EnvironmentMissingError: a node died, or the start took too long.
        """
        deadline = time.monotonic() + READY_SECONDS_MAX
        state = self._started_state()
        expected = {node_id for node_id, node in self._nodes.items() if node.is_running()}
        waiting = [node for node in state.nodes if node.node_id in expected]
        while waiting:
            if expected <= nodes_seen_by(waiting[0].port):
                waiting.pop(0)
                continue
            for node_id in expected:
                self._raise_if_dead(self._nodes[node_id])
            child = self._nodes[waiting[0].node_id].child
            assert child is not None
            # Returns early if the node dies; nothing announces that it is up.
            child.exited.wait(_LOOK_SECONDS)
            if time.monotonic() > deadline:
                node = self._nodes[waiting[0].node_id]
                raise EnvironmentMissingError(
                    f"broker: node {node.node_id} was not in service after "
                    f"{READY_SECONDS_MAX:.0f} s. Its log ends:\n{node.log_tail()}",
                    remedy=f"Read {node.log_file}; on a busy machine, try again.",
                )

    def _start_all(self, program: BrokerProgram, state: ClusterState) -> None:
        self._state = state
        self._nodes = {}
        for row in state.nodes:
            node = EmbeddedNode(program, self.data_dir / f"node-{row.node_id}", row.node_id)
            node.configure(state, row, self._properties)
            self._nodes[row.node_id] = node
        nodes = list(self._nodes.values())
        formatting = [node.begin_format(state.cluster_id) for node in nodes]
        for node, process in zip(nodes, formatting, strict=True):
            node.end_format(process)
        for node in nodes:
            node.start(detached=self._detached)
        self._remember_processes(state)
        self.await_ready()

    def _recorded_state(self) -> ClusterState:
        """Return the folder's cluster, or a new one."""
        state = read_state(self.data_dir)
        if state is None:
            return new_state(self._brokers)
        if state.is_running():
            raise RefusedError(
                f"broker: a cluster runs in {self.data_dir}, at {state.bootstrap}.",
                remedy="Use it, stop it with: fairlead broker stop, or choose another --data-dir.",
            )
        if len(state.nodes) != self._brokers:
            raise RefusedError(
                f"brokers: {self.data_dir} holds a cluster of {len(state.nodes)}, not of "
                f"{self._brokers}.",
                remedy="Choose another --data-dir, or remove this one if nobody needs it.",
            )
        return state

    def _remember_processes(self, state: ClusterState) -> None:
        """Record the nodes' processes, so that another command can stop them."""
        rows = []
        for row in state.nodes:
            child = self._nodes[row.node_id].child
            rows.append(replace(row, process=child.identity if child is not None else None))
        self._state = replace(state, nodes=tuple(rows))
        write_state(self.data_dir, self._state)

    def _raise_if_dead(self, node: EmbeddedNode) -> None:
        if node.child is not None and node.child.exited.is_set():
            raise EnvironmentMissingError(
                f"broker: node {node.node_id} ended with code {node.child.exit_code} during its "
                f"start. Its log ends:\n{node.log_tail()}",
                remedy=f"Read {node.log_file}.",
            )

    def _started_state(self) -> ClusterState:
        if self._state is None:
            raise UsageError("broker: this cluster was not started.", remedy="Call start() first.")
        return self._state

    def _node(self, node: int) -> EmbeddedNode:
        self._started_state()
        if node not in self._nodes:
            known = ", ".join(str(one) for one in self._nodes)
            raise UsageError(f"node: {node} is not one of {known}.", remedy="Choose one of these.")
        return self._nodes[node]


def _all_free(state: ClusterState) -> bool:
    return all(is_free(node.port) and is_free(node.controller_port) for node in state.nodes)
