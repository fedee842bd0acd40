"""The job as it would be with one key per group, as far as that can be built at all.

A stateless stage does not know which groups there are, so this one gets their names. Routes go to
every group, and ticks to every group of their partition. If only the first tick went there (it
marks the generation), nobody would ever lapse. The operator is the shard machine over one group.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark reader knows
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from benchmarks.fleet_load import group_names
from fairlead.engine.context import ShardContext
from fairlead.engine.shard import run_shard
from fairlead.wire.partition import partition_of_group
from fairlead.wire.topics import TopicNames
from sinks import OUTPUT_SCHEMA
from streaming.shards import OUTPUT_COLUMNS, STATE_SCHEMA, raw_records, stored_shard


@dataclass(frozen=True, slots=True)
class GroupOperator:
    """The function that Spark calls with the rows of one group."""

    context: ShardContext

    def __call__(
        self, key: tuple[Any, ...], frames: Iterable[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        """Run the shard machine over one group's rows."""
        shard = partition_of_group(key[0], self.context.partitions.shards)
        stored = stored_shard(state.get) if state.exists else None
        result = run_shard(stored, raw_records(frames), replace(self.context, shard=shard))
        state.update(tuple(result.stored))
        if result.records:
            yield pd.DataFrame(list(result.records), columns=OUTPUT_COLUMNS)


def assign_groups(
    rows: DataFrame, names: TopicNames, groups: int, shards: int, *, ticks: bool
) -> DataFrame:
    """Return the rows with the group whose key they concern."""
    known = group_names(groups)
    every = F.array(*(F.lit(name) for name in known))
    of_shard = F.array(
        *(
            F.array(*(F.lit(name) for name in known if partition_of_group(name, shards) == shard))
            for shard in range(shards)
        )
    )
    key = F.col("key").cast("string")
    broadcast = F.lit(ticks) | (F.col("offset") == 0)
    none = F.array().cast("array<string>")
    concerned = (
        F.when(F.col("topic") == names.name("routes"), every)
        .when(
            F.col("topic") == names.name("offsets"), F.array(F.from_json(key, "array<string>")[1])
        )
        .when(
            F.col("key").isNull(),
            F.when(broadcast, F.element_at(of_shard, F.col("partition") + 1)).otherwise(none),
        )
        .otherwise(F.array(key))
    )
    return rows.withColumn("group_key", F.explode(concerned))


def run_groups(rows: DataFrame, context: ShardContext) -> DataFrame:
    """Return the frame of output rows."""
    return rows.groupBy("group_key").applyInPandasWithState(
        GroupOperator(context),
        outputStructType=OUTPUT_SCHEMA,
        stateStructType=STATE_SCHEMA,
        outputMode="append",
        timeoutConf=GroupStateTimeout.NoTimeout,
    )
