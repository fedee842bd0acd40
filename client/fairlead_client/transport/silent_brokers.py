"""Goes around brokers that did not answer lately, for all Kafka clients of a process (ADR 0169).

A frozen broker accepts connections and does not answer. kafka-python asks a random server first,
and gives it all the time there is. Here a server has a part of that time, and a silent one is asked
last. While an answer is late, the client asks other brokers who leads. It waits for no broker that
has left the cluster.
"""

import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final, NamedTuple, Self

from kafka.cluster import ClusterMetadata
from kafka.errors import InvalidMetadataError, KafkaConnectionError, for_code
from kafka.net.compat import KafkaNetClient
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.protocol.consumer import ListOffsetsRequest

REMEMBERED_SECONDS: Final = 30.0
"""How long a silent broker is asked last. This has no effect on reading the queues it leads."""

_PAUSE_MS: Final = 20.0
"""When a producer tries a blocked broker again; an answer wakes it earlier."""

_silent: dict["Address", float] = {}
"""The brokers to ask last, and until when, in seconds of the monotonic clock."""


class Address(NamedTuple):
    """Where a broker listens."""

    host: str
    port: int

    def __str__(self) -> str:
        """Return the address as `host:port`, an IPv6 host in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def parse(cls, server: str) -> Self:
        """Return the address of a server `host:port`.

        Raises:
            ValueError: the port is no number.
        """
        host, _, port = server.strip().rpartition(":")
        return cls(host.strip("[]"), int(port))


def is_silent(address: Address) -> bool:
    """Return whether the last connection to this address failed, not long ago."""
    return _silent.get(address, 0.0) > time.monotonic()


def silent_last(servers: Iterable[str]) -> list[str]:
    """Return servers, each as `host:port`, with silent ones last."""

    def silent(server: str) -> bool:
        with suppress(ValueError):
            return is_silent(Address.parse(server))
        return False

    return sorted(servers, key=silent)


class _Cluster(ClusterMetadata):  # type: ignore[misc]  # kafka-python has no types
    """kafka-python's metadata, without silent brokers as first servers."""

    def bootstrap_brokers(self) -> list[Any]:
        servers: list[Any] = super().bootstrap_brokers()
        return [server for server in servers if not is_silent(_broker_address(server))] or servers

    def update_metadata(self, metadata: Any) -> Any:
        done = super().update_metadata(metadata)
        if self._manager is not None:
            self._manager.give_up_removed_brokers()
        return done


