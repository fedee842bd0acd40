"""A PushConsumer and its retry topic on a real broker: what fails comes back, later and later."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from queue import SimpleQueue
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from fairlead_client import ConsumeContext, ConsumeResult, Message, PushConsumer, Queue
from fairlead_client.consume.retry.redelivery import Redelivery, redelivery_of
from kafka import KafkaAdminClient, KafkaConsumer
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

WAIT = 30.0


class Attempt(NamedTuple):
    """One time a message was handed out: when, and what its headers said."""

    at_ms: int
    message: Message
    told: Redelivery | None


class Failing:
    """A listener that fails at some messages, each to be tried again after a second."""

    def __init__(self, fails: Callable[[Message], bool]) -> None:
        self._fails = fails
        self.attempts: SimpleQueue[Attempt] = SimpleQueue()

    def __call__(self, messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        """Note the message, and fail if it is one of those."""
        (message,) = messages
        told = redelivery_of(message.headers)
        self.attempts.put(Attempt(int(time() * 1_000), message, told))
        context.delay = 1
        return (
            ConsumeResult.RECONSUME_LATER if self._fails(message) else ConsumeResult.CONSUME_SUCCESS
        )

    def take(self, count: int) -> list[Attempt]:
        """Wait for so many attempts."""
        return [self.attempts.get(timeout=WAIT) for _ in range(count)]


@pytest.fixture
def orders_retry(bootstrap: str) -> Iterator[str]:
    """The retry topic of the group orders with a queue for each delay; its DLQ beside it."""
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    topics = {"_-RETRY_-orders": {"num_partitions": 18}, "_-DLQ_-orders": {"num_partitions": 1}}
    admin.create_topics(topics, wait_for_metadata=True)
    yield "%RETRY%orders"
    admin.delete_topics([*topics])
    admin.close()


def test_until_it_is_dead(
    engine: "ScriptedEngine",
    member: Callable[..., Any],
    data_topic: str,
    orders_retry: str,
    bootstrap: str,
) -> None:
    """A message that fails comes back when it is due, counted, then is dead; others go on."""
    listener = Failing(lambda message: message.value == b"7")
    one = member(PushConsumer, "a", listener=listener, max_reconsume_times=2)
    beat = engine.heartbeat("a")
    subscribed = [entry["topic"] for entry in beat["subscriptions"]]
    assert subscribed == [data_topic, orders_retry]
    source, retry = Queue(data_topic, "main", 0), Queue(orders_retry, "main", 0)
    engine.grant(beat, source, 1)
    engine.grant(beat, retry, 2)
    attempts = listener.take(20 + 2)
    failing = [each for each in attempts if each.message.value == b"7"]
    assert [each.message.queue for each in failing] == [source, retry, retry]
    assert failing[0].told is None
    for number, (before, each) in enumerate(pairwise(failing), start=1):
        assert each.told is not None
        assert (each.told.reconsume_times, each.told.delay_level) == (number, 1)
        assert (each.told.origin, each.told.origin_offset) == (source, 7)
        assert each.told.due_ms is not None
        assert before.at_ms + 1_000 <= each.told.due_ms <= each.at_ms
    dead = _dead_letter(bootstrap, "_-DLQ_-orders")
    assert (dead.value, redelivery_of(dead.headers)) == (
        b"7",
        Redelivery(2, source, 7, failing[0].message.timestamp_ms),
    )
    engine.revoke(beat, source, 1, record=3)
    assert engine.release(source, 1)["position"] == [0, 20]
    engine.revoke(beat, retry, 2, record=4)
    assert engine.release(retry, 2)["position"] == [0, 2]
    assert one.consume_counts["sent_back"] == 3


def test_not_due_is_not_passed(
    engine: "ScriptedEngine", member: Callable[..., Any], data_topic: str, orders_retry: str
) -> None:
    """A queue that is taken away while its message waits is released in front of it."""
    listener = Failing(lambda message: message.value == b"7" and message.topic == data_topic)
    member(PushConsumer, "a", listener=listener)
    beat = engine.heartbeat("a")
    retry = Queue(orders_retry, "main", 0)
    engine.grant(beat, retry, 1)
    engine.grant(beat, Queue(data_topic, "main", 0), 2)
    listener.take(20)
    engine.revoke(beat, retry, 1, record=3)
    assert engine.release(retry, 1)["position"] == [0, 0]
    member(PushConsumer, "b", listener=listener)
    other = engine.heartbeat("b")
    engine.grant(other, retry, 4)
    (back,) = listener.take(1)
    assert (back.message.queue, back.message.value) == (retry, b"7")


def test_without_a_retry_topic_a_message_stays_in_hand(
    engine: "ScriptedEngine", member: Callable[..., Any], data_topic: str
) -> None:
    """Without a retry topic on the cluster a message stays in hand, and other queues go on."""
    listener = Failing(lambda message: message.value == b"0" and message.partition == 0)
    one = member(PushConsumer, "a", listener=listener, consume_threads=2)
    beat = engine.heartbeat("a")
    engine.grant(beat, Queue(data_topic, "main", 0), 1)
    engine.grant(beat, Queue(data_topic, "main", 1), 2)
    listener.take(40)
    one.close()
    assert engine.release(Queue(data_topic, "main", 0), 1)["position"] == [0, 0]
    assert engine.release(Queue(data_topic, "main", 1), 2)["position"] == [0, 20]


def _dead_letter(bootstrap: str, topic: str) -> Any:
    """Return the first message of a dead-letter topic."""
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        consumer_timeout_ms=WAIT * 1_000,
    )
    consumer.assign([TopicPartition(topic, 0)])
    record = next(consumer)
    consumer.close(autocommit=False)
    return record
