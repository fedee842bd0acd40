"""The real job, bridge and client: a failed message comes back, and nothing waits for it."""

import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

import pytest
from fairlead_client import ConsumeContext, ConsumeResult, Message, PushConsumer
from fairlead_client.retry.redelivery import redelivery_of
from kafka import KafkaAdminClient

from fairlead.bridges.kafka import BridgeTimes, KafkaBridge
from fairlead.settings import Settings, load_settings
from fairlead.topics import create_topics, topic_specs
from tests.bridges.kafka.ledger import running
from tests.bridges.kafka.test_offsets import fill
from tests.streaming.log import Log
from tests.streaming.running import job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka

WAIT_SECONDS = 120


class System(NamedTuple):
    """The running job and bridge, a topic of one queue with ten messages, and a Kafka to change."""

    settings: Settings
    topic: str
    admin: KafkaAdminClient


@pytest.fixture
def system(
    spark_of_the_run: "SparkSession", kafka: "EmbeddedKafka", tmp_path: Path
) -> Iterator[System]:
    """Job and bridge."""
    place, name = {"bootstrap_servers": kafka.bootstrap}, uuid.uuid4().hex[:8]
    settings = load_settings(
        overrides={
            "kafka.bootstrap": kafka.bootstrap,
            "kafka.topic_prefix": f"retries-{name}.",
            "engine.checkpoint": f"{tmp_path}/checkpoint",
            "metrics.port": 0,
        }
    )
    topic = f"orders-{name}"
    create_topics(place, settings.kafka.topic_prefix, topic_specs(settings.topics))
    admin = KafkaAdminClient(**place)
    admin.create_topics({topic: {"num_partitions": 1}}, wait_for_metadata=True)
    fill(kafka.bootstrap, topic, 0, [1_780_999_000_000 + number for number in range(10)])
    bridge = KafkaBridge(
        control_bootstrap=kafka.bootstrap,
        prefix=settings.kafka.topic_prefix,
        cluster_name="main",
        times=BridgeTimes(poll_ms=500),
    )
    with Log(settings.kafka) as log, running(bridge), job(spark_of_the_run, settings, log):
        yield System(settings, topic, admin)
    admin.close()


def test_a_retry_topic_that_comes_late(system: System) -> None:
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
        bootstrap=system.settings.kafka.bootstrap,
        prefix=system.settings.kafka.topic_prefix,
        group=group,
        topics=[system.topic],
        consume_from="first_offset",
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
