"""`fairlead route put` with the real job and client and no bridge: what is put is consumed."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import structlog
from fairlead_client import Consumer

from tests.cli.told_route import PRINTED_ROUTE
from tests.kit.command import Command
from tests.kit.kafka_log import body_of
from tests.kit.live_system import WAIT_MS, LiveSystem, live_system

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka


@pytest.fixture(scope="module")
def system(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[LiveSystem]:
    """One run of the job, and messages 0 to 4; no bridge."""
    folder = tmp_path_factory.mktemp("job")
    with live_system(
        spark_of_the_run, kafka.bootstrap, folder, messages=5, bridged=False
    ) as running:
        yield running


@pytest.mark.parametrize("source", ["kafka", pytest.param("file", marks=pytest.mark.slow)])
def test_put_again_answers_who_came_later(
    system: LiveSystem, capsys: pytest.CaptureFixture[str], tmp_path: Path, source: str
) -> None:
    """A route put before anybody subscribes is lost on the engine; put again it repairs that."""
    group, command = f"late-{source}", Command("route", system.settings, capsys)
    told = tmp_path / "route.json"
    told.write_text(PRINTED_ROUTE.replace('QueueNums":4', 'QueueNums":1'), encoding="utf-8")
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
        assert row["answer"] == "repeated"
        assert "waits for" not in command.text
        for offset in range(5):
            message = consumer.poll(WAIT_MS)
            assert message is not None
            assert message.offset == offset


def test_bounds_that_nobody_knows(
    system: LiveSystem, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A topic that Kafka does not have waits, and the command that puts its route says for what."""
    command, topic = Command("route", system.settings, capsys), f"{system.topic}-elsewhere"
    told = tmp_path / "route.json"
    told.write_text(PRINTED_ROUTE, encoding="utf-8")
    with Consumer(
        bootstrap=system.settings.kafka.bootstrap,
        prefix=system.settings.kafka.topic_prefix,
        group="waits",
        topics=[topic],
    ):
        system.log.await_record("requests", lambda record: body_of(record)["topic"] == topic)
        command("put", topic, str(told))
        assert "waits: it waits for the bounds of 4 queues" in command.text
