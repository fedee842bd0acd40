"""One real node: started, killed, paused, restarted, stopped, and what is said when it cannot."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

from fairlead.broker import EmbeddedKafka, read_state
from fairlead.broker.folder import new_state
from fairlead.broker.ports import is_listening
from fairlead.broker.readiness import nodes_seen_by
from fairlead.broker.state import write_state
from fairlead.errors import EnvironmentMissingError, RefusedError, UsageError
from tests.kit.kafka_topics import make_topic

pytestmark = pytest.mark.broker


def _port(cluster: EmbeddedKafka) -> int:
    return int(cluster.bootstrap.rpartition(":")[2])


def _create(bootstrap: str, topic: str) -> None:
    make_topic(bootstrap, topic)


def _send(bootstrap: str, topic: str, values: list[bytes]) -> None:
    with contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
        for value in values:
            producer.send(topic, value)
        producer.flush(timeout=30)


def _read(bootstrap: str, topic: str, count: int) -> list[bytes]:
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, consumer_timeout_ms=15_000)
    with contextlib.closing(consumer):
        consumer.assign([TopicPartition(topic, 0)])
        consumer.seek_to_beginning()
        return [record.value for record, _ in zip(consumer, range(count), strict=False)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedKafka]:
    """A node of this file's own; every test leaves it in service."""
    with EmbeddedKafka(tmp_path_factory.mktemp("kafka")) as started:
        yield started


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_kill(cluster: EmbeddedKafka) -> None:
    """After SIGKILL and a restart the node serves its old records at its old address."""
    before = cluster.bootstrap
    _create(cluster.bootstrap, "kept")
    _send(cluster.bootstrap, "kept", [b"one", b"two"])
    cluster.kill()
    assert not cluster.is_running()
    assert not is_listening(_port(cluster))
    cluster.restart()
    assert cluster.is_running()
    assert cluster.bootstrap == before
    assert _read(cluster.bootstrap, "kept", 2) == [b"one", b"two"]


def test_a_paused_node_accepts_connections_and_does_not_answer(cluster: EmbeddedKafka) -> None:
    """A pause is not a stop: the kernel still connects, nobody reads; resumed, it answers again."""
    port = _port(cluster)
    cluster.pause()
    assert cluster.is_running()
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        # An ApiVersions request of version 0, correlation 1, without client id.
        connection.sendall(bytes.fromhex("0000000a00120000000000010000")[:14])
        connection.settimeout(0.5)
        with pytest.raises(TimeoutError):
            connection.recv(1)
    assert nodes_seen_by(port, timeout_ms=500) == frozenset()
    cluster.resume()
    cluster.await_ready()
    assert nodes_seen_by(port) == {1}


