"""A topic that is not there is not asked for again and again, and is read as soon as it is."""

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client import Consumer, PullConsumer
from fairlead_client.model import Queue
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic

from tests.kit.awaiting import await_seen

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

pytestmark = pytest.mark.broker

LOOK_SECONDS = 1.5
"""kafka-python by itself asks ten times a second, and has a line for each answer."""
LINES_MAX = 4
"""So many lines more of two consumers: a question of each may be under way."""


def test_an_absent_topic_is_logged_once_and_read_when_granted(
    engine: "ScriptedEngine", member: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    """The log says that it is not there, and then no more; granted later, it is read at once."""
    topic = f"{engine.prefix}late"

    def lines() -> int:
        wanted = f"Topic {topic} not found in cluster metadata"
        return sum(record.getMessage() == wanted for record in caplog.records)

    with caplog.at_level(logging.ERROR, "kafka.cluster"):
        one = member(Consumer, "one", topics=[topic])
        other = member(PullConsumer, "other", topics=[topic])
        await_seen(lines, what="a line that tells that the topic is absent")
        before = lines()
        ends = time.monotonic() + LOOK_SECONDS
        while time.monotonic() < ends:
            assert one.poll(100) is None
            assert not other.poll(100)
        assert lines() - before <= LINES_MAX
    admin = KafkaAdminClient(bootstrap_servers=engine.bootstrap)
    admin.create_topics([NewTopic(name=topic, num_partitions=2, replication_factor=1)])
    admin.close()
    producer = KafkaProducer(bootstrap_servers=engine.bootstrap, max_block_ms=30_000)
    for number in range(2):
        producer.send(topic, b"first", partition=number).get(timeout=30)
    producer.close()
    engine.grant(engine.heartbeat("one"), Queue(topic, "main", 0), 1)
    engine.grant(engine.heartbeat("other"), Queue(topic, "main", 1), 2)
    await_seen(lambda: one.poll(100), lambda seen: seen is not None, what="a message of one")
    await_seen(lambda: other.poll(100), lambda seen: len(seen) == 1, what="a message of other")
