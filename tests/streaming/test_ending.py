"""How a run ends, and which starts are refused: each with its own exit code."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType

from fairlead.core.records import Tick
from fairlead.errors import ExitCode, FairleadError, QueryDiedError, RefusedError, SupersededError
from fairlead.settings import Settings, load_settings
from fairlead.stop_signal import StopSignal
from fairlead.wire.encode import encode_tick
from fairlead.wire.partition import partition_of_group
from streaming.cluster import PartitionGuard, read_cluster
from streaming.generation import claim_generation, earlier_generations
from streaming.job import JobOptions, run_job
from streaming.shutdown import classify
from tests.kit.awaiting import await_seen
from tests.kit.fleet import Fleet
from tests.kit.job import GivenSession, RunningJob, job
from tests.kit.kafka_log import SHARDS, Log, body_of
from tests.kit.kafka_topics import delete_topics
from tests.streaming.replayed import compare_with_replay

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord
    from pyspark.sql import SparkSession


def _changed(settings: Settings, **changes: object) -> Settings:
    """Return settings with other values in the engine's section."""
    engine = settings.engine.model_copy(update=changes)
    return settings.model_copy(update={"engine": engine})


def _start(settings: Settings, spark: "SparkSession") -> None:
    """Run the job until it ends by itself."""
    with StopSignal() as stop:
        run_job(settings, JobOptions(GivenSession(spark)), stop)


def _await_first_batch(settings: Settings, running: RunningJob) -> None:
    commits = settings.engine.checkpoint / "query" / "commits"
    running.await_state((commits / "0").exists)


def _alter(bootstrap: str, topic: str, **config: str) -> None:
    """Change a topic's settings, and return when the broker says so itself.

    Raises:
        TimeoutError: it did not say so in time.
    """
    wanted = {name.replace("_", "."): value for name, value in config.items()}
    resource = ConfigResource(ConfigResourceType.TOPIC, topic, wanted)
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        admin.alter_configs([resource])
        await_seen(
            lambda: admin.describe_configs([resource], config_filter="all")["topic"][topic],
            lambda found: all(found[name]["value"] == value for name, value in wanted.items()),
            what=f"{wanted} of {topic}",
        )


def test_a_higher_claim_ends_the_run_for_good(
    spark: "SparkSession", settings: Settings, log: Log
) -> None:
    """A claim of a higher generation ends the run with the code on which nobody restarts."""
    with job(spark, settings, log) as running:
        _await_first_batch(settings, running)
        claim_generation(settings.kafka)
        error = running.join()
    assert isinstance(error, SupersededError)
    assert error.exit_code == ExitCode.SUPERSEDED
    assert "generation 2" in error.message


def test_a_tick_that_no_driver_wrote(spark: "SparkSession", settings: Settings, log: Log) -> None:
    """It is refused, whatever generation it names: the engine goes on, and starts again."""
    shard = partition_of_group("orders", SHARDS)
    with job(spark, settings, log) as running:
        _await_first_batch(settings, running)
        ahead = log.append("heartbeats", encode_tick(Tick(1_000_000)), partition=shard)
        log.await_record("rejects", lambda record: _is_of(record, shard, ahead))
    early = log.append("heartbeats", encode_tick(Tick(2, 2**62, input_lost=True)), partition=shard)
    with Fleet(settings.kafka) as fleet, job(spark, settings, log):
        fleet.await_held(fleet.join("c1"), 4)
    letters = log.bodies("rejects")
    assert [body["reason"] for body in letters] == ["foreign_tick", "foreign_tick"]
    assert [(body["at"][2], body["field"]) for body in letters] == [
        (ahead, "generation"),
        (early, "secret"),
    ]
    assert compare_with_replay(settings, log).difference is None


def _is_of(letter: "ConsumerRecord", partition: int, offset: int) -> bool:
    return bool(body_of(letter)["at"][1:] == [partition, offset])


def test_a_topic_that_loses_its_dates_ends_the_run(
    spark: "SparkSession", settings: Settings, log: Log
) -> None:
    """A topic that stops to be dated by the broker ends the run with a refusal that names it."""
    heartbeats = log.names.name("heartbeats")
    with job(spark, settings, log) as running:
        _await_first_batch(settings, running)
        _alter(settings.kafka.bootstrap, heartbeats, message_timestamp_type="CreateTime")
        error = running.join()
    assert isinstance(error, RefusedError)
    assert heartbeats in error.message


