"""Failed messages on a real broker: they are kept, come back, and are dead in the end."""

import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, Any

import fairlead_client.consume.retry.send_back as send_back_module
import orjson
import pytest
from fairlead_client import SendBackError
from fairlead_client.consume.retry.redelivery import redelivery_of
from fairlead_client.consume.retry.send_back import KafkaFailedMessages
from fairlead_client.message import Message
from fairlead_client.model import Epoch, Queue
from fairlead_client.settings.client_settings import Settings
from kafka import KafkaAdminClient, KafkaConsumer
from kafka.structs import TopicPartition

from tests.kit.awaiting import child_process

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

    from fairlead.wire.topics import TopicNames

WAIT_SECONDS = 30
BIG = 3 * 1_024 * 1_024

PROGRAM = """if True:
    import os, signal
    from fairlead_client import Consumer
    from fairlead_client.settings.client_settings import Settings
    from fairlead_client.consume.retry.send_back import KafkaFailedMessages

    chosen = dict(bootstrap={bootstrap!r}, group={group!r}, topics=[{topic!r}])
    kept = KafkaFailedMessages(Settings(**chosen), "failing")
    with Consumer(prefix={prefix!r}, client_id="failing", **chosen) as consumer:
        for message in consumer:
            kept.send_back(message, 1, 0)
            os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def group(topic_prefix: str) -> str:
    """A group of the test's own, with a dot in its name."""
    return f"{topic_prefix}g"


@pytest.fixture
def own_topics(bootstrap: str, group: str) -> tuple[str, str]:
    """Kafka's names of the group's retry topic, with a queue for each level, and of its DLQ."""
    escaped = group.replace("_", "__").replace(".", "_d")
    retry, dead = f"_-RETRY_-{escaped}", f"_-DLQ_-{escaped}"
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics(
        {
            retry: {"num_partitions": 18, "configs": {"max.message.bytes": str(2 * BIG)}},
            dead: {"num_partitions": 1},
        },
        wait_for_metadata=True,
    )
    admin.close()
    return retry, dead


@pytest.fixture
def kept(bootstrap: str, group: str) -> Iterator[KafkaFailedMessages]:
    """Where the group's failed messages are kept; each may come back twice."""
    settings = Settings(bootstrap=bootstrap, group=group, topics=["orders"])
    made = KafkaFailedMessages(settings, "c", max_reconsume_times=2)
    yield made
    made.close()


def read_one(bootstrap: str, topic: str, partition: int, offset: int = 0) -> Any:
    """Return the message at a place of Kafka."""
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        consumer_timeout_ms=WAIT_SECONDS * 1_000,
    )
    place = TopicPartition(topic, partition)
    consumer.assign([place])
    consumer.seek(place, offset)
    record = next(consumer)
    consumer.close(autocommit=False)
    return record


def test_until_it_is_dead(
    bootstrap: str, group: str, own_topics: tuple[str, str], kept: KafkaFailedMessages
) -> None:
    """A message comes back in the queue of each next delay, as it was, and ends in the DLQ."""
    retry, dead = own_topics
    headers = (("TAGS", b"A"), ("TAGS", b"B"))
    first = Message(
        Queue("orders", "main", 3), 7, b"key", b"value", headers, 1_780_999_000_000, Epoch(1, 1)
    )
    message = first
    for times, partition in ((1, 2), (2, 3)):
        kept.send_back(message, 1, 0)
        record = read_one(bootstrap, retry, partition)
        told = redelivery_of(record.headers)
        assert told is not None
        assert told.reconsume_times == times
        assert told.due_ms is not None
        assert told.due_ms - record.timestamp in range((10_000, 30_000)[times - 1] + 1)
        message = Message(
            Queue(f"%RETRY%{group}", "main", partition),
            record.offset,
            record.key,
            record.value,
            tuple(record.headers),
            record.timestamp,
            Epoch(1, 2),
        )
        assert (message.key, message.value, message.headers[:2]) == (b"key", b"value", headers)
    kept.send_back(message, 1, 0)
    record = read_one(bootstrap, dead, 0)
    told = redelivery_of(record.headers)
    assert told is not None
    assert (told.reconsume_times, told.origin, told.message_id) == (2, first.queue, "orders-3@7")
    assert (record.key, record.value, tuple(record.headers[:2])) == (b"key", b"value", headers)


def test_big_and_under_way_at_the_end(
    bootstrap: str, own_topics: tuple[str, str], kept: KafkaFailedMessages
) -> None:
    """What is not answered at the end does not hold it up, and is kept; so is a big message."""
    retry, _ = own_topics
    nulls: Any = (("trace", None),)
    nothing = Message(Queue("orders", "main", 0), 7, None, None, nulls, 0, Epoch(1, 1))
    kept.send_back(nothing, 1, 0)
    record = read_one(bootstrap, retry, 2)
    assert (record.key, record.value, record.headers[0]) == (None, b"", ("trace", b""))
    big = replace(nothing, offset=8, value=bytes(BIG))
    with ThreadPoolExecutor() as pool:
        producer: Any = kept._producer  # noqa: SLF001 - nothing else shows what is under way
        sent = pool.submit(kept.send_back, big, 1, 0)
        while not producer._accumulator._incomplete and not sent.done():  # noqa: SLF001
            Event().wait(0.000_5)
        kept.close()
        sent.result(WAIT_SECONDS)
    assert len(read_one(bootstrap, retry, 2, 1).value) == BIG


