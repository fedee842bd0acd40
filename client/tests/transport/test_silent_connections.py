"""What a Kafka client does beside a broker that takes connections and says nothing: no broker runs.

A listening socket that nobody serves is such a broker.
"""

import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fairlead_client.transport import silent_brokers
from fairlead_client.transport.silent_brokers import (
    Address,
    ConnectionManager,
    NetworkClient,
    is_silent,
)
from kafka.consumer.subscription_state import SubscriptionState
from kafka.coordinator.consumer import ConsumerCoordinator
from kafka.net.selector import NetworkSelector
from kafka.producer.record_accumulator import RecordAccumulator
from kafka.producer.sender import Sender
from kafka.protocol.metadata import MetadataRequest, MetadataResponse
from kafka.structs import TopicPartition

WAIT_MS = 600


@pytest.fixture
def frozen() -> Iterator[socket.socket]:
    """A broker that takes connections and says nothing."""
    silent_brokers._silent.clear()  # noqa: SLF001 - what other tests left
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        yield listening
    silent_brokers._silent.clear()  # noqa: SLF001


@pytest.fixture
def made() -> Iterator[Callable[..., Any]]:
    """Make clients that ask nobody about the cluster, and no server by themselves."""
    clients: list[Any] = []

    def make(**more: Any) -> Any:
        clients.append(_client(**more))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


def _client(**more: Any) -> Any:
    given = {
        "bootstrap_servers": "127.0.0.1:1",
        "api_version": (2, 4),
        "request_timeout_ms": WAIT_MS,
        "socket_connection_setup_timeout_ms": WAIT_MS,
        "socket_connection_setup_timeout_max_ms": WAIT_MS,
        **more,
    }
    net = NetworkSelector(**given)
    manager: Any = ConnectionManager(net, **given)
    manager.cluster.start_refresh_loop = lambda: None
    return NetworkClient(net, manager, **given)


def _broker(listening: socket.socket, node_id: Any) -> Any:
    return MetadataResponse.MetadataResponseBroker(node_id, *listening.getsockname(), None)


def _until(client: Any, seen: Callable[[], bool]) -> None:
    """Let the client work until something is so."""
    deadline = time.monotonic() + 30
    while not seen():
        assert time.monotonic() < deadline
        client._net.poll(timeout_ms=20)  # noqa: SLF001 - what its owner's thread does


def _connected(client: Any, listening: socket.socket) -> Any:
    """Connect to broker 1, as if it had told its versions."""
    manager = client._manager  # noqa: SLF001
    manager.cluster._brokers = {1: _broker(listening, 1)}  # noqa: SLF001
    connection = manager.get_connection(1, timeout_ms=30_000)
    _until(client, lambda: bool(connection.in_flight_requests))
    _answer(client, connection)
    connection._init_complete()  # noqa: SLF001
    return connection


def _answer(client: Any, connection: Any) -> None:
    """Forget what is unanswered, as an answer does."""
    for request in connection.in_flight_requests:
        client._net.cancel(request[4])  # noqa: SLF001
    connection.in_flight_requests.clear()
    connection.paused.clear()


def test_a_coordinator_that_is_connected_to_is_not_dead(
    frozen: socket.socket, made: Callable[..., Any]
) -> None:
    """The library takes a coordinator for dead that is to be waited for, and looks it up anew."""
    client, looked = made(), []
    name = "coordinator-1"
    coordinator = ConsumerCoordinator(
        client, SubscriptionState(), group_id="g", api_version=(2, 4), enable_auto_commit=False
    )

    async def look() -> str:
        looked.append(1)
        await client._net.sleep(0.001)  # noqa: SLF001
        client.cluster._coordinator_brokers[name] = _broker(frozen, name)  # noqa: SLF001
        coordinator.coordinator_id = name
        client.maybe_connect(name)
        return name

    coordinator._send_group_coordinator_request = look  # noqa: SLF001
    coordinator.ensure_coordinator_ready(timeout_ms=400)
    assert len(looked) <= 3
    assert coordinator.coordinator() == name


