"""The contract of a sink, held by every sink there is, for real."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.kit.topic_reading import read_to_ends

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sinks import Sink


class Row(NamedTuple):
    """One output record."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None


class SinkUnderTest(NamedTuple):
    """A sink, and how to look at what it wrote: in order within each topic and partition."""

    sink: "Sink"
    topics: tuple[str, str]
    read: Callable[[], list[Row]]


def _records(topics: tuple[str, str]) -> list[Row]:
    """Return records for two topics of three partitions, a deletion and a null key among them."""
    first, second = topics
    return [
        *(
            Row(first, number % 3, b'["k",%d]' % number, b'{"n":%d}' % number)
            for number in range(9)
        ),
        Row(second, 2, "schlüssel".encode(), '{"text":"über \\" 消费组"}'.encode()),
        Row(second, 0, b"gone", None),
        Row(second, 1, None, b"{}"),
    ]


def _kafka(bootstrap: str, prefix: str) -> SinkUnderTest:
    from kafka import KafkaConsumer, TopicPartition

    from sinks import KafkaSink
    from tests.kit.kafka_topics import make_topic

    topics = (f"{prefix}first", f"{prefix}second")
    make_topic(bootstrap, *topics, partitions=3)

    def read() -> list[Row]:
        consumer = KafkaConsumer(bootstrap_servers=bootstrap)
        partitions = [TopicPartition(topic, number) for topic in topics for number in range(3)]
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        rows: list[Row] = []
        read_to_ends(
            consumer,
            lambda polled: rows.extend(
                Row(each.topic, each.partition, each.key, each.value)
                for records in polled.values()
                for each in records
            ),
        )
        consumer.close()
        return rows

    return SinkUnderTest(KafkaSink(bootstrap), topics, read)


def _files(spark: "SparkSession", folder: Path, form: str) -> SinkUnderTest:
    from sinks import OUTPUT_SCHEMA, FileSink

    def read() -> list[Row]:
        found = spark.read.schema(schema).format(form).load(str(folder)).collect()
        return [Row(row.topic, row.partition, _bytes(row.key), _bytes(row.value)) for row in found]

    text = "topic string, partition int, key string, value string"
    schema = text if form == "json" else OUTPUT_SCHEMA
    sink = FileSink(folder, "json") if form == "json" else FileSink(folder, "parquet")
    return SinkUnderTest(sink, ("first", "second"), read)


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value and bytes(value)


@pytest.fixture(params=["kafka", "json", "parquet"])
def under_test(
    request: pytest.FixtureRequest,
    spark: "SparkSession",
    bootstrap: str,
    topic_prefix: str,
    tmp_path: Path,
) -> Iterator[SinkUnderTest]:
    """Each sink in turn."""
    if request.param == "kafka":
        yield _kafka(bootstrap, topic_prefix)
    else:
        yield _files(spark, tmp_path / "out", request.param)


def _write(spark: "SparkSession", sink: "Sink", rows: list[Row], folder: Path) -> None:
    """Send rows through a streaming query, as one batch of one task."""
    from sinks import OUTPUT_SCHEMA

    spark.createDataFrame(rows, OUTPUT_SCHEMA).coalesce(1).write.mode("append").parquet(
        str(folder / "in")
    )
    frame = spark.readStream.schema(OUTPUT_SCHEMA).parquet(str(folder / "in"))
    query = (
        sink.writer(frame)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(60)


def _by_partition(rows: list[Row]) -> dict[tuple[str, int], list[Row]]:
    found: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        found.setdefault((row.topic, row.partition), []).append(row)
    return found


def test_a_record_is_written_byte_for_byte_in_order(
    spark: "SparkSession", under_test: SinkUnderTest, tmp_path: Path
) -> None:
    """A record ends up in its row's topic and partition, byte for byte and in order."""
    rows = _records(under_test.topics)
    _write(spark, under_test.sink, rows, tmp_path)
    assert _by_partition(under_test.read()) == _by_partition(rows)


def test_a_restarted_sink_adds_only_what_is_new(
    spark: "SparkSession", under_test: SinkUnderTest, tmp_path: Path
) -> None:
    """A sink that is taken up again from its checkpoint adds what is new and nothing else."""
    rows = _records(under_test.topics)
    _write(spark, under_test.sink, rows[:5], tmp_path)
    _write(spark, under_test.sink, rows[5:], tmp_path)
    assert sorted(under_test.read(), key=repr) == sorted(rows, key=repr)
