"""`fairlead route put` with the real job and client and no bridge: what is put is consumed."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import structlog
from fairlead_client import Consumer
from kafka import KafkaAdminClient

from fairlead.settings import load_settings
from fairlead.topics import create_topics, topic_specs
from tests.bridges.kafka.test_offsets import fill
from tests.cli.test_offsets_live import NOW_MS, WAIT_MS, System
from tests.cli.test_route_command import TOLD, Command
from tests.streaming.log import Log, body_of
from tests.streaming.running import job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka


@pytest.fixture(scope="module")
def system(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[System]:
    """One run of the job, and a topic of one queue with messages 0 to 4; no bridge."""
    place, name = {"bootstrap_servers": kafka.bootstrap}, uuid.uuid4().hex[:8]
    settings = load_settings(
        overrides={
            "kafka.bootstrap": kafka.bootstrap,
            "kafka.topic_prefix": f"put-{name}.",
            "engine.checkpoint": str(tmp_path_factory.mktemp("job") / "checkpoint"),
            "metrics.port": 0,
        }
    )
    topic = f"orders-{name}"
    create_topics(place, settings.kafka.topic_prefix, topic_specs(settings.topics))
    admin = KafkaAdminClient(**place)
    admin.create_topics({topic: {"num_partitions": 1, "replication_factor": 1}})
    admin.wait_for_topics([topic])
    admin.close()
    fill(kafka.bootstrap, topic, 0, [NOW_MS + number for number in range(5)])
    with Log(settings.kafka) as log, job(spark_of_the_run, settings, log):
        yield System(settings, log, topic)


@pytest.mark.parametrize("source", ["kafka", "file"])
def test_put_again_answers_who_came_later(
    system: System, capsys: pytest.CaptureFixture[str], tmp_path: Path, source: str
) -> None:
    """A route put before anybody subscribes is lost on the engine; put again it repairs that."""
    group, command = f"late-{source}", Command(system.settings, capsys)
    told = tmp_path / "route.json"
    told.write_text(TOLD.replace('QueueNums":4', 'QueueNums":1'), encoding="utf-8")
    status = tmp_path / "status.txt"
    status.write_text("#Broker Name  #QID  #Min Offset  #Max Offset\nbroker-a 0 0 5\n", "utf-8")
    put = ["put", system.topic, str(told)]
    put += ["--offsets", str(status)] if source == "file" else []
    command(*put)
    with Consumer(
        bootstrap=system.settings.kafka.bootstrap,
        prefix=system.settings.kafka.topic_prefix,
        group=group,
        topics=[system.topic],
        consume_from="first_offset",
    ) as consumer:
        system.log.await_record("requests", lambda record: body_of(record)["group"] == group)
        logs = structlog.get_config()
        (row,) = command(*put)
        assert structlog.get_config() == logs
        assert row["outcome"] == "repeated"
        assert "waits for" not in command.text
        for offset in range(5):
            message = consumer.poll(WAIT_MS)
            assert message is not None
            assert message.offset == offset


def test_bounds_that_nobody_knows(
    system: System, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A topic that Kafka does not have waits, and whoever puts its route is told for what."""
    command, topic = Command(system.settings, capsys), f"{system.topic}-elsewhere"
    told = tmp_path / "route.json"
    told.write_text(TOLD, encoding="utf-8")
    with Consumer(
        bootstrap=system.settings.kafka.bootstrap,
        prefix=system.settings.kafka.topic_prefix,
        group="waits",
        topics=[topic],
    ):
        system.log.await_record("requests", lambda record: body_of(record)["topic"] == topic)
        command("put", topic, str(told))
        assert "waits: it waits for the bounds of 4 queues" in command.text
