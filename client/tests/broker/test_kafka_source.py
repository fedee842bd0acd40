"""The Kafka source of the pull service on a real broker: what kafka-python keeps of a queue."""

from collections.abc import Iterator
from time import monotonic

import pytest
from fairlead_client import Queue
from fairlead_client.consume.pull.kafka_source import KafkaSource
from fairlead_client.settings.client_settings import Settings

WAIT = 30.0


@pytest.fixture
def source(bootstrap: str, data_topic: str, topic_prefix: str) -> Iterator[KafkaSource]:
    """Return a connected source of the topic with two partitions of 20 messages."""
    settings = Settings(
        bootstrap=bootstrap, group="orders", topics=[data_topic], prefix=topic_prefix
    )
    one = KafkaSource(settings, "a")
    one.connect()
    yield one
    one.close()


def _read_to(source: KafkaSource, queue: Queue, at: dict[Queue, int], until: int) -> None:
    """Pull one queue alone, a few messages at a time, until this offset."""
    deadline = monotonic() + WAIT
    while at[queue] < until:
        assert monotonic() < deadline, f"{queue} stands still at {at[queue]}"
        found = source.pull({queue: at[queue]}, 100, 5).get(queue)
        at[queue] = at[queue] if found is None else found.next_offset


def test_held_back_while_half_read(source: KafkaSource, data_topic: str) -> None:
    """A queue that is held back when half of what came of it was read goes on to its end."""
    first, second = (Queue(data_topic, "main", number) for number in range(2))
    source.follow([first, second])
    at = {first: 0, second: 0}
    deadline = monotonic() + WAIT
    while not at[first] or not at[second]:
        assert monotonic() < deadline
        for queue, found in source.pull(at, 100, 5).items():
            at[queue] = found.next_offset
    behind, ahead = sorted((first, second), key=lambda queue: at[queue])
    _read_to(source, ahead, at, 20)
    _read_to(source, behind, at, 20)
