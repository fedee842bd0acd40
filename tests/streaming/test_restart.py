"""What a restart from the checkpoint keeps, and what a crash at the worst moment may repeat."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from fairlead.errors import QueryDiedError
from fairlead.settings import Settings
from fairlead.wire.partition import partition_of_group
from tests.engine.client import Client
from tests.streaming.fleet import Fleet
from tests.streaming.log import SHARDS, Log, body_of
from tests.streaming.running import job

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord
    from pyspark.sql import SparkSession


def _owns_all(client: Client, generation: int) -> "Callable[[ConsumerRecord], bool]":
    """Return what recognises a record by which a client may work on all four queues."""

    def wanted(record: "ConsumerRecord") -> bool:
        body = body_of(record)
        return (
            (body.get("group"), body.get("client_id")) == (client.group, client.client_id)
            and body["generation"] == generation
            and [each["state"] for each in body["assigned"]] == ["held"] * 4
        )

    return wanted


def _one_group_per_shard() -> list[str]:
    """Return a group for each shard."""
    found: dict[int, str] = {}
    for number in itertools.count():
        found.setdefault(partition_of_group(f"meanwhile-{number}", SHARDS), f"meanwhile-{number}")
        if len(found) == SHARDS:
            return list(found.values())
    raise AssertionError


def _first_heartbeat(log: Log, client: Client) -> list[Any]:
    """Return the place of the first heartbeat of a client that is alone in its group."""
    for record in log.records("heartbeats"):
        body = body_of(record)
        if (body.get("group"), body["kind"]) == (client.group, "heartbeat"):
            return [record.topic, record.partition, record.offset]
    raise AssertionError("the client never said anything")


def _joined_at(log: Log, client: Client) -> list[list[Any]]:
    """Return the places that decisions name as the cause of a client's joining."""
    return [
        cause["at"]
        for body in log.bodies("decisions")
        for cause in body["cause"]
        if body["group"] == client.group and cause["kind"] == "client_joined"
    ]


def test_no_event_is_lost(spark: "SparkSession", settings: Settings, log: Log) -> None:
    """Whoever joined while no engine ran is found at its very first record by the next one."""
    with Fleet(settings.kafka) as fleet:
        before = fleet.join("c1", "before")
        with job(spark, settings, log):
            log.await_record("assignments", _owns_all(before, 1))
        meanwhile = [fleet.join("c1", group) for group in _one_group_per_shard()]
        with job(spark, settings, log):
            for client in meanwhile:
                log.await_record("assignments", _owns_all(client, 2))
    for client in [before, *meanwhile]:
        assert _joined_at(log, client) == [_first_heartbeat(log, client)]


def test_crash_between_write_and_commit(
    spark: "SparkSession", settings: Settings, log: Log
) -> None:
    """A batch that was written and not committed is run again: nothing is decided in two ways."""
    with Fleet(settings.kafka) as fleet:
        groups = (f"group-{number}" for number in itertools.count())
        first = fleet.join("c1", next(groups))
        joined = [first]
        with job(spark, settings, log) as running:
            log.await_record("assignments", _owns_all(first, 1))
            planted = _plant_commit(settings.engine.checkpoint, batches_ahead=3)
            # Spark finds the commit of its batch taken, after the batch was written.
            while running.error is None:
                joined.append(fleet.join("c1", next(groups)))
        assert isinstance(running.error, QueryDiedError)
        assert running.error.exit_code == 6
        assert (planted.parents[1] / "offsets" / planted.name).exists()
        planted.unlink()
        with job(spark, settings, log):
            for client in joined:
                log.await_record("assignments", _held_by(client))
    _assert_decided_once(log)


def _plant_commit(checkpoint: Path, *, batches_ahead: int) -> Path:
    """Let a file stand where Spark will want to write that a coming batch is committed."""
    commits = checkpoint / "query" / "commits"
    newest = max(int(path.name) for path in commits.iterdir() if path.name.isdigit())
    planted = commits / str(newest + batches_ahead)
    planted.write_text("v1\n{}")
    return planted


def _held_by(client: Client) -> "Callable[[ConsumerRecord], bool]":
    """Return what recognises that a client may work on all queues, by whichever generation."""
    generations = [_owns_all(client, generation) for generation in (1, 2)]
    return lambda record: any(wanted(record) for wanted in generations)


def _assert_decided_once(log: Log) -> None:
    """Check that nothing was decided in two ways, however often it was written.

    Decisions of one cut are equal byte for byte, and an epoch of a queue has one owner and start.
    """
    decisions: dict[tuple[Any, ...], bytes] = {}
    for record in log.records("decisions"):
        body = body_of(record)
        cut = body["cut"]
        place = (cut["generation"], cut["shard"], cut["step"], body["group"], body["part"])
        assert decisions.setdefault(place, record.value) == record.value
    grants: dict[str, tuple[Any, ...]] = {}
    for body in log.bodies("assignments"):
        for add in body["add"]:
            granted = (body["client_id"], body["incarnation"], add["position"])
            place = orjson.dumps([body["group"], add["queue"], add["epoch"]]).decode()
            assert grants.setdefault(place, granted) == granted