@pytest.mark.parametrize("delay, topic", [(0, "%RETRY%"), (-1, "%DLQ%")])
def test_without_its_retry_topic_a_message_is_not_kept(
    kept: KafkaFailedMessages, delay: int, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its topic a message is not kept, what to look at is said, and nobody asks on."""
    monkeypatch.setattr(send_back_module, "MAKING_WAIT_MS", 0)
    message = Message(Queue("orders", "main", 0), 7, None, b"value", (), 0, Epoch(1, 1))
    with pytest.raises(SendBackError, match=f"orders-0@7 was not written to {topic}"):
        kept.send_back(message, 1, delay)
    # A producer that stays asks for its topics without an end.
    assert kept._producer is None  # noqa: SLF001


@pytest.mark.parametrize("delay, name", [(0, "RETRY"), (-1, "DLQ")])
def test_a_client_waits_once_a_second_until_its_topics_are_made(
    bootstrap: str, topics: "TopicNames", group: str, delay: int, name: str
) -> None:
    """Who lacks its group's topics asks for them once a second, and waits until they are made."""
    escaped = group.replace("_", "__").replace(".", "_d")
    settings = Settings(
        bootstrap=bootstrap, group=group, topics=["orders"], prefix=topics.prefix, lease_ms=15_000
    )
    message = Message(Queue("orders", "main", 0), 7, None, b"value", (), 0, Epoch(1, 1))
    with (
        closing(KafkaFailedMessages(settings, "c")) as kept,
        ThreadPoolExecutor() as pool,
        closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin,
    ):
        sent = pool.submit(kept.send_back, message, 1, delay)
        asked = orjson.loads(read_one(bootstrap, topics.name("requests"), 0).value)
        assert (asked["what"], asked["group"], asked["topic"]) == (
            "retry",
            group,
            f"%RETRY%{group}",
        )
        assert not sent.done()
        made = {f"_-{kind}_-{escaped}": {"num_partitions": 1} for kind in ("RETRY", "DLQ")}
        admin.create_topics(made)
        sent.result(WAIT_SECONDS)
    assert read_one(bootstrap, f"_-{name}_-{escaped}", 0).value == b"value"


def test_after_a_wait_in_vain_the_next_one_is_short(
    bootstrap: str, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After one wait in vain the next message holds up its queue for a second only."""
    monkeypatch.setattr(send_back_module, "METADATA_WAIT_MS", 100)
    monkeypatch.setattr(send_back_module, "MAKING_WAIT_MS", 800)
    waits: list[float] = []
    settings = Settings(bootstrap=bootstrap, group=group, topics=["orders"])
    message = Message(Queue("orders", "main", 0), 7, None, b"value", (), 0, Epoch(1, 1))
    with closing(KafkaFailedMessages(settings, "c")) as kept:
        asked: list[None] = []
        monkeypatch.setattr(kept, "_ask_now", lambda: asked.append(None))
        for _ in range(2):
            asked.clear()
            with pytest.raises(SendBackError):
                kept.send_back(message, 1, 0)
            # Asking is work of a thread of its own.
            kept._asking.submit(int).result(WAIT_SECONDS)  # noqa: SLF001 - it says when it is done
            waits.append(len(asked))
    # Asked with each look at the topic, and once more at the end.
    assert waits[0] > waits[1] == 2


def test_killed_before_the_commit(
    engine: "ScriptedEngine", data_topic: str, bootstrap: str, topic_prefix: str
) -> None:
    """A process killed between sending back and passing the message loses it in neither place."""
    group = f"{topic_prefix}g"
    engine_of_group = type(engine)(bootstrap, topic_prefix, group)
    engine_of_group.generation = engine.generation
    escaped = group.replace("_", "__").replace(".", "_d")
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics(
        {f"_-RETRY_-{escaped}": {"num_partitions": 1}, f"_-DLQ_-{escaped}": {}},
        wait_for_metadata=True,
    )
    admin.close()
    program = PROGRAM.format(
        bootstrap=bootstrap, group=group, topic=data_topic, prefix=topic_prefix
    )
    with child_process([sys.executable, "-c", program]) as process:
        heartbeat = engine_of_group.heartbeat("failing")
        engine_of_group.grant(heartbeat, Queue(data_topic, "main", 0), 1)
        assert process.wait(WAIT_SECONDS) == -signal.SIGKILL
    back = read_one(bootstrap, f"_-RETRY_-{escaped}", 0)
    told = redelivery_of(back.headers)
    assert told is not None
    assert (told.origin, told.origin_offset) == (Queue(data_topic, "main", 0), 0)
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, group_id=group, enable_auto_commit=False)
    assert not consumer.committed(TopicPartition(data_topic, 0))
    consumer.close(autocommit=False)
    engine_of_group.close()
