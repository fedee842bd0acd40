"""The consumer of Fairlead's topics passes over exactly what nobody can read, on a real broker."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest
from fairlead_client.transport.topic_consumer import PLAIN_BYTES_MAX
from kafka import KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from fairlead.kafka.topic_consumer import TopicConsumer
from fairlead.kafka.topic_reader import TopicReader
from fairlead.settings import load_settings
from tests.kit.codecs import produce
from tests.kit.unreadable import damage

if TYPE_CHECKING:
    from fairlead.broker import EmbeddedKafka
    from fairlead.wire.topics import TopicNames

POLLS_MAX: Final = 60


@pytest.fixture
def place(kafka: "EmbeddedKafka", topic_prefix: str) -> Iterator[TopicPartition]:
    """The only partition of a topic that keeps each batch as it came."""
    name = f"{topic_prefix}kept"
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=kafka.bootstrap)) as admin:
        configs = {"compression.type": "producer"}
        admin.create_topics({name: {"num_partitions": 1, "configs": configs}})
        yield TopicPartition(name, 0)
        admin.delete_topics([name])


@pytest.fixture
def ours(topics: "TopicNames") -> TopicPartition:
    """A partition of a topic that Fairlead made."""
    return TopicPartition(topics.name("handovers"), 0)


class Writer:
    """Appends batches to one partition, and remembers which records can be read."""

    def __init__(self, bootstrap: str, place: TopicPartition) -> None:
        self._bootstrap = bootstrap
        self._place = place
        self.good: list[int] = []
        self.bad: list[int] = []

    def append(self, codec: str | None, *values: bytes, readable: bool = True) -> list[int]:
        """Append values in one batch; return their offsets."""
        offsets = produce(self._bootstrap, self._place, codec, values, b"g")
        (self.good if readable else self.bad).extend(offsets)
        return offsets


def read_all(
    bootstrap: str, place: TopicPartition, end: int, **options: Any
) -> tuple[list[int], list[tuple[int, str]]]:
    """Return the offsets that were read, and where and why something was passed over."""
    passed: list[tuple[int, str]] = []
    with contextlib.closing(
        TopicConsumer(
            bootstrap_servers=bootstrap,
            on_unreadable=lambda each: passed.append((each.offset, each.reason)),
            **options,
        )
    ) as consumer:
        consumer.assign([place])
        consumer.seek(place, 0)
        read = []
        for _ in range(POLLS_MAX):
            if consumer.position(place) >= end:
                break
            polled = consumer.poll(timeout_ms=500, max_records=3)
            read += [record.offset for records in polled.values() for record in records]
        assert consumer.position(place) == end
        assert consumer.passed_over == len(passed)
    return read, passed


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_good_records_beside_bad_ones_are_all_read(
    kafka: "EmbeddedKafka", place: TopicPartition, isolation: str
) -> None:
    """Codecs, a checksum, a bomb and markers stand between them."""
    writer = Writer(kafka.bootstrap, place)
    writer.append(None, b"first")
    zstd = writer.append("zstd", b"a", b"b", readable=False)
    writer.append(None, b"between", b"and between")
    lz4 = writer.append("lz4", b"c", readable=False)
    damaged = writer.append(None, b"damaged-1", b"damaged-2", b"damaged-3", readable=False)
    writer.append("gzip", b"packed" * 100, b"well")
    bomb = writer.append("gzip", bytes(PLAIN_BYTES_MAX + 1), readable=False)
    with contextlib.closing(
        KafkaProducer(bootstrap_servers=kafka.bootstrap, transactional_id=place.topic)
    ) as producer:
        producer.init_transactions()
        for end in (producer.commit_transaction, producer.abort_transaction):
            producer.begin_transaction()
            sent = producer.send(place.topic, b"in one", b"g", partition=place.partition).get(30)
            end()
            if end == producer.commit_transaction or isolation == "read_uncommitted":
                writer.good.append(sent.offset)
    writer.append(None, b"behind the markers")
    (last,) = writer.append(None, b"damaged-4", readable=False)
    damage(kafka, place, b"damaged-2")
    damage(kafka, place, b"damaged-4")
    read, passed = read_all(kafka.bootstrap, place, last + 1, isolation_level=isolation)
    assert read == writer.good
    assert [offset for offset, _ in passed] == [
        zstd[0], lz4[0], damaged[0], bomb[0], last,
    ]  # fmt: skip
    words = ("zstd", "lz4", "checksum", "bytes", "checksum")
    assert all(word in reason for (_, reason), word in zip(passed, words, strict=True))


def test_behind_a_damaged_batch_it_waits_for_the_next_record(
    kafka: "EmbeddedKafka", place: TopicPartition
) -> None:
    """Nothing says where it ends: it is left offset by offset, and told once."""
    writer = Writer(kafka.bootstrap, place)
    bad = writer.append(None, b"broken-1", b"broken-2", b"broken-3", readable=False)
    damage(kafka, place, b"broken-2")
    with contextlib.closing(TopicConsumer(bootstrap_servers=kafka.bootstrap)) as consumer:
        consumer.assign([place])
        consumer.seek(place, 0)
        for _ in range(POLLS_MAX):
            assert not consumer.poll(timeout_ms=100)
            if consumer.position(place) > bad[-1]:
                break
        (good,) = writer.append(None, b"whole")
        polls = (consumer.poll(timeout_ms=500) for _ in range(POLLS_MAX))
        (record,) = next(polled[place] for polled in polls if polled)
        assert record.offset == good
        assert consumer.passed_over == 1


def test_newest_record_is_the_newest_that_can_be_read(
    kafka: "EmbeddedKafka", place: TopicPartition, topic_prefix: str
) -> None:
    """Whether nothing, or something, stands before what cannot be read."""
    writer = Writer(kafka.bootstrap, place)
    settings = load_settings(
        overrides={"kafka.bootstrap": kafka.bootstrap, "kafka.topic_prefix": topic_prefix}
    )
    with TopicReader(settings.kafka) as reader:
        assert reader.newest(*place) is None
        writer.append("zstd", b"no", readable=False)
        assert reader.newest(*place) is None
        writer.append(None, b"old", b"newest")
        for _ in range(3):
            writer.append("lz4", b"no", b"nor this", readable=False)
        newest = reader.newest(*place)
        assert newest is not None
        assert newest.value == b"newest"


def test_broker_keeps_no_codec_where_the_topic_is_set_right(
    kafka: "EmbeddedKafka", ours: TopicPartition
) -> None:
    """The broker decompresses what any producer sends."""
    offsets = [
        offset
        for codec in ("zstd", "lz4", "gzip", None)
        for offset in produce(kafka.bootstrap, ours, codec, [codec.__repr__().encode()], b"g")
    ]
    assert read_all(kafka.bootstrap, ours, offsets[-1] + 1) == (offsets, [])


def test_small_batch_of_a_large_record_is_refused_and_the_broker_goes_on(
    kafka: "EmbeddedKafka", ours: TopicPartition
) -> None:
    """It costs the broker one request, and nobody else anything."""
    with pytest.raises(KafkaError):
        produce(kafka.bootstrap, ours, "zstd", [bytes(150_000_000)], b"g", retries=0)
    offsets = produce(kafka.bootstrap, ours, None, [b"and on"], b"g")
    assert read_all(kafka.bootstrap, ours, offsets[-1] + 1) == (offsets, [])
