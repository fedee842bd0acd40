"""A producer on a real broker: what it says is stored is there; what it lacks it asks for."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from threading import Thread
from typing import Any

import orjson
import pytest
from fairlead_client.errors import ClientClosedError, ClientStartedError, LifecycleError
from fairlead_client.model import Queue
from fairlead_client.produce.outgoing import MessageError, OutgoingMessage, SendResult
from fairlead_client.produce.queue_choice import by_hash
from fairlead_client.produce.send_error import NoRouteError, SendFailedError
from fairlead_client.produce.sender import Accepted
from fairlead_client.produce.target import Target
from fairlead_client.producer import Producer
from fairlead_client.session.observer import ProducerObserver
from kafka import KafkaConsumer
from kafka.structs import TopicPartition

from tests.kit.awaiting import ended

WAIT_SECONDS = 30
Publish = Callable[..., None]


class Outcomes(ProducerObserver):
    """Remembers what the producer reported to it."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []

    def attempt_succeeded(self, broker: str, latency_ms: int) -> None:
        """Remember the broker."""
        assert latency_ms >= 0
        self.told.append(("succeeded", broker))

    def attempt_failed(self, broker: str | None, latency_ms: int, fault: str) -> None:
        """Remember the broker and the fault."""
        assert latency_ms >= 0
        self.told.append((fault, broker))

    def acknowledged(self, attempts: int) -> None:
        """Remember the number."""
        self.told.append(("acknowledged", attempts))

    def failed(self) -> None:
        """Remember it."""
        self.told.append(("failed", None))


def stored(bootstrap: str, result: SendResult) -> Any:
    """Return the record at the place that a result names."""
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        consumer_timeout_ms=WAIT_SECONDS * 1_000,
    )
    with closing(consumer):
        partition = TopicPartition(result.queue.topic, result.queue.queue_id)
        consumer.assign([partition])
        consumer.seek(partition, result.offset)
        return next(consumer)


def test_messages_are_where_their_results_say(
    bootstrap: str, topic_prefix: str, data_topic: str, publish: Publish
) -> None:
    """A message sent in any of the four ways is at the queue and offset that its result names."""
    publish(data_topic, ["1", "1"])
    outcomes = Outcomes()
    message = OutgoingMessage(
        data_topic, b"value", key=b"key", tag="red", headers=(("h", b"1"),), timestamp_ms=17
    )
    with Producer(bootstrap=bootstrap, prefix=topic_prefix, observer=outcomes) as producer:
        results = [producer.send(message) for _ in range(2)]
        assert {result.queue for result in results} == {
            Queue(data_topic, "main", 0),
            Queue(data_topic, "main", 1),
        }
        results.append(producer.send_async(message).result(WAIT_SECONDS))
        results.append(asyncio.run(producer.asend(message)))
        chosen = producer.send(message, selector=by_hash("b"))
        assert chosen.queue == Queue(data_topic, "main", 0)
        results.append(chosen)
        assert len(set(results)) == 5
        assert {result.broker for result in results} == {"1"}
        producer.send_one_way(message)
        before_closing = len(outcomes.told)
    # Closing waited for the one-way message, which began before it.
    assert outcomes.told.count(("acknowledged", 1)) == 6
    assert before_closing <= len(outcomes.told)
    record = stored(bootstrap, results[0])
    assert (record.value, record.key, record.timestamp) == (b"value", b"key", 17)
    assert list(record.headers) == [("h", b"1"), ("TAGS", b"red")]
    with pytest.raises(ClientClosedError):
        producer.send(message)


def test_route_is_asked_for(
    bootstrap: str, topic_prefix: str, data_topic: str, publish: Publish
) -> None:
    """For a topic without a route a producer writes a request, and sends when it is answered."""
    requests: list[dict[str, Any]] = []

    def answer() -> None:
        consumer = KafkaConsumer(
            bootstrap_servers=bootstrap, consumer_timeout_ms=WAIT_SECONDS * 1_000
        )
        with closing(consumer):
            partition = TopicPartition(f"{topic_prefix}requests", 0)
            consumer.assign([partition])
            consumer.seek(partition, 0)
            requests.append(orjson.loads(next(consumer).value))
        publish(data_topic, ["1"])

    bridge = Thread(target=answer)
    bridge.start()
    with Producer(bootstrap=bootstrap, prefix=topic_prefix, group="billing") as producer:
        sent = producer.send_async(OutgoingMessage(data_topic, b"first"), timeout_ms=20_000)
        assert sent.result(WAIT_SECONDS).queue == Queue(data_topic, "main", 0)
    ended(bridge)
    assert requests == [
        {
            "v": 1,
            "kind": "request",
            "group": "billing",
            "what": "route",
            "topic": data_topic,
            "queues": None,
            "consume_timestamp_ms": None,
        }
    ]


