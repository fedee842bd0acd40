"""A topic is read to its end as it is at the moment, its empty partitions included."""

import contextlib
from collections.abc import Iterator

import pytest
from kafka import KafkaProducer

from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.topic_content import read_to_end
from tests.kit.kafka_topics import make_topic


@pytest.fixture
def topic(bootstrap: str, topic_prefix: str) -> str:
    """A topic of three partitions."""
    name = f"{topic_prefix}orders"
    make_topic(bootstrap, name, partitions=3)
    return name


@pytest.fixture
def producer(bootstrap: str) -> Iterator[KafkaProducer]:
    """A producer."""
    with contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
        yield producer


def test_every_record_comes_with_its_place(
    bootstrap: str, topic: str, producer: KafkaProducer
) -> None:
    """Every record comes with its place, and a partition without records is named."""
    for number in range(500):
        producer.send(topic, value=b"%d" % number, partition=number % 2)
    producer.send(topic, key=b"gone", value=None, partition=1)
    producer.flush()
    content = read_to_end(bootstrap, topic)
    assert (content.topic, content.partitions) == (topic, (0, 1, 2))
    by_partition = {
        partition: [r for r in content.records if r.partition == partition] for partition in (0, 1)
    }
    assert [record.offset for record in by_partition[0]] == list(range(250))
    assert [record.value for record in by_partition[0]] == [b"%d" % (2 * n) for n in range(250)]
    last = by_partition[1][-1]
    assert (last.offset, last.key, last.value) == (250, b"gone", None)
    assert last.append_ms > 0
    assert len(content.records) == 501


def test_a_topic_without_records_is_read_at_once(bootstrap: str, topic: str) -> None:
    """A topic without records is read at once."""
    assert read_to_end(bootstrap, topic).records == ()


def test_a_missing_topic_is_named_and_not_made(bootstrap: str, topic_prefix: str) -> None:
    """A topic that does not exist is an error that names it, and is not made by looking."""
    name = f"{topic_prefix}nothing"
    for _ in range(2):
        with pytest.raises(EnvironmentMissingError, match=name):
            read_to_end(bootstrap, name)
