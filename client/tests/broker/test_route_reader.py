"""Routes are read from a real broker: those there are, and each change."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import orjson
import pytest
from fairlead_client.errors import ClientClosedError
from fairlead_client.routes.topic_route import TopicRoute
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.route_reader import RouteReader
from kafka import KafkaProducer

WAIT_SECONDS = 30
Write = Callable[[str, int | None], None]
Told = SimpleQueue[tuple[str, TopicRoute | None]]


def route_record(topic: str, queues: int) -> bytes:
    """Return the record of a topic with so many queues on one broker."""
    broker = {
        "broker_name": "main",
        "cluster": "main",
        "perm": 6,
        "read_queue_nums": queues,
        "write_queue_nums": queues,
        "addresses": {"0": "127.0.0.1:9092"},
        "leaders": None,
        "zones": None,
    }
    return orjson.dumps(
        {
            "v": 1,
            "kind": "route",
            "topic": topic,
            "identity": "one",
            "order_topic_conf": None,
            "brokers": [broker],
        }
    )


@pytest.fixture
def write(bootstrap: str, topics: Any, topic_prefix: str) -> Iterator[Callable[[bytes, Any], None]]:
    """Write a key and a value to the routes topic."""
    del topics
    producer = KafkaProducer(bootstrap_servers=bootstrap)

    def written(key: bytes, value: bytes | None) -> None:
        producer.send(f"{topic_prefix}routes", value, key=key).get(timeout=WAIT_SECONDS)

    yield written
    producer.close()


@contextmanager
def reading(bootstrap: str, prefix: str) -> Iterator[tuple[RouteReader, Told]]:
    """Read routes of a prefix; gives the reader and what it tells."""
    told: Told = SimpleQueue()
    settings = Settings(bootstrap=bootstrap, prefix=prefix, group="g", topics=["t"])
    reader = RouteReader(settings, "routes", lambda topic, route: told.put((topic, route)))
    reader.start()
    yield reader, told
    reader.stop()
    reader.join(WAIT_SECONDS)
    assert not reader.is_alive()


def queue_nums(told: Told) -> tuple[str, int | None]:
    """Return the next topic told, and how many queues its first broker has."""
    topic, route = told.get(timeout=WAIT_SECONDS)
    return topic, None if route is None else route.queue_datas[0].write_queue_nums


def test_read_to_the_end_then_followed(
    bootstrap: str, topic_prefix: str, write: Callable[[bytes, Any], None]
) -> None:
    """The reader reports what is there before `ready`, and each later change as it comes."""
    write(b"orders", route_record("orders", 2))
    write(b"orders", b"no json")
    write(b"orders", route_record("orders", 4))
    with reading(bootstrap, topic_prefix) as (reader, told):
        assert reader.ready.wait(WAIT_SECONDS)
        assert told.qsize() == 2
        assert [queue_nums(told), queue_nums(told)] == [("orders", 2), ("orders", 4)]
        assert reader.malformed == 1
        write(b"bills", route_record("bills", 1))
        write(b"orders", None)
        assert [queue_nums(told), queue_nums(told)] == [("bills", 1), ("orders", None)]
        write(b"orders", route_record("orders", 8))
        reader.read_to_end().result(WAIT_SECONDS)
        assert not told.empty()
    with pytest.raises(ClientClosedError):
        reader.read_to_end().result(WAIT_SECONDS)


def test_topic_that_is_not_there(bootstrap: str, topic_prefix: str) -> None:
    """Without a routes topic the reader says so and goes on trying."""
    with reading(bootstrap, topic_prefix) as (reader, told):
        deadline = time.monotonic() + WAIT_SECONDS
        while reader.last_error is None and time.monotonic() < deadline:
            reader.ready.wait(0.05)
        assert "does not exist; start the engine first" in str(reader.last_error)
        assert not reader.ready.is_set()
        assert told.empty()
