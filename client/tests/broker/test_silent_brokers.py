"""A broker that accepts connections and says nothing costs a client a part of its time, once."""

import socket
import time
from collections.abc import Iterator
from contextlib import closing
from copy import copy
from typing import Any

import pytest
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport import silent_brokers
from fairlead_client.transport.connection import (
    connect,
    consumer_options,
    producer_options,
    request_timeout_ms,
)
from fairlead_client.transport.silent_brokers import Address, is_silent, silent_last
from kafka import KafkaConsumer, KafkaProducer
from kafka.protocol.metadata import MetadataRequest
from kafka.structs import TopicPartition

from tests.kit.awaiting import await_seen


@pytest.fixture
def frozen() -> Iterator[socket.socket]:
    """A socket whose connections the kernel accepts and nobody serves, as those of a frozen one."""
    silent_brokers._silent.clear()  # noqa: SLF001 - what other tests left
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        yield listening
    silent_brokers._silent.clear()  # noqa: SLF001


def _address(frozen: socket.socket) -> Address:
    return Address(*frozen.getsockname())


def _server(frozen: socket.socket) -> str:
    return "{}:{}".format(*frozen.getsockname())


def _connections(frozen: socket.socket) -> int:
    frozen.settimeout(0)
    count = 0
    while True:
        try:
            frozen.accept()[0].close()
        except BlockingIOError:
            return count
        count += 1


def _settings(engine: Any, *silent: str) -> Settings:
    servers = ",".join([*silent, engine.bootstrap])
    return Settings(bootstrap=servers, prefix=engine.prefix, group="orders", topics=["orders"])


def _connect(settings: Settings) -> float:
    options = consumer_options(settings, "waiting")
    begun = time.monotonic()
    connect(KafkaConsumer, options, [f"{settings.prefix}assignments"]).close()
    return time.monotonic() - begun


def test_another_server_is_asked_within_the_time_for_the_first(
    engine: Any, frozen: socket.socket
) -> None:
    """Whichever is asked first, the start succeeds; a silent one has a part of the time only."""
    settings = _settings(engine, _server(frozen))
    limit = request_timeout_ms(settings) / 1_000
    waited = 0
    for _ in range(20):
        silent_brokers._silent.clear()  # noqa: SLF001 - every one is the first of its process
        seconds = _connect(settings)
        met = _connections(frozen)
        waited += met > 0
        assert met <= 1
        assert met == 0 or seconds >= limit / 2
    assert waited > 0


def test_the_next_connections_of_the_process_do_not_ask_it_again(
    engine: Any, frozen: socket.socket
) -> None:
    """Who was silent once is asked last."""
    settings = _settings(engine, _server(frozen))
    while not is_silent(_address(frozen)):
        _connect(settings)
    assert _connections(frozen) == 1
    for _ in range(10):
        _connect(settings)
    assert _connections(frozen) == 0
    assert silent_last([_server(frozen), engine.bootstrap]) == [engine.bootstrap, _server(frozen)]


def test_a_broker_that_answers_again_is_as_good_as_the_others(engine: Any) -> None:
    """Where all were silent all are asked, and an answer ends it."""
    host, _, port = engine.bootstrap.rpartition(":")
    address = Address(host, int(port))
    silent_brokers._silent[address] = time.monotonic() + 60  # noqa: SLF001 - as after a failure
    _connect(_settings(engine))
    assert not is_silent(address)


def _silent_one(cluster: Any, frozen: socket.socket, led: int, node_id: int) -> None:
    """Let a client believe that a broker listens where nobody answers, and know that it is so."""
    silent_brokers._silent[_address(frozen)] = time.monotonic() + 60  # noqa: SLF001 - as after a failure
    _place(cluster, frozen, led, node_id)


def _place(cluster: Any, frozen: socket.socket, led: int, node_id: int) -> None:
    here = _address(frozen)
    stale = copy(cluster.broker_metadata(led))
    stale.node_id, stale.host, stale.port = node_id, here.host, here.port
    cluster._brokers[node_id] = stale  # noqa: SLF001 - as it was before others led


def test_who_left_the_cluster_is_not_waited_for(engine: Any, frozen: socket.socket) -> None:
    """Others are asked who leads, and a request to who is gone fails with their answer."""
    topic = f"{engine.prefix}heartbeats"
    long = {"request_timeout_ms": 8_000, "delivery_timeout_ms": 60_000}
    options = producer_options(_settings(engine), "waiting") | long
    with closing(connect(KafkaProducer, options, [topic])) as producer:
        manager = producer._sender._client._manager  # noqa: SLF001 - what the library connects with
        cluster = manager.cluster
        led = cluster.leader_for_partition(TopicPartition(topic, 0))
        _silent_one(cluster, frozen, led, 99)
        connection = manager.get_connection(99, timeout_ms=60_000)
        asked = manager.send(MetadataRequest(), 99)
        # An answer about the cluster leaves out who is not there.
        await_seen(lambda: cluster.broker_metadata(99) is None, what="new metadata", seconds=30)
        await_seen(lambda: asked.is_done, what="the end of the request", seconds=30)
        assert "the broker has left the cluster" in str(asked.exception)
        assert connection.closed
        assert is_silent(_address(frozen))


def test_who_leads_is_asked_again_while_an_answer_is_late(
    engine: Any, frozen: socket.socket
) -> None:
    """One question is not enough: others may lead a moment later."""
    topic = f"{engine.prefix}heartbeats"
    options = producer_options(_settings(engine), "waiting")
    with closing(connect(KafkaProducer, options, [topic])) as producer:
        manager = producer._sender._client._manager  # noqa: SLF001
        cluster = manager.cluster
        led = cluster.leader_for_partition(TopicPartition(topic, 0))
        answers: list[int] = []

        def still_there(_: object) -> None:
            answers.append(1)
            _silent_one(cluster, frozen, led, 99)

        still_there(None)
        cluster.add_listener(still_there)
        connection = manager.get_connection(99, timeout_ms=5_000)
        await_seen(lambda: len(answers) >= 4, what="three answers", seconds=30)
        assert connection.initializing


def test_who_takes_a_connection_and_says_nothing_is_silent(
    engine: Any, frozen: socket.socket
) -> None:
    """The library counts it as a success; and its producer would look again all the time."""
    topic = f"{engine.prefix}heartbeats"
    options = producer_options(_settings(engine), "waiting") | {"reconnect_backoff_ms": 1_000}
    with closing(connect(KafkaProducer, options, [topic])) as producer:
        client = producer._sender._client  # noqa: SLF001
        manager = client._manager  # noqa: SLF001
        led = manager.cluster.leader_for_partition(TopicPartition(topic, 0))
        _place(manager.cluster, frozen, led, 99)
        manager.cluster.add_listener(lambda _: _place(manager.cluster, frozen, led, 99))
        connection = manager.get_connection(99, timeout_ms=500)
        assert client.connection_delay(99) >= 20
        await_seen(lambda: connection.closed, what="the end of the connection", seconds=30)
        await_seen(lambda: is_silent(_address(frozen)), what="a silent broker", seconds=30)
        # So many milliseconds, where the library tells seconds.
        assert 100 <= client.connection_delay(99) <= 1_200
