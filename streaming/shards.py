"""From input records to shards: which shard reads a record, and the stateful operator itself.

A shard is a partition of the heartbeats topic; releases and control are partitioned alike. Routes
and offsets concern every shard and go to all. What a shard decides is ``fairlead.engine``'s; here
is only the way in and out of Spark.

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
"""One row per shard, a column for each field of ``StoredShard``.

In a checkpoint. Spark refuses another type here but accepts another name or order silently.
"""

OUTPUT_COLUMNS: Final = OUTPUT_SCHEMA.fieldNames()


@dataclass(frozen=True, slots=True)
class ShardOperator:
    """The function that Spark calls with the rows of one shard; it travels to the workers.

    Attributes:
        context: what every shard is run under; its ``shard`` is filled in here.
        keys: the grouping key of each shard.
    """

    context: ShardContext
    keys: tuple[int, ...]

    def __call__(
        self, key: tuple[Any, ...], frames: Iterable[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        """Run one shard over its rows of this batch: its records, then its report.

        An exception ends the query and nothing of this batch is kept. So all that concerns one
        group or one record is dealt with inside ``run_shard``.
        """
        shard = self.keys.index(int(key[0]))
        stored = stored_shard(state.get) if state.exists else None
        result = run_shard(stored, raw_records(frames), replace(self.context, shard=shard))
        state.update(tuple(result.stored))
        yield _frame(shard, result)


def assign_shards(rows: DataFrame, names: TopicNames, keys: tuple[int, ...]) -> DataFrame:
    """Return the rows with their shard's key; a row that concerns every shard once for each.

    A record in a partition beyond the last shard ends the query: the partitions of a topic were
    changed, and its groups have moved to shards that know nothing of them.
    """
    every = F.array(*(F.lit(key).cast("int") for key in keys))
    concerns_all: Column = F.col("topic").isin([names.name(suffix) for suffix in BROADCAST_TOPICS])
    own = F.array(F.element_at(every, F.col("partition") + 1))
    return rows.withColumn(KEY_COLUMN, F.explode(F.when(concerns_all, every).otherwise(own)))


def run_shards(rows: DataFrame, operator: ShardOperator) -> DataFrame:
    """Return the frame of output rows, the rows of reports among them."""
    return rows.groupBy(KEY_COLUMN).applyInPandasWithState(
        operator,
        outputStructType=OUTPUT_SCHEMA,
        stateStructType=STATE_SCHEMA,
        outputMode="append",
        # Deadlines are in the state and on the clock of the log; Spark's timeouts would read the
        # whole store in each batch, by a clock that runs ahead of what was read.
        timeoutConf=GroupStateTimeout.NoTimeout,
    )


def stored_shard(columns: tuple[Any, ...]) -> StoredShard:
    """Read the state row; Spark hands binary columns over as bytearrays."""
    version, clock_ms, append_ms, body, liveness = columns
    return StoredShard(version, clock_ms, append_ms, bytes(body), bytes(liveness))


def raw_records(frames: Iterable[pd.DataFrame]) -> list[RawRecord]:
    """Read the frames of a batch: there may be several, and no order among the rows is promised."""
    return [
        RawRecord(*row)
        for frame in frames
        # By lists: eight microseconds a row instead of more than a hundred.
        for row in zip(*(frame[name].tolist() for name in RawRecord._fields), strict=True)
    ]


def _frame(shard: int, result: ShardResult) -> pd.DataFrame:
    """Make one frame of everything a call yields: each frame costs as much as hundreds of rows.

    The last row is the shard's report. It has no topic: the driver reads it, no sink does.
    """
    task = TaskContext.get()
    tries_before = 0 if task is None else task.attemptNumber()
    report = (None, shard, None, write_report(result, time.time_ns() // 1_000_000, tries_before))
    columns = zip(*result.records, report, strict=True)
    return pd.DataFrame(dict(zip(OUTPUT_COLUMNS, columns, strict=True)))