def test_a_node_that_does_not_come_up_in_time_is_named(
    cluster: EmbeddedKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait for a node that answers nothing ends with an error that names its log."""
    from fairlead.broker import cluster as module

    cluster.pause()
    with monkeypatch.context() as patched:
        patched.setattr(module, "READY_SECONDS_MAX", 0.1)
        with pytest.raises(EnvironmentMissingError, match="node 1 was not in service") as error:
            cluster.await_ready()
    assert str(cluster.log_file()) in error.value.remedy
    cluster.resume()
    cluster.await_ready()


@pytest.mark.slow
def test_a_second_start_continues_what_is_there(tmp_path: Path) -> None:
    """A cluster stopped and started again in its folder has its topics, its identity, its port."""
    with EmbeddedKafka(tmp_path) as first:
        _create(first.bootstrap, "kept")
        address = first.bootstrap
    stopped = read_state(tmp_path)
    assert stopped is not None
    assert not stopped.is_running()
    with EmbeddedKafka(tmp_path) as second:
        assert second.bootstrap == address
        with contextlib.closing(KafkaAdminClient(bootstrap_servers=address)) as admin:
            assert admin.list_topics() == ["kept"]
            assert admin.describe_cluster()["cluster_id"] == stopped.cluster_id


def test_a_running_folder_is_refused(cluster: EmbeddedKafka) -> None:
    """A second start in the folder of a running cluster names its address."""
    with pytest.raises(RefusedError, match=cluster.bootstrap):
        EmbeddedKafka(cluster.data_dir).start()


def test_another_size_is_refused(tmp_path: Path) -> None:
    """One node's folder does not become a cluster of three."""
    write_state(tmp_path, new_state(1))
    with pytest.raises(RefusedError, match="holds a cluster of 1, not of 3"):
        EmbeddedKafka(tmp_path, brokers=3).start()


def test_a_setting_kafka_does_not_accept_is_quoted(tmp_path: Path) -> None:
    """A node that ends while it starts: the error holds its log's reason and where to read it."""
    broken = EmbeddedKafka(tmp_path, properties={"log.cleaner.threads": "no number"})
    with pytest.raises(EnvironmentMissingError, match=r"log\.cleaner\.threads"):
        broken.start()
    state = read_state(tmp_path)
    assert state is None or not state.is_running()


def test_a_node_that_ends_while_it_starts_is_quoted(tmp_path: Path) -> None:
    """It formats, but cannot serve: the errors of its log are in the message, and it is gone."""
    broken = EmbeddedKafka(tmp_path, properties={"authorizer.class.name": "no.such.Authorizer"})
    with pytest.raises(EnvironmentMissingError, match=r"(?s)ended with code 1.*no\.such") as error:
        broken.start()
    assert str(broken.log_file()) in error.value.remedy
    assert not broken.is_running()


def test_a_given_port_that_is_taken_is_named(tmp_path: Path) -> None:
    """Nothing is started beside somebody else's listener."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EnvironmentMissingError, match=f"port: 127.0.0.1:{port} is in use"):
            EmbeddedKafka(tmp_path, port=port).start()


@pytest.mark.slow
def test_a_port_lost_between_look_and_bind_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody takes a chosen port before Kafka does: the next attempt takes others."""
    from fairlead.broker import folder, ports

    honest = ports.free_ports
    with socket.create_server(("127.0.0.1", 0)) as thief:
        stolen = [(thief.getsockname()[1], honest(1)[0])]
        monkeypatch.setattr(
            folder, "free_ports", lambda count: stolen.pop() if stolen else honest(count)
        )
        with EmbeddedKafka(tmp_path) as cluster:
            assert _port(cluster) != thief.getsockname()[1]
            assert nodes_seen_by(_port(cluster)) == {1}
    assert stolen == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A file stands in the way."""
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentMissingError, match=r"data-dir: .*file"):
        EmbeddedKafka(tmp_path / "file" / "kafka").start()


@pytest.mark.slow
def test_a_format_that_was_interrupted_is_done_again(tmp_path: Path) -> None:
    """Data without the mark of a finished format is removed, not taken for whole."""
    half = tmp_path / "node-1" / "data"
    half.mkdir(parents=True)
    (half / "meta.properties").write_text("version=1\n")
    with EmbeddedKafka(tmp_path) as cluster:
        assert nodes_seen_by(_port(cluster)) == {1}


def test_two_nodes_are_no_cluster(tmp_path: Path) -> None:
    """One or three: with two, none may fail."""
    with pytest.raises(UsageError, match="brokers: 2"):
        EmbeddedKafka(tmp_path, brokers=2)


def test_a_cluster_that_was_not_started_has_no_address(tmp_path: Path) -> None:
    """Asking too early is a named error."""
    with pytest.raises(UsageError, match="was not started"):
        _ = EmbeddedKafka(tmp_path).bootstrap


def test_a_node_that_is_not_there_is_named(cluster: EmbeddedKafka) -> None:
    """Node 2 of one."""
    with pytest.raises(UsageError, match="node: 2 is not one of 1"):
        cluster.kill(2)
