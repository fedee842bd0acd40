"""Goes around brokers that said nothing lately, for every Kafka client of this process (ADR 0169).

A frozen broker accepts connections and says nothing. kafka-python picks a server by chance for its
first question, lets it have all of the time there is, and so do the connections made after it.
Here a server has a part of that time, and one that was silent is asked after all others. While an
answer is late, others are asked who leads; nothing is waited for of who left the cluster meanwhile.
"""

import time
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from kafka.cluster import ClusterMetadata
from kafka.errors import InvalidMetadataError, KafkaConnectionError, for_code
from kafka.net.compat import KafkaNetClient
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.protocol.consumer import ListOffsetsRequest

REMEMBERED_SECONDS: Final = 30.0
"""For so long a broker is asked last. Wrong by then, it costs one more wait; its queues' records
are read from it all the time, whatever stands here."""

_PAUSE_MS: Final = 20.0
"""So long a producer does not look at a broker again that it cannot send to; an answer wakes it."""

_silent: dict["Address", float] = {}
"""Until when, in seconds of the monotonic clock, whom to ask last."""


class Address(NamedTuple):
    """Where a broker listens."""

    host: str
    port: int


def is_silent(address: Address) -> bool:
    """Whether a connection there failed lately, and none was made since."""
    return _silent.get(address, 0.0) > time.monotonic()


def silent_last(servers: Iterable[str]) -> list[str]:
    """Return servers, each as ``host:port``, with those that were silent behind the others."""
    return sorted(servers, key=lambda server: is_silent(_address(server)))


def _address(server: str) -> Address:
    host, _, port = server.strip().rpartition(":")
    return Address(host.strip("[]"), int(port) if port.isdecimal() else 0)


class _Cluster(ClusterMetadata):  # type: ignore[misc]  # kafka-python has no types
    """kafka-python's, where nobody who needs a first server is given a silent one."""

    def bootstrap_brokers(self) -> list[Any]:
        servers: list[Any] = super().bootstrap_brokers()
        return [one for one in servers if not is_silent(_broker_address(one))] or servers

    def update_metadata(self, metadata: Any) -> Any:
        done = super().update_metadata(metadata)
        if self._manager is not None:
            self._manager.give_up_removed_brokers()
        return done


