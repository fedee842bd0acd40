"""The engine's only input: every topic that influences decisions, in one subscription.

It is one subscription because the set of sources is part of a checkpoint. It passes on bytes with
their position in the log, and parses nothing.
"""

from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark reader knows

from fairlead.kafka.connection import spark_options
from fairlead.kafka.input_topics import input_topics
from fairlead.kafka.topic_specification import MESSAGE_BYTES_MAX
from fairlead.settings import EngineSettings, KafkaSettings
from fairlead.wire.raw import LOG_APPEND_TIME, RawRecord
from fairlead.wire.topics import TopicNames

_OUTAGE_MS: Final = 180_000
"""How long the query survives brokers that do not answer; then its supervisor restarts it.

Spark makes as many attempts when a partition ends before what was read (a recreated topic), so the
pause between attempts is short."""
_OFFSET_PAUSE_MS: Final = 50
_FETCH_BYTES: Final = 16 * MESSAGE_BYTES_MAX
"""The largest answer of a broker, compressed as the topics hold it."""
_CUT: Final = MESSAGE_BYTES_MAX + 1
"""One byte more than a record may have, so that the engine refuses what was cut."""


def offset_attempts(engine: EngineSettings) -> int:
    """Return how often Spark asks for the input's end offsets before the query fails."""
    return max(3, _OUTAGE_MS // (engine.offsets_timeout_ms + _OFFSET_PAUSE_MS))


def read_input(
    spark: SparkSession,
    kafka: KafkaSettings,
    engine: EngineSettings,
    *,
    skip_lost: bool = False,
    starting: str = "earliest",
    one_by_one: bool = False,
) -> DataFrame:
    """Return the streaming frame of input records, with a column for each field of ``RawRecord``.

    Args:
        spark: the session.
        kafka: the cluster.
        engine: the section [engine] of the settings.
        skip_lost: go on behind lost records instead of ending the query.
        starting: where to begin without a checkpoint, in Spark's format.
        one_by_one: decompress no record before its turn.
    """
    names = TopicNames(kafka.topic_prefix)
    options = {"kafka.max.poll.records": "1"} if one_by_one else {}
    frame = (
        spark.readStream.format("kafka")
        .options(**spark_options(kafka, engine))
        .option("subscribe", ",".join(input_topics(names)))
        # Matters only without a checkpoint; "latest" would skip records sent during the start.
        .option("startingOffsets", starting)
        .option("failOnDataLoss", "false" if skip_lost else "true")
        # Each batch waits for this long poll: by default the largest part of the latency.
        .option("kafka.fetch.max.wait.ms", str(engine.fetch_max_wait_ms))
        # Kafka's admin client waits this long, by default 60 s, for a leader that it knows and that
        # has left the cluster (ConstantNodeIdProvider). Spark then creates a new client.
        .option("kafka.default.api.timeout.ms", str(engine.offsets_timeout_ms))
        .option("fetchOffset.numRetries", str(offset_attempts(engine)))
        .option("fetchOffset.retryIntervalMs", str(_OFFSET_PAUSE_MS))
        # Kafka decompresses records one by one as Spark takes them, so few are in memory at once.
        .option("kafka.max.partition.fetch.bytes", str(MESSAGE_BYTES_MAX))
        .option("kafka.fetch.max.bytes", str(_FETCH_BYTES))
        # Bounds a catch-up. No member lapses by it: the clock follows the records that were read.
        .options(**options)
        .option("maxOffsetsPerTrigger", str(engine.max_offsets_per_trigger))
        .load()
    )
    columns = {
        "topic": F.col("topic"),
        "partition": F.col("partition"),
        "offset": F.col("offset"),
        "append_ms": F.unix_millis("timestamp"),
        "append_time_is_log": F.col("timestampType") == LOG_APPEND_TIME,
        "key": _cut("key"),
        "value": _cut("value"),
    }
    return frame.select(*(columns[name].alias(name) for name in RawRecord._fields))


def _cut(name: str) -> Column:
    """Return a column of bytes, cut to the largest size that a correctly set topic allows.

    A compressed record may be a hundred times larger. The engine refuses the cut record like any
    record that is too large, and nothing copies the rest.
    """
    whole = F.col(name)
    return F.when(F.octet_length(whole) > MESSAGE_BYTES_MAX, F.substring(whole, 1, _CUT)).otherwise(
        whole
    )
