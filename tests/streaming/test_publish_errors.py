"""What could not be published is counted, although Spark tries again and the driver may die."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry, Counter

from streaming.metrics import EngineMetrics
from streaming.progress import record_progress
from streaming.publish_errors import REASONS, PublishErrors, Try, reason_of
from streaming.report import write_report
from tests.kit.world import World

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KAFKA = "org.apache.kafka.common.errors."
TIMEOUT = f"{KAFKA}TimeoutException: x"
TRIES = 8


def _errors(folder: Path) -> tuple[CollectorRegistry, PublishErrors]:
    registry = CollectorRegistry()
    counter = Counter("fairlead_publish_errors", "-", ["reason"], registry=registry)
    return registry, PublishErrors(counter, folder / "errors.json")


def _shown(registry: CollectorRegistry) -> dict[str, float]:
    names = "fairlead_publish_errors_total"
    return {reason: registry.get_sample_value(names, {"reason": reason}) or 0 for reason in REASONS}


@pytest.mark.parametrize(
    "text, reason",
    [
        (f"{KAFKA}TimeoutException: Expiring 1 record(s) for a-0: 120000 ms", "timeout"),
        (f"{KAFKA}RecordTooLargeException: The message is 2 bytes", "too_large"),
        (f"{KAFKA}NotEnoughReplicasAfterAppendException: fewer", "too_few_replicas"),
        (f"{KAFKA}TopicAuthorizationException: Not authorized: [a]", "not_allowed"),
        (f"{KAFKA}SaslAuthenticationException: Authentication failed", "not_allowed"),
        ("org.apache.kafka.common.KafkaException: Failed to construct kafka producer", "other"),
        ("org.apache.spark.api.python.PythonException: ValueError: kafka", None),
        ("", None),
    ],
)
def test_publish_errors_have_few_reasons(text: str, reason: str | None) -> None:
    """Few words, whatever Kafka's classes are; what is not Kafka's is no publish error."""
    assert reason_of(text) == reason


def test_reasons_are_counted_over_drivers(tmp_path: Path) -> None:
    """All reasons are there from 0 on; the next driver begins with what killed the last one."""
    registry, errors = _errors(tmp_path)
    assert _shown(registry) == dict.fromkeys(REASONS, 0)
    errors.count([Try(3, 7, TIMEOUT), Try(3, 8, ""), Try(4, 9, "ValueError")])
    assert _shown(registry)["timeout"] == 1
    registry, errors = _errors(tmp_path)
    errors.count([Try(1, 2, TIMEOUT)])
    assert _shown(registry) == {**dict.fromkeys(REASONS, 0), "timeout": 2}


def test_while_a_batch_runs(tmp_path: Path) -> None:
    """A job that still runs is looked at again and again; each of its tries counts once."""
    registry, errors = _errors(tmp_path)
    running = [Try(3, 7, TIMEOUT), Try(3, 8, "")]
    for _ in range(2):
        errors.count(running)
        assert _shown(registry)["timeout"] == 1
    errors.count([Try(3, 7, TIMEOUT), Try(3, 8, TIMEOUT), Try(4, 9, TIMEOUT)])
    errors.count([Try(4, 9, TIMEOUT)])
    assert _shown(registry)["timeout"] == 3


@pytest.mark.parametrize("text", ["", "[]", '{"timeout": "x"}'])
def test_damaged_counts_begin_anew(tmp_path: Path, text: str) -> None:
    """Counts that cannot be read stop nothing: they begin anew."""
    (tmp_path / "errors.json").write_text(text, encoding="ascii")
    registry, _ = _errors(tmp_path)
    assert _shown(registry) == dict.fromkeys(REASONS, 0)


def test_a_report_of_tries() -> None:
    """A batch says so if one of its tasks had failed before, by any of its shards."""
    result = World().run(0)
    for tries, failed_before in ((0, False), (2, True)):
        reports = [write_report(result, 0, each).decode() for each in (0, tries)]
        observed = {"shards": {"0": reports[0], "1": reports[1], "2": None}}
        assert record_progress({"observedMetrics": observed}, EngineMetrics("4")) is failed_before


def test_each_failed_try_is_counted_once(spark: "SparkSession", tmp_path: Path) -> None:
    """Each try of a task that no broker answers is counted, once; Spark keeps them all."""
    from pyspark.sql import functions as F  # noqa: N812 - the name every Spark reader knows

    rows = spark.readStream.format("rate").option("numPartitions", 1).load()
    record = rows.select(F.lit("nobody").alias("topic"), F.lit(b"x").alias("value"))
    query = (
        record.writeStream.format("kafka")
        .option("kafka.bootstrap.servers", "127.0.0.1:1")
        .option("kafka.max.block.ms", "100")
        .option("checkpointLocation", str(tmp_path / "query"))
        .start()
    )
    with pytest.raises(Exception, match="TimeoutException"):
        query.awaitTermination(120)
    registry, errors = _errors(tmp_path)
    for _ in range(2):
        errors.update(spark, str(query.runId))
        assert _shown(registry)["timeout"] == TRIES