def test_another_number_of_shards_is_refused(
    spark: "SparkSession", settings: Settings, log: Log
) -> None:
    """A checkpoint is not used with another number of shuffle partitions."""
    with job(spark, settings, log) as running:
        _await_first_batch(settings, running)
    with pytest.raises(RefusedError, match="shuffle_partitions was 1 and is 2"):
        _start(_changed(settings, shuffle_partitions=2), spark)


def test_topics_without_the_date_of_the_broker_are_refused(
    spark: "SparkSession", settings: Settings
) -> None:
    """Topics that are not dated by the broker are refused before anything is claimed."""
    releases = f"{settings.kafka.topic_prefix}releases"
    _alter(settings.kafka.bootstrap, releases, message_timestamp_type="CreateTime")
    with pytest.raises(RefusedError, match=r"message\.timestamp\.type is CreateTime"):
        _start(settings, spark)
    assert earlier_generations(settings.kafka) == 0


def test_topics_are_made(spark: "SparkSession", bootstrap: str, tmp_path: Path) -> None:
    """A first start makes the topics that are missing; with state a missing one is refused."""
    overrides = {
        "kafka.bootstrap": bootstrap,
        "kafka.topic_prefix": f"{tmp_path.name}.",
        "engine.checkpoint": str(tmp_path / "checkpoint"),
        "metrics.port": 0,
    }
    settings = load_settings(overrides=overrides)
    options = JobOptions(GivenSession(spark))
    running = RunningJob(settings, options)
    _await_first_batch(settings, running)
    running.stop()
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    delete_topics(admin, [f"{tmp_path.name}.routes"])
    admin.close()
    with pytest.raises(RefusedError, match=r"routes missing"):
        _start(settings, spark)


@pytest.mark.parametrize(
    "topic, partitions, named",
    [("assignments", 65, "assignments_partitions=65"), ("releases", 5, "releases has 5")],
)
def test_more_partitions_end_the_run(
    settings: Settings, topic: str, partitions: int, named: str
) -> None:
    """More partitions while the engine runs are noticed and end the run."""
    found: list[FairleadError] = []
    facts = read_cluster(settings)
    with StopSignal() as told:

        def change(error: FairleadError) -> None:
            found.append(error)
            told.set()

        guard = PartitionGuard(settings, facts, change, look_seconds=0.2)
        guard.start()
        admin = KafkaAdminClient(bootstrap_servers=settings.kafka.bootstrap)
        admin.create_partitions({f"{settings.kafka.topic_prefix}{topic}": partitions})
        admin.close()
        assert told.wait(30)
        guard.stop()
    assert [type(error) for error in found] == [RefusedError]
    assert named in found[0].message


@pytest.mark.parametrize(
    "text, kind",
    [
        ("x\nfairlead.engine.errors.HigherGenerationError: g 2\n", SupersededError),
        ("x\nfairlead.engine.errors.AppendTimeMissingError: t\n", RefusedError),
        ("x\nfairlead.codec.errors.CodecError: damaged\n", QueryDiedError),
        ("x\nfairlead.codec.errors.UnknownVersionError: a shard: 2\n", RefusedError),
        ("org.apache.kafka.common.errors.TimeoutException: no", QueryDiedError),
        ("", QueryDiedError),
    ],
)
def test_the_exception_of_the_query_decides_the_end(text: str, kind: type[FairleadError]) -> None:
    """The text of the query's exception decides how the driver ends."""
    assert type(classify(text)) is kind


def test_remedy_without_another_engine() -> None:
    """A state of a generation that nobody claimed is no reason to look for another engine alone."""
    remedy = classify("x\nfairlead.engine.errors.HigherGenerationError: g 1000000\n").remedy
    assert remedy is not None
    assert "If no other has run" in remedy
    assert "move the folder engine.checkpoint away" in remedy


def test_the_last_words_name_the_python_error() -> None:
    """The message of a dead query names the Python error, not Spark's first line."""
    text = (
        "[STREAM_FAILED] Query x terminated\n  File a, line 1\nKeyError: 'topic'\n\tat org.apache"
    )
    assert "KeyError: 'topic'" in classify(text).message
