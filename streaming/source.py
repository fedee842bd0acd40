"""The one input of the engine: every topic that decides anything, in one subscription.

One subscription, because the set of sources is part of a checkpoint. Only what a record needs goes
on: bytes with their place in the log. Nothing is parsed here.
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
"""The query outlives brokers that do not answer at all for so long; then its supervisor starts it
again. Spark tries as often where a partition's end lies before what was read (a topic made anew),
so a pause is short."""
_OFFSET_PAUSE_MS: Final = 50
_FETCH_BYTES: Final = 16 * MESSAGE_BYTES_MAX
"""Of one answer of a broker, compressed as the topics hold it."""
_CUT: Final = MESSAGE_BYTES_MAX + 1
"""One byte more than a record may have, so that what was cut is refused."""


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
    one_by_one: bool = False,
) -> DataFrame:
    """Return the streaming frame of input records, one column for each field of ``RawRecord``.

    Args:
        spark: the session.
        kafka: the cluster.
        engine: the engine's section of the settings.
        skip_lost: go on behind records that are gone, instead of ending the query.
        starting: where to begin without a checkpoint, in Spark's words.
        one_by_one: decompress no record before its turn.
    """
    names = TopicNames(kafka.topic_prefix)
    options = {"kafka.max.poll.records": "1"} if one_by_one else {}
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
        # Records are decompressed one by one as they are taken: few of them lie in memory at once.
        .option("kafka.max.partition.fetch.bytes", str(MESSAGE_BYTES_MAX))
        .option("kafka.fetch.max.bytes", str(_FETCH_BYTES))
        # Bounds a catch-up. It cannot expire anybody: the clock is what has been read of the log.
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
    """Return a column of bytes without what no topic that is set right can hold.

    A compressed record may have a hundred times the bytes that the topic allows. What is left of it
    is refused like any record that is too large, and the rest is copied no further.
    """
    whole = F.col(name)
    return F.when(F.octet_length(whole) > MESSAGE_BYTES_MAX, F.substring(whole, 1, _CUT)).otherwise(
        whole
    )
