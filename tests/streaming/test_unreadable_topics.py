"""An engine and clients on topics with batches that nobody can read: named, and gone past."""

import contextlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson
import pytest
from fairlead_client import Consumer, NoticeError, OutgoingMessage, Producer
from fairlead_client.transport.partitioner import partition_of
from kafka import KafkaAdminClient, TopicPartition

from fairlead.settings import Settings, load_settings
from fairlead.wire.partition import partition_of_group
from tests.fixtures.kafka import FEW_PARTITIONS
from tests.kit.awaiting import await_seen
from tests.kit.codecs import produce_in_each
from tests.kit.job import job
from tests.kit.kafka_log import SHARDS, Log, body_of
from tests.kit.memory_topics import route
from tests.kit.unreadable import old_topics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka

GROUP: Final = "orders"
CLIENT_ID: Final = "a"
ASSIGNMENTS: Final = int(FEW_PARTITIONS["topics.assignments_partitions"])


def _settings(kafka: "EmbeddedKafka", prefix: str, folder: Path) -> Settings:
    return load_settings(
        overrides={
            "kafka.bootstrap": kafka.bootstrap,
            "kafka.topic_prefix": prefix,
            "engine.checkpoint": str(folder / "checkpoint"),
            "metrics.port": 0,
            **FEW_PARTITIONS,
        }
    )


@pytest.mark.slow
def test_a_starting_engine_publishes_claims_and_reads(
    spark: "SparkSession",
    kafka: "EmbeddedKafka",
    topic_prefix: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It publishes its rules, claims its generation, and reads what stands behind."""
    # What the driver itself reads at a start is control. Of the query's own topics Java reads any
    # codec, and a damaged batch takes `--skip`: test_skipping.py.
    shard = partition_of_group(GROUP, SHARDS)
    with old_topics(kafka, topic_prefix) as old:
        read = old.spoil([("heartbeats", shard), ("control", 0)], damaged=False)
        old.spoil([(suffix, 0) for suffix in ("handovers", "requests", "assignments")])
        claims = old.spoil([("generations", 0)])
        old.set_right()
        settings = _settings(kafka, topic_prefix, tmp_path)
        with Log(settings.kafka) as log, job(spark, settings, log) as running:
            log.append_of("heartbeats", GROUP, b"behind it")
            heartbeats = TopicPartition(old.names.name("heartbeats"), shard)

            def refused() -> list[Any]:
                return [orjson.loads(record.value)["at"] for record in log.records("rejects")]

            running.await_state(lambda: any(at[2] > read[heartbeats][-1] for at in refused()))
        told = capfd.readouterr().err
        (last,) = (offsets[-1] for offsets in claims.values())
        assert re.search(rf"generation claimed.*generation={last + 2}", told)
        control = TopicPartition(old.names.name("control"), 0)
        for offset in read[control]:
            assert re.search(
                rf"batch_passed_over .*offset={offset} partition=0 .*{re.escape(control.topic)}",
                told,
            )


def _notice(beat: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """Return a notice for the client of a heartbeat: its key and what it says."""
    who = {name: beat[name] for name in ("group", "client_id", "incarnation")}
    said = {"generation": 1, "code": "tried", "message": "behind it", "winner": None}
    value = {"v": 1, "kind": "notice", **who, **said}
    return orjson.dumps([*who.values(), "notice"]), orjson.dumps(value)


def test_clients_read_what_stands_behind(
    kafka: "EmbeddedKafka", topic_prefix: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Of generations and routes from the first record on, of the others while they run."""

    def is_named(place: TopicPartition, offsets: list[int]) -> Callable[[], bool]:
        words = [f"skipped the batch {place.topic}-{place.partition}@{each}," for each in offsets]
        return lambda: all(each in caplog.text for each in words)

    with old_topics(kafka, topic_prefix) as old:
        before = old.spoil([("generations", 0), ("routes", 0)])
        routes = TopicPartition(old.names.name("routes"), 0)
        messages = f"{topic_prefix}messages"
        with contextlib.closing(KafkaAdminClient(bootstrap_servers=kafka.bootstrap)) as admin:
            admin.create_topics({messages: {"num_partitions": 4}}, wait_for_metadata=True)
        value = orjson.dumps({"v": 1, **route(messages, 4)})
        produce_in_each(kafka.bootstrap, [routes], None, value, messages.encode())
        place: dict[str, Any] = {"bootstrap": kafka.bootstrap, "prefix": topic_prefix}
        with Producer(**place) as producer:
            producer.send(OutgoingMessage(messages, b"value"), timeout_ms=20_000)
        assert is_named(routes, before[routes])()
        with Consumer(**place, group=GROUP, topics=[messages], client_id=CLIENT_ID) as client:
            assert all(is_named(*each)() for each in before.items())
            mine = partition_of(GROUP + CLIENT_ID, ASSIGNMENTS)
            group = partition_of(GROUP, ASSIGNMENTS)
            # A record that a bit is lost of later may have been read before.
            while_it_runs = old.spoil(
                [("assignments", mine), ("handovers", mine), ("handovers", group)], damaged=False
            )
            assignments = TopicPartition(old.names.name("assignments"), mine)
            with Log(_settings(kafka, topic_prefix, tmp_path).kafka) as log:
                beat = log.await_record("heartbeats", lambda _: True)
            key, notice = _notice(body_of(beat))
            produce_in_each(kafka.bootstrap, [assignments], None, notice, key)
            await_seen(
                lambda: client.last_error,
                lambda error: isinstance(error, NoticeError),
                what="notice behind the batches",
            )
            for each in while_it_runs.items():
                await_seen(is_named(*each), what=f"words for {each}")
            passed = sum(len(each) for each in while_it_runs.values()) + 3
            assert client.counts["batches_passed_over"] == passed
