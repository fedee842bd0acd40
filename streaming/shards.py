"""Assigns input records to shards, and defines the stateful operator that runs a shard.

A shard is a partition of the heartbeats topic; releases and control are partitioned in the same
way. Routes and offsets concern every shard, so all of them get these records. ``fairlead.engine``
decides; this module only moves data in and out of Spark.

ADR 0041 gives the reasons.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import pandas as pd
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark reader knows
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from pyspark.sql.types import BinaryType, IntegerType, LongType, StructField, StructType

from fairlead.codec.stored import StoredShard
from fairlead.engine.context import ShardContext, ShardResult
from fairlead.engine.shard import run_shard
from fairlead.kafka.input_topics import BROADCAST_TOPICS
from fairlead.wire.raw import RawRecord
from fairlead.wire.topics import TopicNames
from sinks import OUTPUT_SCHEMA
from streaming.report import write_report

KEY_COLUMN: Final = "shard_key"

STATE_SCHEMA: Final = StructType(
    [
        StructField("version", IntegerType()),
        StructField("clock_ms", LongType()),
        StructField("append_ms", LongType()),
        StructField("body", BinaryType()),
        StructField("liveness", BinaryType()),
    ]
)
"""One row per shard, with a column for each field of ``StoredShard``.

Checkpoints contain it. Spark refuses another type, but silently accepts another name or order.
"""

OUTPUT_COLUMNS: Final = OUTPUT_SCHEMA.fieldNames()


@dataclass(frozen=True, slots=True)
class ShardOperator:
    """The function that Spark calls in a worker with the rows of one shard.

    Attributes:
        context: the context of every shard; the operator fills in ``shard``.
        keys: the grouping key of each shard.
    """

    context: ShardContext
    keys: tuple[int, ...]

    def __call__(
        self, key: tuple[Any, ...], frames: Iterable[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        """Run one shard over its rows of this batch; yield its records, then its report.

        An exception ends the query and discards the batch. So ``run_shard`` handles every error
        that concerns only one group or one record.
        """
        shard = self.keys.index(int(key[0]))
        stored = stored_shard(state.get) if state.exists else None
        result = run_shard(stored, raw_records(frames), replace(self.context, shard=shard))
        state.update(tuple(result.stored))
        yield _frame(shard, result)


def assign_shards(rows: DataFrame, names: TopicNames, keys: tuple[int, ...]) -> DataFrame:
    """Return the rows with their shard's key; repeat rows that concern every shard for each.

    A record in a partition beyond the last shard ends the query: somebody has added partitions, and
    groups have moved to shards that do not know them.
    """
    every = F.array(*(F.lit(key).cast("int") for key in keys))
    concerns_all: Column = F.col("topic").isin([names.name(suffix) for suffix in BROADCAST_TOPICS])
    own = F.array(F.element_at(every, F.col("partition") + 1))
    return rows.withColumn(KEY_COLUMN, F.explode(F.when(concerns_all, every).otherwise(own)))


def run_shards(rows: DataFrame, operator: ShardOperator) -> DataFrame:
    """Return the frame of output rows, including the reports' rows."""
    return rows.groupBy(KEY_COLUMN).applyInPandasWithState(
        operator,
        outputStructType=OUTPUT_SCHEMA,
        stateStructType=STATE_SCHEMA,
        outputMode="append",
        # The state holds the deadlines, on the clock of the log. Spark's timeouts would read the
        # whole store in each batch, and their clock runs ahead of the records read.
        timeoutConf=GroupStateTimeout.NoTimeout,
    )


def stored_shard(columns: tuple[Any, ...]) -> StoredShard:
    """Read the state row; Spark passes binary columns as bytearrays."""
    version, clock_ms, append_ms, body, liveness = columns
    return StoredShard(version, clock_ms, append_ms, bytes(body), bytes(liveness))


def raw_records(frames: Iterable[pd.DataFrame]) -> list[RawRecord]:
    """Read the frames of a batch; there may be several, with rows in any order."""
    return [
        RawRecord(*row)
        for frame in frames
        # Lists take eight microseconds a row instead of more than a hundred.
        for row in zip(*(frame[name].tolist() for name in RawRecord._fields), strict=True)
    ]


def _frame(shard: int, result: ShardResult) -> pd.DataFrame:
    """Return all output of a call as one frame, since a frame costs as much as hundreds of rows.

    The last row is the shard's report. It has no topic, so no sink writes it; the driver reads it.
    """
    task = TaskContext.get()
    tries_before = 0 if task is None else task.attemptNumber()
    report = (None, shard, None, write_report(result, time.time_ns() // 1_000_000, tries_before))
    columns = zip(*result.records, report, strict=True)
    return pd.DataFrame(dict(zip(OUTPUT_COLUMNS, columns, strict=True)))