class ConnectionManager(KafkaConnectionManager):  # type: ignore[misc]  # kafka-python has no types
    """kafka-python's connections, with the silent brokers asked last."""

    def __init__(self, net: NetworkSelector, **config: Any) -> None:
        super().__init__(net, **config)
        given = ("bootstrap_servers", "metadata_max_age_ms", "client_dns_lookup")
        self.cluster = _Cluster(**{name: self.config[name] for name in given})
        self.cluster.attach(self)
        timeout_s = self.config["request_timeout_ms"] / 1_000
        # A fetch may be answered only after this.
        held_s = config.get("fetch_max_wait_ms", 0) / 1_000
        self._late_s = max(timeout_s / 2, held_s + timeout_s / 4)
        self._check_s = timeout_s / 2
        self._check_planned = False

    def get_connection(self, node_id: Any, timeout_ms: float | None = None, **how: Any) -> Any:
        """Connect as the library does; a first server has half of the time to connect.

        It has all of it when it was silent before: then it may only be slow. Who connects to a
        silent one anew asks the others meanwhile whether it still leads: the library asks once the
        connection has failed, and then waits, and connects to the same one again.
        """
        known = node_id in self._conns
        first = self.cluster.is_bootstrap(node_id) and not self._is_silent(node_id)
        if timeout_ms is not None and first:
            timeout_ms = min(timeout_ms, self.config["socket_connection_setup_timeout_ms"] / 2)
        connection = super().get_connection(node_id, timeout_ms, **how)
        if not known:
            if self._is_silent(node_id) and not self.cluster.is_bootstrap(node_id):
                self.cluster.request_update()
            # Also of a connection that was good for a while: an answer may never have come.
            address = self._address_of(node_id)
            connection.close_future.add_errback(lambda _: self._note_at(address))
            self._check_later()
        return connection

    def send(self, request: Any, node_id: Any = None, request_timeout_ms: Any = None) -> Any:
        """Send as the library does, and look after a while whether the answer has come.

        Who does not lead a partition any more says so. Asked where it ends, the library asks the
        same broker again until the time is over, and nobody who leads.
        """
        answer = super().send(request, node_id, request_timeout_ms)
        if isinstance(request, ListOffsetsRequest):
            answer.add_callback(self._ask_who_leads)
        self._check_later()
        return answer

    def _ask_who_leads(self, ends: Any) -> None:
        codes = {one.error_code for topic in ends.topics for one in topic.partitions}
        if any(issubclass(for_code(code), InvalidMetadataError) for code in codes):
            self.cluster.request_update()

    def give_up_removed_brokers(self) -> None:
        """Wait no longer for who is not in the cluster any more: others lead what it led.

        A frozen broker leaves it after `broker.session.timeout.ms`. What was sent to it fails now
        and goes to the new leader; the library would wait for an answer, or for a connection.
        """
        here = {broker.node_id for broker in self.cluster.brokers()}
        for node_id, connection in list(self._conns.items()):
            gone = here and self._is_broker(node_id) and node_id not in here
            if gone and self._is_late(connection):
                connection.close(KafkaConnectionError("it is not in the cluster any more"))

    def is_busy(self, node_id: Any) -> bool:
        """Tell whether a connection to a broker is being made, or takes no request for now."""
        connection = self._conns.get(node_id)
        return connection is not None and (connection.initializing or bool(connection.paused))

    def _check_later(self) -> None:
        if not self._check_planned and not self.closed:
            self._check_planned = True
            self._net.call_later(self._check_s, self._check_late_answers)

    def _check_late_answers(self) -> None:
        """Ask who leads, of others, while somebody's answer is late."""
        self._check_planned = False
        if self.closed:
            return
        waiting = [
            one for name, one in list(self._conns.items()) if self._is_broker(name) and _waits(one)
        ]
        if any(self._is_late(one) for one in waiting):
            self.cluster.request_update()
        if waiting:
            self._check_later()

    def _is_late(self, connection: Any) -> bool:
        before = time.monotonic() - self._late_s
        sent = connection.in_flight_requests
        return connection.initializing or (bool(sent) and sent[0][2] < before)

    def _is_broker(self, node_id: Any) -> bool:
        # First servers and coordinators have names.
        return isinstance(node_id, int) and not self.cluster.is_bootstrap(node_id)

    def least_loaded_node(self) -> Any:
        """Return whom to ask what anybody knows: of those that answer, who has least to do."""
        found = super().least_loaded_node()
        if not self._is_silent(found):
            return found
        others = [
            broker.node_id
            for broker in self.cluster.brokers()
            if not is_silent(_broker_address(broker)) and self.connection_delay(broker.node_id) == 0
        ]
        return min(others, key=self._unanswered, default=found)

    def update_backoff(self, node_id: Any) -> Any:
        """Count a failure, and remember it for the other clients of this process."""
        self._note(node_id)
        return super().update_backoff(node_id)

    def reset_backoff(self, node_id: Any) -> None:
        """Count a success: the broker took a connection and answered.

        The library counts one as well where the broker took it and said nothing.
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
        # The library counts failures of other things too, by names that are no nodes.
        broker = self.cluster.broker_metadata(node_id)
        return None if broker is None else _broker_address(broker)

    def _unanswered(self, node_id: Any) -> int:
        connection = self._conns.get(node_id)
        return 0 if connection is None else len(connection.in_flight_requests)


class NetworkClient(KafkaNetClient):  # type: ignore[misc]  # kafka-python has no types
    """kafka-python's, whose producer pauses while it cannot send."""

    def connection_delay(self, node_id: Any) -> float:
        """Return for how many milliseconds the producer need not look at a broker again.

        The library tells seconds, and 0 while a connection is being made or has an answer to wait
        for: its producer would look again at once, all the time, and have a core for itself for as
        long as a broker is silent.
        """
        delay = float(super().connection_delay(node_id))
        if not isinstance(node_id, int):
            # Of a coordinator: anything but 0 says that it is dead, also while it is connected to.
            return delay
        pause = _PAUSE_MS if self._manager.is_busy(node_id) else 0.0
        return max(1_000 * delay, pause)


def _waits(connection: Any) -> bool:
    return connection.initializing or bool(connection.in_flight_requests)


def _broker_address(broker: Any) -> Address:
    return Address(broker.host, broker.port)


def network_client(**config: Any) -> NetworkClient:
    """Return what kafka-python's clients speak through; give it to them as ``kafka_client``."""
    net = NetworkSelector(**config)
    return NetworkClient(net, ConnectionManager(net, **config), **config)