def test_a_topic_without_a_route_ends_in_an_error_in_time(
    bootstrap: str, topic_prefix: str, topics: Any
) -> None:
    """A topic that nobody tells of ends in an error that names it, within the time given."""
    del topics
    with Producer(bootstrap=bootstrap, prefix=topic_prefix) as producer:
        with pytest.raises(NoRouteError, match="'nowhere' has no route after"):
            producer.send(OutgoingMessage("nowhere", b"x"), timeout_ms=300)
        failing = producer.send_async(OutgoingMessage("nowhere", b"x"), timeout_ms=300)
        assert isinstance(failing.exception(WAIT_SECONDS), NoRouteError)


def test_queue_that_nobody_leads(
    bootstrap: str, topic_prefix: str, data_topic: str, publish: Publish
) -> None:
    """The final error lists each attempt at a queue that a route names and that is not there."""
    publish(data_topic, ["1", "2", "3", "4"])
    outcomes = Outcomes()
    with Producer(bootstrap=bootstrap, prefix=topic_prefix, observer=outcomes) as producer:
        queue = Queue(data_topic, "main", 3)
        with pytest.raises(SendFailedError) as caught:
            producer.send(OutgoingMessage(data_topic, b"x"), selector=lambda _: queue)
        (attempt,) = caught.value.attempts
        assert (attempt.queue, attempt.broker) == (queue, "4")
        assert f"partition 3 of {data_topic} has no leader" in str(caught.value)
        # Another one goes where somebody is; partition 1 is led by 1, whatever the route says.
        results = [producer.send(OutgoingMessage(data_topic, b"x")) for _ in range(4)]
    assert {result.broker for result in results} == {"1"}
    assert ("failed", None) in outcomes.told


def test_refused_before_the_first_attempt(
    bootstrap: str, topic_prefix: str, data_topic: str, publish: Publish
) -> None:
    """A message that cannot be sent, and a state in which nothing can, are errors at once."""
    publish(data_topic, ["1"])
    outcomes = Outcomes()
    producer = Producer(
        bootstrap=bootstrap, prefix=topic_prefix, observer=outcomes, max_message_bytes=10
    )
    message = OutgoingMessage(data_topic, b"x")
    with pytest.raises(LifecycleError, match="not started"):
        producer.send(message)
    with producer:
        with pytest.raises(ClientStartedError):
            producer.start()
        for bad, field in (
            (OutgoingMessage("a b", b"x"), "topic"),
            (OutgoingMessage("TBW102", b"x"), "topic"),
            (OutgoingMessage(data_topic, b""), "value"),
            (OutgoingMessage(data_topic, "text"), "value"),  # type: ignore[arg-type]
            (OutgoingMessage(data_topic, b"x" * 11), "value"),
        ):
            with pytest.raises(MessageError, match=f"^{field}: "):
                producer.send(bad)
        assert outcomes.told == []


def test_topic_made_by_the_default_route(
    bootstrap: str, topic_prefix: str, publish: Publish
) -> None:
    """A topic that is not there is made with the default route's queues, if that is wanted."""
    publish("TBW102", ["1"] * 8, perm=7)
    topic = f"{topic_prefix}made"
    with (
        Producer(bootstrap=bootstrap, prefix=topic_prefix) as wary,
        pytest.raises(SendFailedError, match=r"0 attempts .* looking up topic .*does not know it"),
    ):
        wary.send(OutgoingMessage(topic, b"x"))
    with Producer(bootstrap=bootstrap, prefix=topic_prefix, create_topics=True) as producer:
        result = producer.send(OutgoingMessage(topic, b"first"), timeout_ms=20_000)
    assert stored(bootstrap, result).value == b"first"
    with closing(KafkaConsumer(bootstrap_servers=bootstrap)) as consumer:
        assert consumer.partitions_for_topic(topic) == {0, 1, 2, 3}


class Silent:
    """A data plane that takes everything and answers nothing."""

    def knows(self, topic: str) -> bool:
        """All topics."""
        return bool(topic)

    def learn(self, topic: str, timeout_ms: int, queues: int | None = None) -> None:
        """Nothing to learn."""

    def send(self, target: Target, message: OutgoingMessage, timeout_ms: int) -> Future[Accepted]:
        """Answer nothing."""
        del target, message, timeout_ms
        return Future()

    def close(self, timeout_ms: int) -> None:
        """Nothing to close."""


def test_closing_fails_what_is_not_answered(
    bootstrap: str, topic_prefix: str, publish: Publish
) -> None:
    """A message that is not answered when the time of closing is over fails, and nobody waits."""
    publish("elsewhere", ["1"])
    with Producer(
        bootstrap=bootstrap, prefix=topic_prefix, make_sender=lambda _, __: Silent()
    ) as producer:
        sent = producer.send_async(OutgoingMessage("elsewhere", b"x"), timeout_ms=600_000)
        producer.close(timeout_ms=10)
        with pytest.raises(ClientClosedError, match="closed before an answer came"):
            sent.result(WAIT_SECONDS)
        with pytest.raises(ClientClosedError):
            producer.send(OutgoingMessage("elsewhere", b"x"))