class ConnectionManager(KafkaConnectionManager):  # type: ignore[misc]  # kafka-python has no types
    """kafka-python's connections, with silent brokers asked last."""

    def __init__(self, net: NetworkSelector, **config: Any) -> None:
        super().__init__(net, **config)
        given = ("bootstrap_servers", "metadata_max_age_ms", "client_dns_lookup")
        self.cluster = _Cluster(**{name: self.config[name] for name in given})
        self.cluster.attach(self)
        timeout_s = self.config["request_timeout_ms"] / 1_000
        # A broker may hold a fetch this long.
        held_s = config.get("fetch_max_wait_ms", 0) / 1_000
        self._late_s = max(timeout_s / 2, held_s + timeout_s / 4)
        self._check_s = timeout_s / 2
        self._check_planned = False

    def get_connection(self, node_id: Any, timeout_ms: float | None = None, **how: Any) -> Any:
        """Connect as the library does, but give a first server half of the time.

        A server that was silent before has all of the time, because it may only be slow. Before a
        new connection to a silent broker, ask others whether it still leads; the library asks only
        after the connection has failed, and then waits and connects to the same broker again.
        """
        known = node_id in self._conns
        first = self.cluster.is_bootstrap(node_id) and not self._is_silent(node_id)
        if timeout_ms is not None and first:
            timeout_ms = min(timeout_ms, self.config["socket_connection_setup_timeout_ms"] / 2)
        connection = super().get_connection(node_id, timeout_ms, **how)
        if not known:
            if self._is_silent(node_id) and not self.cluster.is_bootstrap(node_id):
                self.cluster.request_update()
            # A connection that worked for a while counts too: its last answer may be missing.
            address = self._address_of(node_id)
            connection.close_future.add_errback(lambda _: self._note_at(address))
            self._check_later()
        return connection

    def send(self, request: Any, node_id: Any = None, request_timeout_ms: Any = None) -> Any:
        """Send as the library does, and check later whether the answer has come.

        If a broker says that it no longer leads a partition, ask who does. For a partition's end
        the library would ask the same broker again until the time is over.
        """
        answer = super().send(request, node_id, request_timeout_ms)
        if isinstance(request, ListOffsetsRequest):
            answer.add_callback(self._ask_who_leads)
        self._check_later()
        return answer

    def _ask_who_leads(self, ends: Any) -> None:
        codes = {partition.error_code for topic in ends.topics for partition in topic.partitions}
        if any(issubclass(for_code(code), InvalidMetadataError) for code in codes):
            self.cluster.request_update()

    def give_up_removed_brokers(self) -> None:
        """Close late connections to brokers that have left the cluster.

        A frozen broker leaves it after `broker.session.timeout.ms`. Its requests fail now and go to
        the new leader; the library would wait for an answer or a connection.
        """
        here = {broker.node_id for broker in self.cluster.brokers()}
        for node_id, connection in list(self._conns.items()):
            gone = here and self._is_broker(node_id) and node_id not in here
            if gone and self._is_late(connection):
                connection.close(KafkaConnectionError("the broker has left the cluster"))

    def is_busy(self, node_id: Any) -> bool:
        """Return whether a connection to a broker is not ready, or takes no requests now."""
        connection = self._conns.get(node_id)
        return connection is not None and (connection.initializing or bool(connection.paused))

    def _check_later(self) -> None:
        if not self._check_planned and not self.closed:
            self._check_planned = True
            self._net.call_later(self._check_s, self._check_late_answers)

    def _check_late_answers(self) -> None:
        """Ask other brokers who leads while an answer is late."""
        self._check_planned = False
        if self.closed:
            return
        waiting = [
            connection
            for node_id, connection in list(self._conns.items())
            if self._is_broker(node_id) and _waits(connection)
        ]
        if any(self._is_late(connection) for connection in waiting):
            self.cluster.request_update()
        if waiting:
            self._check_later()

    def _is_late(self, connection: Any) -> bool:
        before = time.monotonic() - self._late_s
        sent = connection.in_flight_requests
        return connection.initializing or (bool(sent) and sent[0][2] < before)

    def _is_broker(self, node_id: Any) -> bool:
        # The ids of first servers and coordinators are strings.
        return isinstance(node_id, int) and not self.cluster.is_bootstrap(node_id)

    def least_loaded_node(self) -> Any:
        """Return the broker to ask a general question: the least busy one that answers."""
        node_id = super().least_loaded_node()
        if not self._is_silent(node_id):
            return node_id
        others = [
            broker.node_id
            for broker in self.cluster.brokers()
            if not is_silent(_broker_address(broker)) and self.connection_delay(broker.node_id) == 0
        ]
        return min(others, key=self._unanswered, default=node_id)

    def update_backoff(self, node_id: Any) -> Any:
        """Count a failure, and remember it for all clients of this process."""
        self._note(node_id)
        return super().update_backoff(node_id)

    def reset_backoff(self, node_id: Any) -> None:
        """Count a success: the broker accepted a connection and answered.

        The library also counts a broker that accepted a connection and did not answer.
        """
        connection = self._conns.get(node_id)
        address = self._address_of(node_id)
        if address is not None and (connection is None or not connection.connected):
            self.update_backoff(node_id)
            return
        if address is not None:
            _silent.pop(address, None)
        super().reset_backoff(node_id)

    def _note(self, node_id: Any) -> None:
        self._note_at(self._address_of(node_id))

    def _note_at(self, address: Address | None) -> None:
        if address is not None and not self.closed:
            _silent[address] = time.monotonic() + REMEMBERED_SECONDS

    def _is_silent(self, node_id: Any) -> bool:
        address = self._address_of(node_id)
        return address is not None and is_silent(address)

    def _address_of(self, node_id: Any) -> Address | None:
        # The library also counts failures under names that are no nodes.
        broker = self.cluster.broker_metadata(node_id)
        return None if broker is None else _broker_address(broker)

    def _unanswered(self, node_id: Any) -> int:
        connection = self._conns.get(node_id)
        return 0 if connection is None else len(connection.in_flight_requests)


class NetworkClient(KafkaNetClient):  # type: ignore[misc]  # kafka-python has no types
    """kafka-python's network client, whose producer pauses while it cannot send."""

    def connection_delay(self, node_id: Any) -> float:
        """Return after how many ms the producer shall try a broker again.

        The library returns seconds, and 0 while a connection is not ready. Its producer would try
        again all the time, and use a whole core while a broker is silent.
        """
        delay = float(super().connection_delay(node_id))
        if not isinstance(node_id, int):
            # For a coordinator, anything but 0 means that it is dead.
            return delay
        pause = _PAUSE_MS if self._manager.is_busy(node_id) else 0.0
        return max(1_000 * delay, pause)


def _waits(connection: Any) -> bool:
    return connection.initializing or bool(connection.in_flight_requests)


def _broker_address(broker: Any) -> Address:
    return Address(broker.host, broker.port)


def network_client(**config: Any) -> NetworkClient:
    """Return a network client for kafka-python's option `kafka_client`."""
    net = NetworkSelector(**config)
    return NetworkClient(net, ConnectionManager(net, **config), **config)
