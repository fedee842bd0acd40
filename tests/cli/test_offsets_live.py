"""`fairlead offsets reset`, the real job, bridge and client: a consumer goes on from elsewhere."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client import Consumer

from fairlead.control.queue_place import QueuePlace
from fairlead.control.queue_resets import PlannedReset, write_planned
from fairlead.core.model import MessageQueue
from fairlead.core.records import Reset
from fairlead.errors import VerdictError
from fairlead.operating.resets import report_resets
from tests.kit.command import Command
from tests.kit.kafka_log import body_of
from tests.kit.live_system import NOW_MS, WAIT_MS, LiveSystem, live_system

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka


@pytest.fixture(scope="module")
def system(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[LiveSystem]:
    """One run of job and bridge for all tests of this module; messages 0 to 9."""
    folder = tmp_path_factory.mktemp("job")
    with live_system(spark_of_the_run, kafka.bootstrap, folder, messages=10) as running:
        yield running


def _read(consumer: Consumer, *offsets: int) -> None:
    for offset in offsets:
        message = consumer.poll(WAIT_MS)
        assert message is not None
        assert message.offset == offset


def _is_beyond(record: dict[str, Any], offset: int) -> bool:
    told = record["queues"] if record["kind"] == "progress" else []
    return any(queue["position"][1] > offset for queue in told)


def test_a_consumer_goes_on_from_there(
    system: LiveSystem, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dry run writes nothing; applied, the consumer reads on from the new offset, once."""
    group, command = "moved", Command("offsets", system.settings, capsys)
    with Consumer(
        bootstrap=system.settings.kafka.bootstrap,
        prefix=system.settings.kafka.topic_prefix,
        group=group,
        topics=[system.topic],
        consume_from="first_offset",
    ) as consumer:
        _read(consumer, *range(10))
        # What is skipped is known once the client has told that it is beyond.
        system.log.await_record("heartbeats", lambda record: _is_beyond(body_of(record), 4))
        reset = ("reset", group, "--to", f"{NOW_MS + 4}ms")
        before = len(system.log.records("control"))
        (row,) = command(*reset)
        assert (row["to_offset"], row["skipped_messages"], row["answer"]) == (4, 0, "not_written")
        assert len(system.log.records("control")) == before

        said = ("--by", "alice", "--because", "a bad deploy", "--wait", "60")
        (row,) = command(*reset, "--apply", *said)
        assert (row["queue"], row["answer"]) == ([system.topic, "main", 0], "followed")
        decision = system.log.await_record(
            "decisions",
            lambda record: row["at"] in [each.get("at") for each in body_of(record)["cause"]],
        )
        (cause,) = [each for each in body_of(decision)["cause"] if each["kind"] == "reset"]
        assert (cause["by"], cause["because"]) == ("alice", "a bad deploy")
        assert [each["epoch"] for each in row["led_to"]] == [body_of(decision)["epoch"]]
        _read(consumer, *range(4, 10))
    (shown,) = command("show", group)
    assert shown["position"] == [row["at"][2] + 1, 10]


def test_a_refused_one_is_told(system: LiveSystem) -> None:
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
        report_resets(outcomes, 60.0)
    assert "write it again once the queue is there" in error.value.remedy
