"""A real job whose state was lost rebuilds it from what clients claim, and gives nothing twice."""

import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fairlead.core.records import Tick
from fairlead.errors import ExitCode, QueryDiedError, RefusedError, SupersededError
from fairlead.settings import Settings
from fairlead.stop_signal import StopSignal
from fairlead.wire.topics import TopicNames
from streaming.clock import Ticker
from streaming.job import JobOptions, run_job
from streaming.query import starting_offsets
from streaming.start_positions import (
    begin_without_state,
    control_ends,
    ends_before_claim,
    first_ticks,
)
from tests.kit.awaiting import await_seen, ended
from tests.kit.client import Client
from tests.kit.fleet import Fleet
from tests.kit.job import GivenSession, job
from tests.kit.kafka_log import SHARDS, Log, body_of
from tests.streaming.grants import assert_decided_once, owns_all
from tests.streaming.replayed import compare_with_replay

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafka.consumer.fetcher import ConsumerRecord
    from pyspark.sql import SparkSession


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Leases that end soon."""
    times = {"lease_ms": 5_000, "margin_ms": 2_000}
    defaults = settings.group_defaults.model_copy(update=times)
    return settings.model_copy(update={"group_defaults": defaults})


def _never(error: Exception) -> None:
    raise AssertionError(error)


def _decided(generation: int, trigger: str) -> "Callable[[ConsumerRecord], bool]":
    """Return what recognises a decision of a generation that has this trigger."""

    def wanted(record: "ConsumerRecord") -> bool:
        body = body_of(record)
        return body["cut"]["generation"] == generation and trigger in body["triggers"]

    return wanted


def _holds(client: Client, queues: int) -> "Callable[[ConsumerRecord], bool]":
    """Return what recognises a record by which a client may work on so many queues."""

    def wanted(record: "ConsumerRecord") -> bool:
        body = body_of(record)
        named = (body.get("client_id"), body.get("kind")) == (client.client_id, "assignment")
        return named and [each["state"] for each in body.get("assigned", ())] == ["held"] * queues

    return wanted


def _shared(settings: Settings, spark: "SparkSession", log: Log, fleet: Fleet) -> list[Client]:
    """Let two clients share the queues of a group under the first driver, and stop it."""
    first = fleet.join("c1")
    with job(spark, settings, log):
        log.await_record("assignments", owns_all(first, 1))
        second = fleet.join("c2")
        for client in (first, second):
            fleet.await_held(client, 2)
    return [first, second]


def _commands(log: Log, generation: int) -> list[Any]:
    return [
        command
        for body in log.bodies("assignments")
        if body["kind"] == "assignment" and body["generation"] == generation
        for command in (*body["drop"], *body["add"])
    ]


def test_after_a_deleted_checkpoint_everybody_keeps_its_queues(
    spark: "SparkSession", settings: Settings, log: Log
) -> None:
    """Everybody keeps what it has; then a newcomer gets its share, and nobody has a queue twice."""
    with Fleet(settings.kafka) as fleet:
        clients = _shared(settings, spark, log, fleet)
        before = [dict(client.held) for client in clients]
        shutil.rmtree(settings.engine.checkpoint)
        with job(spark, settings, log):
            log.await_record("decisions", _decided(2, "recovery_started"))
            log.await_record("decisions", _decided(2, "recovery_passed"))
            assert _commands(log, 2) == []
            assert [dict(client.held) for client in clients] == before
            third = fleet.join("c3")
            log.await_record("assignments", _holds(third, 1))
        cuts = [body["cut"] for body in log.bodies("decisions") if body["cut"]["generation"] == 2]
        assert {cut["origin"]["generation"] for cut in cuts} == {2}
    assert_decided_once(log)
    comparison = compare_with_replay(settings, log)
    assert str(comparison.difference) == "None"
    assert comparison.generations == 2


@pytest.mark.slow
def test_one_died_with_the_checkpoint(spark: "SparkSession", settings: Settings, log: Log) -> None:
    """The queues of a client that died meanwhile go to the other, from where it had come to."""
    with Fleet(settings.kafka) as fleet:
        dead, alive = _shared(settings, spark, log, fleet)
        fleet.work(dead, dict.fromkeys(range(4), 50))
        reached = {queue: dead.processed[queue] for queue in dead.held}
        shutil.rmtree(settings.engine.checkpoint)
        fleet.kill(dead)
        with job(spark, settings, log):
            log.await_record("assignments", owns_all(alive, 2))
        starts = {tuple(add["queue"]): add["position"][1] for add in _commands(log, 2)}
        assert starts == reached
    assert_decided_once(log)


@pytest.mark.slow  # the sim and the explorer start drivers in every order
def test_second_driver_on_a_checkpoint_of_its_own(
    spark: "SparkSession", settings: Settings, log: Log, tmp_path: Path
) -> None:
    """It takes over: the first ends, the second recovers, and nobody loses or shares a queue."""
    engine = settings.engine.model_copy(update={"checkpoint": tmp_path / "another"})
    other = settings.model_copy(update={"engine": engine})
    with Fleet(settings.kafka) as fleet, job(spark, settings, log) as first_driver:
        client = fleet.join("c1")
        fleet.await_held(client, 4)
        before = dict(client.held)
        with job(spark.newSession(), other, log):
            assert isinstance(first_driver.join(), SupersededError)
            log.await_record("decisions", _decided(2, "recovery_passed"))
            assert dict(client.held) == before
            assert _commands(log, 2) == []
    assert_decided_once(log)


@pytest.mark.slow
def test_killed_before_the_first_commit(
    spark: "SparkSession", settings: Settings, log: Log
) -> None:
    """What a first batch has written and not committed is rebuilt, not run again."""
    query = settings.engine.checkpoint / "query"
    planted = query / "commits" / "0"

    def plant() -> None:
        await_seen((query / "offsets" / "0").exists, what="first batch", pause=0.005)
        planted.write_text("v1\n{}")

    with Fleet(settings.kafka) as fleet:
        client = fleet.join("c1")
        thread = threading.Thread(target=plant)
        thread.start()
        with job(spark, settings, log) as running:
            # Spark finds the commit of its batch taken, after the batch was written.
            assert isinstance(running.join(), QueryDiedError)
        ended(thread)
        planted.unlink()
        assert log.bodies("decisions")[0]["cut"]["generation"] == 1
        with job(spark, settings, log):
            log.await_record("assignments", owns_all(client, 2))
        assert "recovery_started" in log.bodies("decisions")[1]["triggers"]


@pytest.mark.slow
def test_commits_gone_and_state_kept(spark: "SparkSession", settings: Settings, log: Log) -> None:
    """Spark would begin anew on top of old states: it is refused, and the way out works."""
    with Fleet(settings.kafka) as fleet:
        client = fleet.join("c1")
        with job(spark, settings, log):
            fleet.await_held(client, 4)
        before = dict(client.held)
        for folder in ("offsets", "commits"):
            shutil.rmtree(settings.engine.checkpoint / "query" / folder)
        with (
            pytest.raises(RefusedError, match="is damaged: query holds no commit") as refused,
            StopSignal() as stop,
        ):
            run_job(settings, JobOptions(GivenSession(spark)), stop)
        assert refused.value.exit_code == ExitCode.REFUSED
        settings.engine.checkpoint.rename(settings.engine.checkpoint.with_name("away"))
        with job(spark, settings, log):
            log.await_record("decisions", _decided(2, "recovery_passed"))
        assert dict(client.held) == before


@pytest.mark.slow  # the sim stops engines for long too
def test_after_a_long_stop_nobody_living_expires(
    spark: "SparkSession", settings: Settings, log: Log
) -> None:
    """An engine that was away for longer than lease and margin expires nobody who lives."""
    with Fleet(settings.kafka) as fleet:
        clients = _shared(settings, spark, log, fleet)
        before = [dict(client.held) for client in clients]
        beaten = len(_beats(log))
        # Two clients beat once a second: so many say that eight seconds have passed.
        log.await_record("heartbeats", lambda _: len(_beats(log)) >= beaten + 16)
        with job(spark, settings, log):
            log.await_record("decisions", _decided(2, "generation_passed"))
            assert _commands(log, 2) == []
            assert [dict(client.held) for client in clients] == before
            log.await_record("assignments", _holds(fleet.join("c3"), 1))
    expired = [
        body["triggers"] for body in log.bodies("decisions") if "client_expired" in body["triggers"]
    ]
    assert expired == []


def _beats(log: Log) -> list[dict[str, Any]]:
    return [body for body in log.bodies("heartbeats") if body["kind"] == "heartbeat"]


def test_where_an_engine_without_state_begins(settings: Settings, log: Log) -> None:
    """A window before the marker is read, but never less than what came behind the claim."""
    heartbeats = log.names.name("heartbeats")
    log.append("heartbeats", b"before", partition=1)
    ends = ends_before_claim(settings.kafka, SHARDS)
    assert ends[heartbeats, 1] == 1
    log.append("heartbeats", b"an acknowledgement", partition=1)
    ticker = Ticker(settings.kafka, SHARDS, 60_000, _never)
    marked_ms = ticker.start(2, first_ticks(2, {0: 0, 1: 7, 2: 0, 3: 0}, input_lost=True))
    ticker.stop()
    now = max(each.timestamp for each in log.records("heartbeats"))
    assert abs(marked_ms[1] - now) < 10_000
    wide = begin_without_state(settings.kafka, ends, marked_ms, 3_000)
    assert wide[heartbeats] == dict.fromkeys(range(SHARDS), 0)
    ahead = {partition: marked + 700_000 for partition, marked in marked_ms.items()}
    narrow = begin_without_state(settings.kafka, ends, ahead, 3_000)
    assert narrow[heartbeats] == {0: 0, 1: 1, 2: 0, 3: 0}
    ticks = [body for body in _ticks(log) if body.get("control_end")]
    assert ticks == [
        {"v": 1, "kind": "tick", "generation": 2, "control_end": 7, "input_lost": True}
    ]


def _ticks(log: Log) -> list[dict[str, Any]]:
    return [
        body_of(record)
        for record in log.records("heartbeats")
        if record.value.startswith(b'{"v":1,"kind":"tick"')
    ]


def test_the_newest_record_of_each_partition_counts(settings: Settings, log: Log) -> None:
    """The newest record of each partition counts; an empty one has none."""
    log.append("control", None, b'["orders","pause"]', partition=2)
    log.append("control", None, b'["orders","pause"]', partition=2)
    assert control_ends(settings.kafka, SHARDS) == {0: 0, 1: 0, 2: 2, 3: 0}
    first = first_ticks(9, {0: 0, 1: 4}, input_lost=False)
    assert first == {0: Tick(9), 1: Tick(9, 4)}


def test_in_the_words_of_spark() -> None:
    """Every partition is named: by its offset, or as the first record that is there."""
    names = TopicNames("t.")
    assert starting_offsets(names, 2, None) == "earliest"
    assert starting_offsets(names, 2, {"t.heartbeats": {0: 7, 1: 0}}) == (
        '{"t.heartbeats": {"0": 7, "1": 0}, "t.releases": {"0": -2, "1": -2}, '
        '"t.control": {"0": -2, "1": -2}, "t.routes": {"0": -2}, "t.offsets": {"0": -2}}'
    )
