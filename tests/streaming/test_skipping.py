"""An engine goes past one record because a person says so: what is before and behind it is read."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from kafka import TopicPartition

from fairlead.cli.operate.run import child_arguments
from fairlead.errors import FairleadError, RefusedError, UsageError
from fairlead.settings import Settings
from fairlead.wire.partition import partition_of_group
from streaming.checkpoint import Checkpoint
from streaming.job import JobOptions, prepare
from streaming.skipping import SkippedPlace, read_place
from tests.kit.codecs import codecs_kept, produce
from tests.kit.job import GivenSession, job
from tests.kit.kafka_log import SHARDS, Log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GROUP = "witness"


@pytest.mark.parametrize(
    "text", ["", "t", "t/1", "t@1", "/1@2", "t/x@1", "t/1@", "t/1@-2", "t/-1@2", "t/1@2.0", "t/²@1"]
)
def test_text_that_names_no_record_is_refused(text: str) -> None:
    """The message says how to write it."""
    with pytest.raises(UsageError) as refused:
        read_place(text)
    assert "TOPIC/PARTITION@OFFSET" in refused.value.remedy


def test_text_names_a_record() -> None:
    """The topic may have any of Kafka's characters."""
    assert read_place("a.b_c-d/3@1207") == SkippedPlace("a.b_c-d", 3, 1207)


@pytest.mark.parametrize("restarts, kept", [(0, ["--skip", "t/0@1", "--skip=t/0@2"]), (1, [])])
def test_supervisor_skips_at_the_first_start_only(restarts: int, kept: list[str]) -> None:
    """It is done by then, and would be refused."""
    given = ["run", "--supervise", "--skip", "t/0@1", "--skip=t/0@2", "--config", "a"]
    expected = ["run", *kept, "--config", "a", "--restarts", str(restarts)]
    assert child_arguments(given, restarts) == expected


class Rejected:
    """What stands in the dead letters."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def places(self, reason: str) -> Iterator[list[Any]]:
        """Yield the places of the records that were refused so."""
        import orjson

        for record in self._log.records("rejects"):
            document = orjson.loads(record.value)
            if document["reason"] == reason:
                yield document["at"]


def test_record_is_passed_over_and_its_neighbours_are_read(
    spark: "SparkSession", settings: Settings, log: Log
) -> None:
    """A record that can be read is skipped alone, a batch that cannot be is skipped whole."""
    shard = partition_of_group(GROUP, SHARDS)
    place = TopicPartition(log.names.name("heartbeats"), shard)
    rejected = Rejected(log)
    with job(spark, settings, log) as running:
        log.append_of("heartbeats", GROUP, b"before the engine stops")
        running.await_state(lambda: bool([*rejected.places("not_json")]))
    first, second, third = produce(
        settings.kafka.bootstrap, place, None, [b"one", b"two", b"three"], GROUP.encode()
    )
    probe = TopicPartition(place.topic, (shard + 1) % SHARDS)
    with codecs_kept(settings.kafka.bootstrap, probe):
        whole = produce(settings.kafka.bootstrap, place, "zstd", [b"a", b"b"], GROUP.encode())
    (behind,) = produce(settings.kafka.bootstrap, place, None, [b"four"], GROUP.encode())
    skips = (
        SkippedPlace(place.topic, shard, second),
        SkippedPlace(place.topic, shard, whole[0]),
    )
    checkpoint = Checkpoint(settings.engine.checkpoint)
    with job(spark, settings, log, skips=skips) as running:
        running.await_state(lambda: [place.topic, shard, behind] in rejected.places("not_json"))
    read = [at[2] for at in rejected.places("not_json") if at[1] == shard]
    assert [first, third, behind] == [offset for offset in read if offset >= first]
    assert [at[2] for at in rejected.places("skipped")] == [second, *whole]
    assert checkpoint.next_offsets()[place] > behind
    options = JobOptions(GivenSession(spark), skips=skips[:1])
    with pytest.raises(RefusedError, match=r"already read .*; a skip works once"):
        prepare(settings, checkpoint, options)
    for wrong, says in (
        (SkippedPlace(log.names.name("assignments"), 0, 0), "the engine does not read the topic"),
        (SkippedPlace(place.topic, 99, 0), "has no partition 99"),
        (SkippedPlace(place.topic, shard, 10**9), "holds the offsets"),
    ):
        with pytest.raises(FairleadError, match=says) as refused:
            prepare(settings, checkpoint, JobOptions(GivenSession(spark), skips=(wrong,)))
        assert str(wrong) in refused.value.message
        assert refused.value.remedy


def test_without_state_nothing_is_skipped(
    spark: "SparkSession", settings: Settings, log: Log
) -> None:
    """The message says what an engine without state reads."""
    log.append_of("heartbeats", GROUP, b"one")
    shard = partition_of_group(GROUP, SHARDS)
    skips = (SkippedPlace(log.names.name("heartbeats"), shard, 0),)
    with pytest.raises(RefusedError, match="holds no state"):
        prepare(
            settings,
            Checkpoint(settings.engine.checkpoint),
            JobOptions(GivenSession(spark), skips=skips),
        )
