"""A producer whose only broker stands still: what is not known yet costs no more than its time."""

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from fairlead_client.model import Queue
from fairlead_client.produce.kafka_sender import KafkaSender
from fairlead_client.produce.outgoing import OutgoingMessage
from fairlead_client.produce.producer_settings import ProducerSettings
from fairlead_client.produce.send_error import Fault, NoRouteError, SendFailedError, SendingError
from fairlead_client.produce.target import Target
from fairlead_client.producer import Producer
from fairlead_client.session.clock import now_ms
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from fairlead.broker import EmbeddedKafka

PREFIX = "outage."
WAIT_SECONDS = 30
BUDGET_MS = 300
TARGET = Target(Queue("orders", "main", 0), "1", None)
pytestmark = pytest.mark.broker
AFTER_MS = 3_000
"""So long after its budget a message ends at the latest; each look-up by itself takes longer.

It is ten times what it takes: these tests share two cores with two others of their kind.
"""


@pytest.fixture(scope="module")
def fragile(tmp_path_factory: pytest.TempPathFactory) -> Iterator["EmbeddedKafka"]:
    """A broker to be stopped, with the topic `orders` and control topics of the tests' own."""
    from fairlead.broker import EmbeddedKafka
    from fairlead.kafka.topic_creation import create_topics
    from fairlead.kafka.topic_specification import topic_specs
    from fairlead.settings import load_settings

    with EmbeddedKafka(tmp_path_factory.mktemp("fragile")) as cluster:
        specs = topic_specs(load_settings().topics)
        create_topics({"bootstrap_servers": cluster.bootstrap}, PREFIX, specs, 1)
        admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap)
        admin.create_topics({"orders": {"num_partitions": 1}}, wait_for_metadata=True)
        admin.close()
        yield cluster


@pytest.fixture
def standing_still(fragile: "EmbeddedKafka") -> Iterator[Producer]:
    """A started producer that knows routes and no partitions, and whose broker answers nothing."""
    producer = KafkaProducer(bootstrap_servers=fragile.bootstrap)
    for topic, perm in (("orders", 6), ("TBW102", 7)):
        producer.send(f"{PREFIX}routes", orjson.dumps(route(topic, perm)), key=topic.encode())
    producer.close()
    # Alone each attempt and each connection may take longer than the bound of the tests.
    settings: dict[str, Any] = {"attempt_timeout_ms": 5_000, "create_topics": True}
    with Producer(bootstrap=fragile.bootstrap, prefix=PREFIX, **settings) as made:
        fragile.pause()
        yield made
        fragile.resume()


def route(topic: str, perm: int) -> dict[str, Any]:
    """Return the record of a route of one queue."""
    broker = {
        "broker_name": "main",
        "cluster": "main",
        "perm": perm,
        "read_queue_nums": 1,
        "write_queue_nums": 1,
        "addresses": {"0": "main"},
        "leaders": ["1"],
        "zones": None,
    }
    return {
        "v": 1,
        "kind": "route",
        "topic": topic,
        "identity": "one",
        "order_topic_conf": None,
        "brokers": [broker],
    }


def test_a_short_budget_ends_its_own_message_alone(
    standing_still: Producer, fragile: "EmbeddedKafka"
) -> None:
    """A message whose topic is looked up ends with its time; the next one is sent in its own."""
    begun_ms = now_ms()
    with pytest.raises(SendFailedError, match="looking up topic 'orders'") as caught:
        standing_still.send(OutgoingMessage("orders", b"x"), timeout_ms=BUDGET_MS)
    assert BUDGET_MS <= now_ms() - begun_ms <= BUDGET_MS + AFTER_MS
    assert caught.value.out_of_time
    fragile.resume()
    sent = standing_still.send(OutgoingMessage("orders", b"x"), timeout_ms=30_000)
    assert sent.queue.topic == "orders"


def test_a_topic_without_a_route(standing_still: Producer, fragile: "EmbeddedKafka") -> None:
    """So does one whose topic nobody can tell of or make; it is made when the broker answers."""
    begun_ms = now_ms()
    with pytest.raises((NoRouteError, SendFailedError), match="'not-made-yet'"):
        standing_still.send(OutgoingMessage("not-made-yet", b"x"), timeout_ms=BUDGET_MS)
    assert now_ms() - begun_ms <= BUDGET_MS + AFTER_MS
    fragile.resume()
    sent = standing_still.send(OutgoingMessage("not-made-yet", b"x"), timeout_ms=30_000)
    assert sent.queue.topic == "not-made-yet"


