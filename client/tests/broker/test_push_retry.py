"""A message that a listener fails comes back by the group's retry topic, and ends as dead."""

from collections.abc import Iterator, Sequence
from queue import SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING

import pytest
from fairlead_client import ConsumeContext, ConsumeResult, Message, PushConsumer, Queue
from fairlead_client.consume.retry.redelivery import redelivery_of
from fairlead_client.session.topic_names import dead_letter_topic, kafka_topic, retry_topic
from kafka import KafkaAdminClient, KafkaConsumer
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

    from tests.kit.gateway_server import Transport

WAIT = 30.0


@pytest.fixture
def own(engine: "ScriptedEngine") -> Iterator["ScriptedEngine"]:
    """An engine of a group of the test's own, whose retry and dead-letter topics are made."""
    scripted = type(engine)(engine.bootstrap, engine.prefix, f"{engine.prefix}g")
    admin = KafkaAdminClient(bootstrap_servers=engine.bootstrap)
    names = {
        kafka_topic(retry_topic(scripted.group)): {"num_partitions": 18},
        kafka_topic(dead_letter_topic(scripted.group)): {"num_partitions": 1},
    }
    admin.create_topics(names, wait_for_metadata=True)
    scripted.claim()
    yield scripted
    admin.delete_topics(list(names))
    admin.close()
    scripted.close()


@pytest.mark.parametrize("transport", ["direct", "gateway"], indirect=True)
def test_a_failed_message_comes_back_by_level_then_is_dead(
    own: "ScriptedEngine", transport: "Transport", data_topic: str
) -> None:
    """It comes back after its delay from the queue of its level, then is dead; nothing is lost."""
    seen: SimpleQueue[tuple[float, Message]] = SimpleQueue()

    def fail_one(messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        context.delay = 1
        for message in messages:
            seen.put((monotonic(), message))
        failed = messages[0].value == b"3"
        return ConsumeResult.RECONSUME_LATER if failed else ConsumeResult.CONSUME_SUCCESS

    with PushConsumer(
        **transport.settings(group=own.group, topics=[data_topic]),
        client_id="a",
        listener=fail_one,
        max_reconsume_times=1,
    ) as consumer:
        beat = own.heartbeat("a")
        retried = Queue(retry_topic(own.group), "main", 0)
        assert retried.topic in [entry["topic"] for entry in beat["subscriptions"]]
        own.grant(beat, Queue(data_topic, "main", 0), 1)
        own.grant(beat, retried, 2)
        took = [seen.get(timeout=WAIT) for _ in range(21)]
        first, again = (one for one in took if one[1].value == b"3")
        assert again[1].queue == retried
        assert again[0] - first[0] >= 0.9
        told = redelivery_of(again[1].headers)
        assert told is not None
        assert (told.reconsume_times, told.origin_offset) == (1, 3)
        dead = TopicPartition(kafka_topic(dead_letter_topic(own.group)), 0)
        reader = KafkaConsumer(
            bootstrap_servers=own.bootstrap,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            consumer_timeout_ms=WAIT * 1_000,
        )
        reader.assign([dead])
        reader.seek(dead, 0)
        assert next(reader).value == b"3"
        reader.close(autocommit=False)
    assert own.release(retried, 2)["position"] == [0, 1]
    assert own.release(Queue(data_topic, "main", 0), 1)["position"] == [0, 20]
    assert consumer.consume_counts["sent_back"] == 2
