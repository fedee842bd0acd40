"""The real job, bridge and client: a failed message comes back, and nothing waits for it."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

import pytest
from fairlead_client import ConsumeContext, ConsumeResult, Message, PushConsumer
from fairlead_client.consume.retry.redelivery import redelivery_of

from tests.kit.kafka_log import body_of
from tests.kit.live_system import BridgedSystem, bridged

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka

WAIT_SECONDS = 120


@pytest.fixture
def system(
    spark_of_the_run: "SparkSession", kafka: "EmbeddedKafka", tmp_path: Path
) -> Iterator[BridgedSystem]:
    """Job and bridge, and a topic of one queue with ten messages."""
    with bridged(spark_of_the_run, kafka.bootstrap, tmp_path) as found:
        yield found


def test_a_retry_topic_that_comes_late(system: BridgedSystem) -> None:
    """While Kafka refuses the retry topic everything else is consumed; then what failed is too."""
    in_the_way, group = f"_-RETRY.-{system.topic}", system.topic
    system.admin.create_topics({in_the_way: {"num_partitions": 1}}, wait_for_metadata=True)
    consumed: SimpleQueue[Message] = SimpleQueue()
    failed: SimpleQueue[Message] = SimpleQueue()

    def listen(messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        (message,) = messages
        context.delay = 1
        if message.offset == 3 and message.topic == system.topic:
            failed.put(message)
            return ConsumeResult.RECONSUME_LATER
        consumed.put(message)
        return ConsumeResult.CONSUME_SUCCESS

    with PushConsumer(
        **system.client,
        group=group,
        listener=listen,
    ):
        taken = [consumed.get(timeout=WAIT_SECONDS) for _ in range(9)]
        assert sorted(message.offset for message in taken) == [0, 1, 2, 4, 5, 6, 7, 8, 9]
        system.admin.delete_topics([in_the_way])
        back = consumed.get(timeout=WAIT_SECONDS)
    told = redelivery_of(back.headers)
    assert told is not None
    assert back.topic == f"%RETRY%{group}"
    assert (told.origin.topic, told.origin_offset) == (system.topic, 3)
    # What failed while it could not be sent back counts too.
    assert told.reconsume_times == failed.qsize()
    assert consumed.empty()


@pytest.mark.slow  # a topic that goes is also tested where routes are
def test_a_retry_topic_that_is_deleted(system: BridgedSystem) -> None:
    """It is made again for a message that is to be sent back; who only subscribes has none."""
    group = f"{system.topic}-again"
    retry = f"%RETRY%{group}"
    failing, back = {3}, SimpleQueue[Message]()

    def listen(messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        (message,) = messages
        context.delay = 1
        if message.topic == system.topic and message.offset in failing:
            return ConsumeResult.RECONSUME_LATER
        if message.topic == retry:
            back.put(message)
        return ConsumeResult.CONSUME_SUCCESS

    def subscribe(*groups: str) -> None:
        """Let somebody heartbeat in these groups as the client does in its own; await its turn."""
        told = system.log.await_record("heartbeats", lambda each: "subscriptions" in body_of(each))
        beat = body_of(told)
        for name in groups:
            subscriptions = [{**beat["subscriptions"][-1], "topic": f"%RETRY%{name}"}]
            system.log.append_of(
                "heartbeats", name, {**beat, "group": name, "subscriptions": subscriptions}
            )
        for name in groups:
            system.log.await_record("requests", partial(_asks, name))

    def identity(*others: str) -> str:
        """Return the life of the retry topic's route, another one than these."""

        def wanted(record: "ConsumerRecord") -> bool:
            told = body_of(record)
            return told.get("topic") == retry and told["identity"] not in others

        return str(body_of(system.log.await_record("routes", wanted))["identity"])

    with PushConsumer(**system.client, group=group, listener=listen) as consumer:
        assert back.get(timeout=WAIT_SECONDS).topic == retry
        first = identity()
        subscribe(*(f"{system.topic}-quiet-{number}" for number in range(40)))
        named = [name for name in system.admin.list_topics() if name.endswith(f"_-{group}")]
        assert len(named) == 2
        system.admin.delete_topics(named)
        failing.add(10)
        system.write(0, 1)
        identity(first)
        again = redelivery_of(back.get(timeout=WAIT_SECONDS).headers)
        assert again is not None
        assert again.origin_offset == 10
        assert {*named} <= {*system.admin.list_topics()}
        assert not [name for name in system.admin.list_topics() if "-quiet-" in name]
        assert {queue.topic for queue in consumer.assignment()} == {system.topic, retry}
    assert back.empty()


def _asks(group: str, record: "ConsumerRecord") -> bool:
    """Tell whether a group asks for the route of its retry topic."""
    told = body_of(record)
    return (told["group"], told["what"], told["topic"]) == (group, "route", f"%RETRY%{group}")
