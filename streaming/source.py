"""The one input of the engine: every topic that decides anything, in one subscription.

One subscription, because the set of sources is part of a checkpoint. Only what a record needs goes
on: bytes with their place in the log. Nothing is parsed here.
"""

from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark reader knows

from fairlead.settings import EngineSettings, KafkaSettings
from fairlead.wire.raw import LOG_APPEND_TIME, RawRecord
from fairlead.wire.topics import TopicNames
from streaming.connection import spark_options
from streaming.topics import input_topics

_OUTAGE_MS: Final = 180_000
"""The query outlives brokers that do not answer at all for so long; then its supervisor starts it
again. Spark tries as often where a partition's end lies before what was read (a topic made anew),
so a pause is short."""
_OFFSET_PAUSE_MS: Final = 50


def offset_attempts(engine: EngineSettings) -> int:
    """Return how often Spark asks for the ends of the input before the query fails."""
    return max(3, _OUTAGE_MS // (engine.offsets_timeout_ms + _OFFSET_PAUSE_MS))


def read_input(
    spark: SparkSession,
    kafka: KafkaSettings,
    engine: EngineSettings,
    *,
    skip_lost: bool = False,
    starting: str = "earliest",
) -> DataFrame:
    """Return the streaming frame of input records, one column for each field of ``RawRecord``.

    Args:
        spark: the session.
        kafka: the cluster.
        engine: the engine's section of the settings.
        skip_lost: go on behind records that are gone, instead of ending the query.
        starting: where to begin without a checkpoint, in Spark's words.
    """
    names = TopicNames(kafka.topic_prefix)
    frame = (
        spark.readStream.format("kafka")
        .options(**spark_options(kafka, engine))
        .option("subscribe", ",".join(input_topics(names)))
        # Counts only without a checkpoint; "latest" would skip what is sent while the query starts.
        .option("startingOffsets", starting)
        .option("failOnDataLoss", "false" if skip_lost else "true")
        # Each batch waits for this long poll: the greatest single part of the latency by default.
        .option("kafka.fetch.max.wait.ms", str(engine.fetch_max_wait_ms))
        # Kafka's admin client waits to the end of this time, by default 60 s, for a leader that it
        # has heard of and that is no longer in the cluster (ConstantNodeIdProvider). Spark then
        # makes a new client, which knows nothing old.
        .option("kafka.default.api.timeout.ms", str(engine.offsets_timeout_ms))
        .option("fetchOffset.numRetries", str(offset_attempts(engine)))
        .option("fetchOffset.retryIntervalMs", str(_OFFSET_PAUSE_MS))
        # Bounds a catch-up. It cannot expire anybody: the clock is what has been read of the log.
        .option("maxOffsetsPerTrigger", str(engine.max_offsets_per_trigger))
        .load()
    )
    columns = {
        "topic": F.col("topic"),
        "partition": F.col("partition"),
        "offset": F.col("offset"),
        "append_ms": F.unix_millis("timestamp"),
        "append_time_is_log": F.col("timestampType") == LOG_APPEND_TIME,
        "key": F.col("key"),
        "value": F.col("value"),
    }
    return frame.select(*(columns[name].alias(name) for name in RawRecord._fields))
