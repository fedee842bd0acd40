"""EmbeddedRocketMQ: a real RocketMQ on loopback to start, break on purpose, repair and stop."""

import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from fairlead.broker.folder import sole_starter
from fairlead.broker.ports import is_free
from fairlead.broker.processes import terminate
from fairlead.embedded_rocketmq.cluster_plan import ClusterPlan, ServerState
from fairlead.embedded_rocketmq.plan_file import read_plan, write_plan
from fairlead.embedded_rocketmq.readiness import in_service
from fairlead.embedded_rocketmq.server import EmbeddedServer, ServerExtras, ServerProgram
from fairlead.errors import EnvironmentMissingError, RefusedError, UsageError
from fairlead.jars import ensure_jars
from fairlead.jars.manifest import ROCKETMQ_SERVER_SETS
from fairlead.jars.progress import FetchProgress
from fairlead.java import find_java

__all__ = ["STOP_SECONDS_MAX", "EmbeddedRocketMQ"]

READY_SECONDS_MAX: Final = 90.0
STOP_SECONDS_MAX: Final = 20.0
_START_ATTEMPTS_MAX: Final = 3
_LOOK_SECONDS: Final = 0.2


class EmbeddedRocketMQ:
    """A cluster in one folder; as a context it starts on entry and stops on exit.

    Unless detached, its servers die with this process, however that ends. It is for one thread.
    """

    def __init__(
        self,
        folder: Path,
        *,
        version: str = "5.3.3",
        brokers: int = 1,
        name_servers: int = 1,
        port: int | None = None,
        cluster_name: str = "main",
        detached: bool = False,
        properties: Mapping[str, str] | None = None,
        extras: Mapping[str, ServerExtras] | None = None,
        progress: FetchProgress | None = None,
    ) -> None:
        """Describe the cluster; `start` starts it.

        Args:
            folder: its folder; an existing cluster in it goes on, with its topics.
            version: of RocketMQ: 4.9.7 or 5.3.3.
            brokers: how many masters, 1 or 2: `broker-a`, `broker-b`.
            name_servers: how many, 1 or 2: `namesrv-1`, `namesrv-2`.
            port: the first name server's; None: its last one, or any free one.
            cluster_name: the brokers' cluster.
            detached: the servers outlive this process, until somebody stops them.
            properties: settings of the brokers that replace or complete the built-in ones.
            extras: what single servers have, by their names; a broker that is the slave of the
                other one, with its name and a brokerId above 0, is one too.
            progress: shows a download of the jars.

        Raises:
            UsageError: another version or number of servers.
        """
        self.folder = folder.absolute()
        self._wanted = ClusterPlan.new(version, brokers, name_servers, cluster_name)
        self._port, self._detached = port, detached
        self._properties = dict(properties or {})
        self._extras = dict(extras or {})
        self._progress = progress
        self._plan: ClusterPlan | None = None
        self._servers: dict[str, EmbeddedServer] = {}

    @property
    def plan(self) -> ClusterPlan:
        """The cluster as it was started."""
        if self._plan is None:
            raise UsageError("rocketmq: this cluster was not started.", remedy="Call start().")
        return self._plan

    @property
    def namesrv(self) -> str:
        """The name servers' addresses, with semicolons between."""
        return self.plan.namesrv

    @property
    def servers(self) -> tuple[str, ...]:
        """The names of the servers, name servers first."""
        return tuple(each.name for each in self.plan.servers)

    def address(self, server: str) -> str:
        """Return the host:port of a server."""
        return self._state(server).address

    def log_file(self, server: str) -> Path:
        """Return a server's log file."""
        return self._server(server).log_file

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
        """Start every server and return when all are in service.

        Raises:
            RefusedError: a cluster runs in this folder, or one of another shape stands there.
            EnvironmentMissingError: Java, the jars or a port is missing, or a server did not start.
        """
        jars = ensure_jars(ROCKETMQ_SERVER_SETS[self._wanted.version], self._progress)
        program = ServerProgram(find_java(), jars)
        with sole_starter(self.folder):
            plan = self._recorded()
            for attempt in range(1, _START_ATTEMPTS_MAX + 1):
                plan = plan.with_ports(self._port)
                try:
                    self._start_all(program, plan)
                    break
                except BaseException as error:
                    self.stop()
                    # Another process took a port between the check and the bind: choose again.
                    lost = not all(is_free(port) for each in plan.servers for port in each.ports)
                    mendable = isinstance(error, EnvironmentMissingError) and lost
                    if not mendable or attempt == _START_ATTEMPTS_MAX:
                        raise
        return self

    def stop(self) -> None:
        """Stop every server: SIGTERM, and SIGKILL for those that do not end in time."""
        for role in ("broker", "name_server"):
            children = [
                self._servers[each.name].child
                for each in (self._plan.servers if self._plan else ())
                if each.role == role and each.name in self._servers
            ]
            terminate([each.identity for each in children if each], STOP_SECONDS_MAX)

    def is_running(self, server: str) -> bool:
        """Tell whether a server's process lives; a paused one lives."""
        return self._server(server).is_running

    def kill(self, server: str) -> None:
        """Kill a server, as a crash would (SIGKILL); return when it is gone."""
        one = self._server(server)
        one.signal(signal.SIGKILL)
        if one.child is not None:
            one.child.identity.wait(STOP_SECONDS_MAX)

    def pause(self, server: str) -> None:
        """Pause a server (SIGSTOP): its connections stay open, but it answers nothing."""
        child = self._server(server).child
        if child is not None:
            child.pause()

    def resume(self, server: str) -> None:
        """Resume a paused server (SIGCONT)."""
        self._server(server).signal(signal.SIGCONT)

    def halt(self, server: str) -> None:
        """Stop a server in order (SIGTERM)."""
        child = self._server(server).child
        if child is not None:
            terminate([child.identity], STOP_SECONDS_MAX)

    def restart(self, server: str) -> None:
        """Restart a server on its data and port, stopping it first if it runs.

        Returns when all running servers are in service.

        Raises:
            EnvironmentMissingError: it did not come back in time.
        """
        self.halt(server)
        self._server(server).start(detached=self._detached)
        self._remember()
        self.await_ready()

    def await_ready(self) -> None:
        """Return when every running server is in service.

        Raises:
            EnvironmentMissingError: a server died, or the start took too long.
        """
        deadline = time.monotonic() + READY_SECONDS_MAX
        waiting = [each for each in self.plan.servers if each.is_running]
        while waiting:
            state = waiting[0]
            if in_service(self.plan, state):
                waiting.pop(0)
                continue
            server = self._servers[state.name]
            child = server.child
            assert child is not None
            # Returns early if the server dies; nothing announces that it is up.
            if child.exited.wait(_LOOK_SECONDS):
                raise EnvironmentMissingError(
                    f"rocketmq: {state.name} ended with code {child.exit_code} during its start. "
                    f"Its log ends:\n{server.log_tail()}",
                    remedy=f"Read {server.log_file}.",
                )
            if time.monotonic() > deadline:
                raise EnvironmentMissingError(
                    f"rocketmq: {state.name} was not in service after {READY_SECONDS_MAX:.0f} s. "
                    f"Its log ends:\n{server.log_tail()}",
                    remedy=f"Read {server.log_file}; on a busy machine, try again.",
                )

    def _start_all(self, program: ServerProgram, plan: ClusterPlan) -> None:
        self._plan, self._servers = plan, {}
        for each in plan.servers:
            extras = self._extras.get(each.name, ServerExtras())
            if each.role == "broker":
                both = {**self._properties, **extras.properties}
                extras = ServerExtras(both, extras.jvm)
            server = EmbeddedServer(program, self.folder / each.name, extras)
            server.configure(plan, each)
            self._servers[each.name] = server
        # A broker that starts before the name servers registers at its next turn, 30 s later.
        for role in ("name_server", "broker"):
            for each in plan.servers:
                if each.role == role:
                    self._servers[each.name].start(detached=self._detached)
            self._remember()
            self.await_ready()

    def _recorded(self) -> ClusterPlan:
        """Return the folder's cluster, or a new one."""
        plan = read_plan(self.folder)
        if plan is None:
            return self._wanted
        if plan.is_running:
            raise RefusedError(
                f"rocketmq: a cluster runs in {self.folder}, with name servers at {plan.namesrv}.",
                remedy="Use it, stop it with: fairlead rocketmq stop, or give another --data-dir.",
            )
        if _shape(plan) != _shape(self._wanted):
            raise RefusedError(
                f"data-dir: {self.folder} holds a cluster of {plan.version} with "
                f"{', '.join(each.name for each in plan.servers)}.",
                remedy="Choose another --data-dir, or remove this one if nobody needs it.",
            )
        return plan

    def _remember(self) -> None:
        """Record the processes, so that another command can stop them."""
        rows = []
        for each in self.plan.servers:
            child = self._servers[each.name].child
            rows.append(replace(each, process=None if child is None else child.identity))
        self._plan = replace(self.plan, servers=tuple(rows))
        write_plan(self.folder, self._plan)

    def _server(self, server: str) -> EmbeddedServer:
        self._state(server)
        return self._servers[server]

    def _state(self, server: str) -> ServerState:
        found = next((each for each in self.plan.servers if each.name == server), None)
        if found is None:
            known = ", ".join(self.servers)
            raise UsageError(f"server: {server} is none of {known}.", remedy="Choose one of them.")
        return found


def _shape(plan: ClusterPlan) -> tuple[object, ...]:
    return plan.version, plan.cluster_name, tuple(each.name for each in plan.servers)