@pytest.mark.parametrize("queues", [None, 1])
def test_what_the_sender_asks(fragile: "EmbeddedKafka", queues: int | None) -> None:
    """To ask for a topic, and to make one, takes no longer than is given."""
    settings = ProducerSettings(bootstrap=fragile.bootstrap, prefix=PREFIX)
    sender = KafkaSender(
        settings,
        "asking",
        attempt_timeout_ms=5_000,
        longest_attempt_ms=5_000,
        max_message_bytes=1_000,
    )
    try:
        fragile.pause()
        begun_ms = now_ms()
        with pytest.raises(SendingError) as caught:
            sender.learn("unheard-of", BUDGET_MS, queues)
        assert now_ms() - begun_ms <= BUDGET_MS + AFTER_MS
        assert caught.value.fault is Fault.UNREACHABLE
    finally:
        fragile.resume()
        sender.close(1_000)


def test_a_topic_is_waited_for_with_the_messages_time(fragile: "EmbeddedKafka") -> None:
    """A topic is waited for with all the time of its message: no attempt has begun by then."""
    settings = ProducerSettings(bootstrap=fragile.bootstrap, prefix=PREFIX)
    # No broker answers within such an attempt's time.
    sender = KafkaSender(
        settings, "slow", attempt_timeout_ms=0, longest_attempt_ms=5_000, max_message_bytes=1_000
    )
    try:
        sender.learn("orders", WAIT_SECONDS * 1_000)
        assert sender.knows("orders")
    finally:
        sender.close(1_000)


def sender_of(cluster: "EmbeddedKafka", attempt_ms: int, longest_ms: int) -> KafkaSender:
    """Return a sender that knows the partition of `orders` and is connected to its leader."""
    made = KafkaSender(
        ProducerSettings(bootstrap=cluster.bootstrap, prefix=PREFIX),
        "outage",
        attempt_timeout_ms=attempt_ms,
        longest_attempt_ms=longest_ms,
        max_message_bytes=100_000,
    )
    made.learn("orders", WAIT_SECONDS * 1_000)
    made.send(TARGET, OutgoingMessage("orders", b"first"), attempt_ms).result(WAIT_SECONDS)
    return made


def test_what_was_given_up_never_leaves(fragile: "EmbeddedKafka") -> None:
    """What waits behind unanswered requests and is given up is not stored later; the rest is."""
    sender = sender_of(fragile, WAIT_SECONDS * 1_000, WAIT_SECONDS * 1_000)
    # Each of these fills a batch; five are under way at a time, the others wait for an answer.
    long = [bytes([number]) * 20_000 for number in range(5)]
    waiting = [b"a", b"kept", b"c", b"d" * 20_000, b"last"]
    try:
        fragile.pause()
        sent = {}
        for value in [*long, *waiting]:
            message = OutgoingMessage("orders", value, b"key", headers=(("h", b"v"),))
            sent[value] = sender.send(TARGET, message, WAIT_SECONDS * 1_000)
        for value in (b"a", b"c", b"d" * 20_000):
            assert sent.pop(value).cancel()
        fragile.resume()
        offsets = [ended.result(WAIT_SECONDS).offset for ended in sent.values()]
    finally:
        fragile.resume()
        sender.close(WAIT_SECONDS * 1_000)
    partition = TopicPartition("orders", 0)
    reader = KafkaConsumer(bootstrap_servers=fragile.bootstrap, enable_auto_commit=False)
    try:
        reader.assign([partition])
        end = reader.end_offsets([partition])[partition]
        assert offsets == list(range(end - len(sent), end))
        reader.seek(partition, offsets[0])
        stored = [next(reader) for _ in offsets]
    finally:
        reader.close(autocommit=False)
    assert [record.value for record in stored] == list(sent)
    assert {(record.key, tuple(record.headers)) for record in stored} == {(b"key", (("h", b"v"),))}


def test_nothing_stays_of_a_sender(fragile: "EmbeddedKafka") -> None:
    """Closed while the broker is silent it returns soon, and ends with the longest attempt."""
    before = set(threading.enumerate())
    sender = sender_of(fragile, BUDGET_MS, 5 * BUDGET_MS)
    try:
        fragile.pause()
        sent = sender.send(TARGET, OutgoingMessage("orders", b"x"), BUDGET_MS)
        begun_ms = now_ms()
        sender.close(0)
        assert now_ms() - begun_ms <= BUDGET_MS + AFTER_MS
        for thread in set(threading.enumerate()) - before:
            thread.join(WAIT_SECONDS)
            assert not thread.is_alive()
        error = sent.exception(WAIT_SECONDS)
        assert isinstance(error, SendingError)
        assert error.fault is Fault.UNREACHABLE
    finally:
        fragile.resume()