def test_a_silent_coordinator_is_a_silent_broker(
    frozen: socket.socket, made: Callable[..., Any]
) -> None:
    """Under whichever name it is connected to."""
    client, name = made(), "coordinator-1"
    manager = client._manager  # noqa: SLF001
    manager.cluster._coordinator_brokers[name] = _broker(frozen, name)  # noqa: SLF001
    connection = manager.get_connection(name, timeout_ms=200)
    _until(client, lambda: connection.closed and name in manager._backoff)  # noqa: SLF001
    assert is_silent(Address(*frozen.getsockname()))


def test_the_producer_pauses_while_its_one_request_is_unanswered(
    frozen: socket.socket, made: Callable[..., Any]
) -> None:
    """A record for another partition of the broker waits, and costs no core."""
    client = made(max_in_flight_requests_per_connection=1, request_timeout_ms=60_000)
    connection = _connected(client, frozen)
    _lead(client.cluster, ("t", 0), ("t", 1))
    accumulator = RecordAccumulator(
        linger_ms=3, delivery_timeout_ms=90_000, request_timeout_ms=60_000, message_version=2
    )
    sender = Sender(
        client,
        client.cluster,
        accumulator,
        acks=-1,
        guarantee_message_order=True,
        api_version=(2, 4),
        request_timeout_ms=60_000,
        metrics=None,
        transaction_manager=None,
    )
    accumulator.append(TopicPartition("t", 0), 1, b"k", b"v", [])
    deadline = time.monotonic() + 30
    while not connection.in_flight_requests:
        assert time.monotonic() < deadline
        sender.run_once()
    accumulator.append(TopicPartition("t", 1), 1, b"k", b"v", [])
    rounds, begun = 0, time.monotonic()
    while time.monotonic() < begun + 0.5:
        sender.run_once()
        rounds += 1
    # 26 of 20 ms; without the pause some 20,000.
    assert rounds < 200


def _lead(cluster: Any, *partitions: tuple[str, int]) -> None:
    one = MetadataResponse.MetadataResponseTopic.MetadataResponsePartition
    for topic, number in partitions:
        cluster._topics = {topic}  # noqa: SLF001
        cluster._partitions.setdefault(topic, {})[number] = one(  # noqa: SLF001
            error_code=0,
            partition_index=number,
            leader_id=1,
            leader_epoch=0,
            replica_nodes=[1],
            isr_nodes=[1],
            offline_replicas=[],
        )
        led = cluster._broker_partitions  # noqa: SLF001
        led[1] = {*led.get(1, ()), TopicPartition(topic, number)}


def test_a_long_poll_is_not_late(frozen: socket.socket, made: Callable[..., Any]) -> None:
    """Who is answered when the broker is to answer asks nobody who leads."""
    client = made(fetch_max_wait_ms=500)
    connection, asked = _connected(client, frozen), []
    client.cluster.request_update = lambda: asked.append(1)
    for _ in range(5):
        client.send(1, MetadataRequest(topics=[]))
        answered = time.monotonic() + 0.5
        _until(client, lambda answered=answered: time.monotonic() > answered)  # type: ignore[misc]
        _answer(client, connection)
    assert not asked


def test_only_who_is_late_is_given_up(frozen: socket.socket, made: Callable[..., Any]) -> None:
    """A broker that stops in order answers still, although it has left the cluster."""
    client = made()
    connection = _connected(client, frozen)
    manager = client._manager  # noqa: SLF001
    client.send(1, MetadataRequest(topics=[]))
    manager.cluster._brokers = {2: _broker(frozen, 2)}  # noqa: SLF001
    manager.give_up_removed_brokers()
    assert connection.connected
    late = time.monotonic() + WAIT_MS / 2_000
    _until(client, lambda: time.monotonic() > late)
    manager.give_up_removed_brokers()
    _until(client, lambda: bool(connection.closed))
    # By its address, although nobody knows the node any more.
    assert is_silent(Address(*frozen.getsockname()))
