"""`fairlead offsets reset`, the real job, bridge and client: a consumer goes on from elsewhere."""

import time
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import pytest
from fairlead_client import Consumer
from kafka import KafkaAdminClient

from fairlead.bridges.kafka import BridgeTimes, KafkaBridge
from fairlead.cli.offset_rows import tell_resets
from fairlead.control.group_offsets import QueuePlace
from fairlead.control.queue_resets import PlannedReset, write_planned
from fairlead.core.model import MessageQueue
from fairlead.core.records import Reset
from fairlead.errors import VerdictError
from fairlead.settings import Settings, load_settings
from fairlead.topics import create_topics, topic_specs
from tests.bridges.kafka.ledger import running
from tests.bridges.kafka.test_offsets import fill
from tests.cli.test_offsets_command import Command
from tests.streaming.log import Log, body_of
from tests.streaming.running import job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka

NOW_MS = int(time.time()) * 1_000 - 60_000
"""When the first message was written: a broker deletes what is old."""
WAIT_MS = 120_000


class System(NamedTuple):
    """The running job and bridge, and a topic of one queue with messages 0 to 9."""

    settings: Settings
    log: Log
    topic: str


@pytest.fixture(scope="module")
def system(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[System]:
    """One run of job and bridge for all tests of this module."""
    place, name = {"bootstrap_servers": kafka.bootstrap}, uuid.uuid4().hex[:8]
    settings = load_settings(
        overrides={
            "kafka.bootstrap": kafka.bootstrap,
            "kafka.topic_prefix": f"offsets-{name}.",
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
    fill(kafka.bootstrap, topic, 0, [NOW_MS + number for number in range(10)])
    bridge = KafkaBridge(
        control_bootstrap=kafka.bootstrap,
        prefix=settings.kafka.topic_prefix,
        cluster_name="main",
        times=BridgeTimes(poll_ms=500),
    )
    with Log(settings.kafka) as log, running(bridge), job(spark_of_the_run, settings, log):
        yield System(settings, log, topic)


def _read(consumer: Consumer, *offsets: int) -> None:
    for offset in offsets:
        message = consumer.poll(WAIT_MS)
        assert message is not None
        assert message.offset == offset


def test_a_consumer_goes_on_from_there(system: System, capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run writes nothing; applied, the consumer reads on from the new offset, once."""
    group, command = "moved", Command(system.settings, capsys)
    with Consumer(
        bootstrap=system.settings.kafka.bootstrap,
        prefix=system.settings.kafka.topic_prefix,
        group=group,
        topics=[system.topic],
        consume_from="first_offset",
    ) as consumer:
        _read(consumer, *range(10))
        reset = ("reset", group, "--to", f"{NOW_MS + 4}ms")
        before = len(system.log.records("control"))
        (row,) = command(*reset)
        assert (row["to"], row["skipped"], row["answer"]) == (4, 0, "not_written")
        assert len(system.log.records("control")) == before

        said = ("--by", "alice", "--because", "a bad deploy", "--wait", "60")
        (row,) = command(*reset, "--apply", *said)
        assert (row["queue"], row["answer"]) == (f"{system.topic}/main/0", "followed")
        decision = system.log.await_record(
            "decisions",
            lambda record: row["at"] in [each.get("at") for each in body_of(record)["cause"]],
        )
        (cause,) = [each for each in body_of(decision)["cause"] if each["kind"] == "reset"]
        assert (cause["by"], cause["because"]) == ("alice", "a bad deploy")
        assert row["decision"] == ".".join(map(str, body_of(decision)["epoch"]))
        _read(consumer, *range(4, 10))
    (shown,) = command("show", group)
    assert (shown["reset"], shown["position"]) == (row["at"][2] + 1, 10)


def test_a_refused_one_is_told(system: System) -> None:
    """Of a queue that the engine's route does not have, the engine's refusal is what is said."""
    group, queue = "refused", MessageQueue(system.topic, "main", 7)
    with Consumer(
        bootstrap=system.settings.kafka.bootstrap,
        prefix=system.settings.kafka.topic_prefix,
        group=group,
        topics=[system.topic],
        consume_from="first_offset",
    ) as consumer:
        _read(consumer, 0)
        planned = PlannedReset(QueuePlace(queue, "", 0, 10), 3)
        outcomes = write_planned(
            system.settings.kafka, [planned], [Reset(group, queue, 3, "alice")], 60.0
        )
    assert [each.answer for each in outcomes] == ["refused"]
    with pytest.raises(VerdictError, match="refuses the reset") as error:
        tell_resets(outcomes, 60.0)
    assert "write it again once the queue is there" in error.value.remedy
