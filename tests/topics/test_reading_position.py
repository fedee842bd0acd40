"""Where a consumer reads on, while the leader of its partition does not answer."""

import contextlib
from typing import TYPE_CHECKING

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from fairlead.kafka.reading_position import UNKNOWN_POSITION, position_of
from tests.kit.awaiting import await_seen
from tests.kit.kafka_topics import make_topic

if TYPE_CHECKING:
    from fairlead.broker import EmbeddedKafka

REQUEST_MS = 500
pytestmark = pytest.mark.broker


def test_a_silent_leader_leaves_the_position_below_all(
    kafka: "EmbeddedKafka", topic_prefix: str
) -> None:
    """Below every offset until the leader says where the topic begins, and a number ever after."""
    topic = f"{topic_prefix}orders"
    partition = TopicPartition(topic, 0)
    make_topic(kafka.bootstrap, topic)
    with contextlib.closing(KafkaProducer(bootstrap_servers=kafka.bootstrap)) as producer:
        producer.send(topic, b"x", partition=0)
    options = {
        "bootstrap_servers": kafka.bootstrap,
        "request_timeout_ms": REQUEST_MS,
        "fetch_max_wait_ms": 100,
    }
    with contextlib.closing(KafkaConsumer(**options)) as consumer:
        consumer.assign([partition])
        assert consumer.end_offsets([partition]) == {partition: 1}
        consumer.seek_to_beginning()
        kafka.pause()
        try:
            assert position_of(consumer, partition) == UNKNOWN_POSITION
        finally:
            kafka.resume()
        await_seen(
            lambda: position_of(consumer, partition), lambda at: at >= 0, what="known position"
        )
        assert [record.value for record in consumer.poll(30_000)[partition]] == [b"x"]
        assert position_of(consumer, partition) == 1
