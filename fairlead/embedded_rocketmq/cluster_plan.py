"""What an embedded RocketMQ consists of: its version, its servers, their ports and processes."""

from dataclasses import dataclass, replace
from typing import Final, Literal, Self

from fairlead.broker.ports import LOOPBACK, free_ports, is_free
from fairlead.broker.processes import ProcessIdentity
from fairlead.errors import UsageError

__all__ = ["BROKERS_MAX", "NAME_SERVERS_MAX", "VERSIONS", "ClusterPlan", "ServerState"]

Role = Literal["name_server", "broker"]

VERSIONS: Final = ("4.9.7", "5.3.3")
"""The newest servers of both lines."""
BROKERS_MAX: Final = 2
NAME_SERVERS_MAX: Final = 2
_NEIGHBOURS: Final = {"name_server": (0,), "broker": (0, -2, 1)}
"""A broker listens on its port, on the one two below (VIP channel), and on the next (slaves)."""
_TRIES_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class ServerState:
    """One process.

    Attributes:
        name: `namesrv-1`, `broker-a`.
        role: a name server or a master broker.
        port: where it listens for clients; 0: not chosen yet.
        process: the process that runs it, or ran it last; None before its first start.
    """

    name: str
    role: Role
    port: int = 0
    process: ProcessIdentity | None = None

    @property
    def address(self) -> str:
        """Its host:port."""
        return f"{LOOPBACK}:{self.port}"

    @property
    def ports(self) -> tuple[int, ...]:
        """All the ports on which it listens."""
        return tuple(self.port + step for step in _NEIGHBOURS[self.role])

    @property
    def is_running(self) -> bool:
        """Whether its process lives."""
        return self.process is not None and self.process.is_alive()


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """A cluster.

    Attributes:
        version: of RocketMQ.
        cluster_name: the brokers' cluster, as name servers know it.
        servers: name servers first.
    """

    version: str
    cluster_name: str
    servers: tuple[ServerState, ...]

    @classmethod
    def new(cls, version: str, brokers: int, name_servers: int, cluster_name: str) -> Self:
        """Return a cluster without ports.

        Raises:
            UsageError: there are no such jars, or too many servers.
        """
        if version not in VERSIONS:
            raise UsageError(
                f"version: there are no jars of {version!r}.",
                remedy=f"Choose one of {', '.join(VERSIONS)}.",
            )
        if not 1 <= brokers <= BROKERS_MAX:
            raise UsageError(f"brokers: {brokers} is neither 1 nor 2.", remedy="Choose 1 or 2.")
        if not 1 <= name_servers <= NAME_SERVERS_MAX:
            raise UsageError(
                f"name-servers: {name_servers} is neither 1 nor 2.", remedy="Choose 1 or 2."
            )
        servers = [
            ServerState(f"namesrv-{number}", "name_server") for number in range(1, name_servers + 1)
        ]
        servers += [ServerState(f"broker-{letter}", "broker") for letter in "ab"[:brokers]]
        return cls(version, cluster_name, tuple(servers))

    @property
    def namesrv(self) -> str:
        """The name servers' addresses, with semicolons between, as RocketMQ's clients take them."""
        return ";".join(each.address for each in self.servers if each.role == "name_server")

    @property
    def brokers(self) -> tuple[ServerState, ...]:
        """The brokers."""
        return tuple(each for each in self.servers if each.role == "broker")

    @property
    def name_servers(self) -> tuple[ServerState, ...]:
        """The name servers."""
        return tuple(each for each in self.servers if each.role == "name_server")

    @property
    def is_running(self) -> bool:
        """Whether any process lives."""
        return any(each.is_running for each in self.servers)

    def with_ports(self, port: int | None) -> Self:
        """Return it with ports that are free now; its last ones, if they still are.

        Args:
            port: the first name server's; None: any.

        Raises:
            UsageError: somebody listens on the given port.
            EnvironmentMissingError: too few ports are free.
        """
        if port is not None and not is_free(port):
            raise UsageError(
                f"port: {LOOPBACK}:{port} is in use.",
                remedy="Stop the program that listens there, or choose another --port.",
            )
        taken: set[int] = set()
        servers = []
        for number, each in enumerate(self.servers):
            wanted = port if number == 0 and port is not None else each.port
            chosen = _chosen(replace(each, port=wanted), taken)
            taken.update(chosen.ports)
            servers.append(chosen)
        return replace(self, servers=tuple(servers))


def _chosen(server: ServerState, taken: set[int]) -> ServerState:
    found = server
    for _ in range(_TRIES_MAX):
        if found.port > 0 and all(is_free(one) and one not in taken for one in found.ports):
            break
        found = replace(server, port=free_ports(1)[0])
    return found
