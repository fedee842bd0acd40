"""What a restart from the checkpoint keeps, and what a crash at the worst moment may repeat."""

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairlead.errors import QueryDiedError
from fairlead.settings import Settings
from fairlead.wire.partition import partition_of_group
from tests.kit.awaiting import await_seen
from tests.kit.client import Client
from tests.kit.fleet import Fleet
from tests.kit.job import job
from tests.kit.kafka_log import SHARDS, Log, body_of
from tests.streaming.grants import assert_decided_once, held_by, owns_all

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
            log.await_record("assignments", owns_all(before, 1))
        meanwhile = [fleet.join("c1", group) for group in _one_group_per_shard()]
        with job(spark, settings, log):
            for client in meanwhile:
                log.await_record("assignments", owns_all(client, 2))
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
            log.await_record("assignments", owns_all(first, 1))
            planted = _plant_commit(settings.engine.checkpoint, batches_ahead=3)
            # Spark finds the commit of its batch taken, after the batch was written.

            def join() -> BaseException | None:
                joined.append(fleet.join("c1", next(groups)))
                return running.error

            await_seen(join, what="end of the run", pause=0)
        assert isinstance(running.error, QueryDiedError)
        assert running.error.exit_code == 6
        assert (planted.parents[1] / "offsets" / planted.name).exists()
        planted.unlink()
        with job(spark, settings, log):
            for client in joined:
                log.await_record("assignments", held_by(client))
    assert_decided_once(log)


def _plant_commit(checkpoint: Path, *, batches_ahead: int) -> Path:
    """Let a file stand where Spark will want to write that a coming batch is committed."""
    commits = checkpoint / "query" / "commits"
    newest = max(int(path.name) for path in commits.iterdir() if path.name.isdigit())
    planted = commits / str(newest + batches_ahead)
    planted.write_text("v1\n{}")
    return planted
