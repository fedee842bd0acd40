"""Builds the engine's only query: source, shards, operator, counts, sink."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from fairlead import __version__
from fairlead.core.allocation import Strategy
from fairlead.core.rules.group_rules import EngineRules
from fairlead.engine.context import ShardContext
from fairlead.kafka.input_topics import BROADCAST_TOPICS, SHARDED_TOPICS
from fairlead.settings import Settings
from fairlead.wire.raw import Partitions
from fairlead.wire.topics import TopicNames
from sinks import Sink
from streaming.checkpoint import Checkpoint, Layout
from streaming.progress import observe_reports
from streaming.shards import ShardOperator, assign_shards, run_shards
from streaming.source import read_input
from streaming.start_positions import Begin

QUERY_NAME = "fairlead"
_EARLIEST: Final = -2
"""Spark's number for the earliest record."""


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """The parameters of a query.

    Attributes:
        settings: the engine's settings.
        layout: the checkpoint's layout.
        generation: this driver's generation.
        strategies: by name; Spark sends them to the workers.
        sink: where the output goes.
        skip_lost: go on although part of the unread input is gone.
        begin: where an engine that lost its state begins to read; None: there is state, or there
            never was any.
        seals: the hashes in the driver's claim that prove its first ticks, by shard.
    """

    settings: Settings
    layout: Layout
    generation: int
    strategies: Mapping[str, Strategy]
    sink: Sink
    skip_lost: bool = False
    begin: Begin | None = None
    seals: tuple[str, ...] = ()


def start_query(
    spark: SparkSession, checkpoint: Checkpoint, plan: QueryPlan, *, planned_only: bool = False
) -> StreamingQuery:
    """Start the query; its first batch is planned when this returns.

    ``planned_only``: the query ends after the batch that the checkpoint has planned, and fetches
    records one by one, so that it decompresses none behind that batch.
    """
    settings, layout = plan.settings, plan.layout
    spark.conf.set("spark.sql.shuffle.partitions", str(layout.shuffle_partitions))
    names = TopicNames(settings.kafka.topic_prefix)
    rows = read_input(
        spark,
        settings.kafka,
        settings.engine,
        skip_lost=plan.skip_lost,
        starting=starting_offsets(names, layout.shards, plan.begin),
        one_by_one=planned_only,
    )
    sharded = assign_shards(rows, names, layout.keys)
    output = run_shards(sharded, ShardOperator(shard_context(plan), layout.keys))
    writer = (
        plan.sink.writer(observe_reports(output, layout.shards))
        .queryName(QUERY_NAME)
        .outputMode("append")
        .option("checkpointLocation", str(checkpoint.query))
    )
    if planned_only:
        return writer.trigger(once=True).start()
    interval = f"{settings.engine.trigger_interval_ms} milliseconds"
    return writer.trigger(processingTime=interval).start()


def shard_context(plan: QueryPlan) -> ShardContext:
    """Return the context of every shard; the operator fills in ``shard``."""
    settings = plan.settings
    return ShardContext(
        # The rules of conf/ come through the log; these values are the same in every replay.
        rules=EngineRules(
            generation=plan.generation,
            strategies=dict(plan.strategies),
            auto_create=settings.groups.auto_create,
            evict_after_ms=settings.groups.evict_after_ms,
            switch_ms=settings.groups.switch_ms,
            groups_max=settings.groups.max_groups,
            new_groups_per_second=settings.groups.new_groups_per_second,
            heartbeat_bytes_per_second=settings.groups.heartbeat_bytes_per_second,
            state_bytes=settings.groups.state_bytes,
        ),
        shard=0,
        partitions=Partitions(plan.layout.shards, plan.layout.assignments_partitions),
        topics=TopicNames(settings.kafka.topic_prefix),
        tick_ms=settings.engine.tick_ms,
        engine_version=__version__,
        # Generations are never reused: before the first one there was nothing to lose.
        first_run=plan.generation == 1,
        begin=plan.begin or {},
        seals=plan.seals,
    )


def starting_offsets(names: TopicNames, shards: int, begin: Begin | None) -> str:
    """Return where a query without a checkpoint begins, as an option of Spark's Kafka source.

    Topics that ``begin`` does not name start at their first record. Spark wants every partition
    named.
    """
    if begin is None:
        return "earliest"
    partitions = {suffix: range(shards) for suffix in SHARDED_TOPICS}
    partitions |= {suffix: range(1) for suffix in BROADCAST_TOPICS}
    return json.dumps(
        {
            names.name(suffix): {
                str(number): begin.get(names.name(suffix), {}).get(number, _EARLIEST)
                for number in numbers
            }
            for suffix, numbers in partitions.items()
        }
    )
