"""A start whose next records are gone is refused, unless somebody accepts that."""

import contextlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from kafka import KafkaAdminClient, TopicPartition

from fairlead.cli.operate.run import child_arguments
from fairlead.errors import ExitCode, RefusedError
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import Settings
from fairlead.stop_signal import StopSignal
from fairlead.wire.partition import partition_of_group
from streaming.generation import earlier_generations
from streaming.job import JobOptions, run_job
from streaming.lost_input import Gap, cut_input, lost_input, lost_records
from tests.kit.awaiting import await_seen
from tests.kit.client import Client
from tests.kit.fleet import Fleet
from tests.kit.job import GivenSession, job
from tests.kit.kafka_log import SHARDS, Log, body_of
from tests.streaming.grants import assert_decided_once, owns_all

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord
    from pyspark.sql import SparkSession

WANTED = {("a", 0): 10, ("a", 1): 20, ("b", 0): 0}
SHARD = partition_of_group("orders", SHARDS)


def test_a_partition_that_begins_in_time_has_lost_nothing() -> None:
    """A partition that begins exactly at the wanted offset, or before it, has lost nothing."""
    assert lost_input(WANTED, {("a", 0): 10, ("a", 1): 0, ("b", 0): 0}) == []


def test_each_lost_partition_is_named_with_both_offsets() -> None:
    """Each partition that begins behind the wanted offset is named with both, by topic in order."""
    lost = lost_input(WANTED, {("b", 0): 3, ("a", 1): 21, ("a", 0): 15})
    assert lost == [Gap("a", 0, 10, 15), Gap("a", 1, 20, 21), Gap("b", 0, 0, 3)]
    assert lost_records(lost) == {"a": {0: 5, 1: 1}, "b": {0: 3}}


def test_a_log_that_ends_early_is_another_log() -> None:
    """A log that ends at what was read is whole; one that ends before it is another log."""
    ends = {("a", 0): 10, ("a", 1): 19, ("b", 0): 5}
    assert cut_input(WANTED, ends) == [Gap("a", 1, 20, 19)]


@pytest.mark.parametrize("restarts, kept", [(0, ["--accept-lost-input"]), (1, []), (7, [])])
def test_an_acceptance_is_for_the_first_driver_alone(restarts: int, kept: Sequence[str]) -> None:
    """A supervisor hands the acceptance to its first driver, and to no restart."""
    given = ["run", "--supervise", "--accept-lost-input", "--config", "a.toml"]
    expected = ["run", *kept, "--config", "a.toml", "--restarts", str(restarts)]
    assert child_arguments(given, restarts) == expected


def _start(settings: Settings, spark: "SparkSession", *, accept_lost_input: bool = False) -> None:
    """Run the job until it ends by itself."""
    options = JobOptions(GivenSession(spark), accept_lost_input=accept_lost_input)
    with StopSignal() as stop:
        run_job(settings, options, stop)


def _forget_newest_commit(checkpoint: Path) -> None:
    """Leave a checkpoint as a driver leaves it that is killed in the midst of a batch."""
    commits = checkpoint / "query" / "commits"
    newest = max(int(path.name) for path in commits.iterdir() if path.name.isdigit())
    (commits / str(newest)).unlink()
    (commits / f".{newest}.crc").unlink(missing_ok=True)


def _delete_all(settings: Settings, log: Log) -> int:
    """Append to one shard and delete what is there; return the first offset that is left."""
    log.append("heartbeats", b"lost", partition=SHARD)
    end = log.append("heartbeats", b"kept", partition=SHARD)
    admin = KafkaAdminClient(bootstrap_servers=settings.kafka.bootstrap)
    admin.delete_records({TopicPartition(log.names.name("heartbeats"), SHARD): end})
    admin.close()
    return end


def _owns_half(client: Client, generation: int) -> "Callable[[ConsumerRecord], bool]":
    """Return what recognises a record by which a client may work on two of the four queues."""

    def wanted(record: "ConsumerRecord") -> bool:
        body = body_of(record)
        return (
            (body.get("client_id"), body.get("generation")) == (client.client_id, generation)
            and body["kind"] == "assignment"
            and [each["state"] for each in body.get("assigned", ())] == ["held"] * 2
        )

    return wanted


@pytest.mark.slow
@pytest.mark.parametrize("killed", [False, True])
def test_lost_heartbeats_refuse_a_start_unless_accepted(
    spark: "SparkSession",
    settings: Settings,
    log: Log,
    killed: bool,  # noqa: FBT001 - a parameter of pytest
) -> None:
    """Lost heartbeats refuse a start; accepted once, a new client is served, then and later."""
    with Fleet(settings.kafka) as fleet:
        first = fleet.join("c1")
        with job(spark, settings, log):
            log.await_record("assignments", owns_all(first, 1))
        if killed:
            _forget_newest_commit(settings.engine.checkpoint)
        left = _delete_all(settings, log)
        named = (
            rf"partition {SHARD} of \S+heartbeats from offset \d+ on, "
            rf"but its first offset is now {left}"
        )
        with pytest.raises(RefusedError, match=named) as refused:
            _start(settings, spark)
        assert refused.value.exit_code == ExitCode.REFUSED
        assert "--accept-lost-input" in refused.value.remedy
        assert earlier_generations(settings.kafka) == 1
        second = fleet.join("c2")
        with job(spark, settings, log, accept_lost_input=True):
            log.await_record("assignments", _owns_half(second, 2))
        with job(spark, settings, log):
            fleet.leave(first)
            log.await_record("assignments", owns_all(second, 3))
    assert_decided_once(log)


def _make_anew(settings: Settings, topic: str) -> None:
    connection = {"bootstrap_servers": settings.kafka.bootstrap}
    with contextlib.closing(KafkaAdminClient(**connection)) as admin:
        admin.delete_topics([topic])
    specs = topic_specs(settings.topics)
    await_seen(
        lambda: create_topics(connection, settings.kafka.topic_prefix, specs),
        lambda report: topic in report.created,
        what=f"new {topic}",
        pause=0.1,
    )


@pytest.mark.parametrize("known", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_topic_made_anew(
    spark: "SparkSession",
    settings: Settings,
    log: Log,
    known: bool,  # noqa: FBT001 - a parameter of pytest
) -> None:
    """A topic with another id is refused, however long it is; without ids one that is too short."""
    with Fleet(settings.kafka) as fleet, job(spark, settings, log):
        log.await_record("assignments", owns_all(fleet.join("c1"), 1))
    heartbeats = log.names.name("heartbeats")
    _make_anew(settings, heartbeats)
    named = rf"{heartbeats} up to offset \d+, but it ends at 0"
    if known:
        named = rf"recreated since then: {heartbeats} \(its id was"
    else:
        (settings.engine.checkpoint / "topics.json").unlink()
    with pytest.raises(RefusedError, match=named) as refused:
        _start(settings, spark, accept_lost_input=True)
    assert earlier_generations(settings.kafka) == 1
    assert "move engine.checkpoint away" in refused.value.remedy
    shutil.rmtree(settings.engine.checkpoint)
    with Fleet(settings.kafka) as fleet, job(spark, settings, log):
        client = fleet.join("c2")
        log.await_record("assignments", owns_all(client, 2))
