"""The parts of the tests with a broker: an engine by hand, topics, clients on both transports."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import orjson
import pytest
from fairlead_client.consume.member import Member
from fairlead_client.transport.partitioner import partition_of
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic
from kafka.structs import TopicPartition

from tests.kit.gateway_server import Transport, gateway_serving
from tests.kit.scripted_engine import ScriptedEngine

__all__ = ["Pausable", "ScriptedEngine", "Transport"]

WAIT_SECONDS = 30.0
WAIT_MS = 30_000


def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Let kafka-python leave a socket that is being connected when it is closed to the collector.

    That no connection stays is tested by itself.
    """
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


class Pausable(Protocol):
    """The broker, as far as this test breaks it."""

    def pause(self) -> None:
        """Let it stand still."""

    def resume(self) -> None:
        """Let it go on."""


@pytest.fixture
def engine(bootstrap: str, topics: object, topic_prefix: str) -> Iterator[ScriptedEngine]:
    """An engine of generation 1 on topics of the test's own."""
    del topics
    scripted = ScriptedEngine(bootstrap, topic_prefix)
    scripted.claim()
    yield scripted
    scripted.close()


@pytest.fixture
def write(engine: ScriptedEngine) -> Callable[..., None]:
    """Write any bytes where the record of a text belongs."""
    write_raw: Callable[..., None] = engine.write_raw
    return write_raw


@pytest.fixture
def handed(engine: ScriptedEngine) -> Callable[[str], dict[str, Any]]:
    """Return the first release that was handed to a client; to "": to the whole group."""

    def read(client_id: str) -> dict[str, Any]:
        topic = f"{engine.prefix}handovers"
        consumer = KafkaConsumer(
            bootstrap_servers=engine.bootstrap,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            consumer_timeout_ms=WAIT_SECONDS * 1_000,
        )
        count = len(consumer.partitions_for_topic(topic))
        consumer.assign([TopicPartition(topic, partition_of(engine.group + client_id, count))])
        record = next(consumer)
        consumer.close(autocommit=False)
        return dict(orjson.loads(record.value))

    return read


@pytest.fixture
def data_topic(bootstrap: str, topic_prefix: str) -> str:
    """A topic of two partitions with 20 numbered messages in each."""
    topic = f"{topic_prefix}data"
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics([NewTopic(name=topic, num_partitions=2, replication_factor=1)])
    admin.close()
    producer = KafkaProducer(bootstrap_servers=bootstrap, max_block_ms=WAIT_MS)
    for number in range(40):
        producer.send(topic, str(number // 2).encode(), partition=number % 2)
    producer.close()
    return topic


@pytest.fixture
def grow(bootstrap: str) -> Callable[[str, int], None]:
    """Give a topic more partitions, and write one message into the last of them."""

    def add(topic: str, partitions: int) -> None:
        admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        admin.create_partitions({topic: partitions})
        admin.close()
        producer = KafkaProducer(bootstrap_servers=bootstrap, max_block_ms=WAIT_MS)
        producer.send(topic, b"new", partition=partitions - 1).get(timeout=WAIT_SECONDS)
        producer.close()

    return add


@pytest.fixture
def committed(bootstrap: str) -> Callable[[str, str, int], Any]:
    """Return (offset, metadata) that a Kafka group committed for a partition, None for nothing."""

    def look(group: str, topic: str, partition: int) -> Any:
        consumer = KafkaConsumer(
            group_id=group, bootstrap_servers=bootstrap, enable_auto_commit=False
        )
        found = consumer.committed(TopicPartition(topic, partition), metadata=True)
        consumer.close(autocommit=False)
        return None if found is None else (found.offset, found.metadata)

    return look


@pytest.fixture
def gateway_settings() -> dict[str, Any]:
    """The gateway's settings, for a module to change."""
    return {"gateway__lease_ms": 9_000, "gateway__poll_ms": 3_000}


@pytest.fixture
def transport(request: Any, engine: Any, gateway_settings: dict[str, Any]) -> Iterator[Transport]:
    """Fairlead's topics; with the parameter "gateway" a gateway over them."""
    if getattr(request, "param", "direct") == "direct":
        yield Transport(engine.bootstrap, engine.prefix, None)
        return
    with gateway_serving(engine.bootstrap, engine.prefix, **gateway_settings) as url:
        yield Transport(engine.bootstrap, engine.prefix, url)


@pytest.fixture
def member(engine: Any, transport: Transport, data_topic: str) -> Iterator[Callable[..., Any]]:
    """Make started members of any kind that are closed after the test."""
    made: list[Member] = []

    def make(kind: Callable[..., Member], client_id: str, **settings: Any) -> Member:
        given = {"topics": [data_topic], "group": engine.group, **settings}
        one = kind(client_id=client_id, **transport.settings(**given))
        made.append(one)
        one.start()
        return one

    yield make
    for one in made:
        one.close(5_000)


@pytest.fixture
def write_more(bootstrap: str, data_topic: str) -> Callable[..., None]:
    """Write so many messages more into a partition, with these headers."""

    def write(partition: int, count: int, *headers: tuple[str, bytes]) -> None:
        producer = KafkaProducer(bootstrap_servers=bootstrap, max_block_ms=WAIT_MS)
        for _ in range(count):
            producer.send(data_topic, b"more", partition=partition, headers=list(headers))
        producer.close()

    return write


@pytest.fixture
def delete_before(bootstrap: str, data_topic: str) -> Callable[[int, int], None]:
    """Delete the messages of a partition below an offset, as retention does."""

    def delete(partition: int, offset: int) -> None:
        admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        admin.delete_records({TopicPartition(data_topic, partition): offset})
        admin.close()

    return delete


@pytest.fixture
def publish(bootstrap: str, topics: Any, topic_prefix: str) -> Iterator[Callable[..., None]]:
    """Write the route of a topic: its leaders by partition, or None for a deleted one."""
    del topics
    producer = KafkaProducer(bootstrap_servers=bootstrap)

    def write(topic: str, leaders: list[str | None], **fields: Any) -> None:
        broker = {
            "broker_name": "main",
            "cluster": "main",
            "perm": 6,
            "read_queue_nums": len(leaders),
            "write_queue_nums": len(leaders),
            "addresses": {"0": bootstrap},
            "leaders": leaders,
            "zones": None,
            **fields,
        }
        record = {
            "v": 1,
            "kind": "route",
            "topic": topic,
            "identity": "one",
            "order_topic_conf": None,
            "brokers": [broker],
        }
        producer.send(f"{topic_prefix}routes", orjson.dumps(record), key=topic.encode()).get(
            timeout=WAIT_SECONDS
        )

    yield write
    producer.close()
