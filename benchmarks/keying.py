"""Keying by shard against keying by group: the same engine, the same load, one after another.

    python -m benchmarks.keying --out benchmarks/results/keying.json

Each case runs the job's own source, operator and Kafka sink over topics of its own; only what is
grouped by differs. The clients run in a process of their own (`benchmarks/fleet_load.py`).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from fairlead_proof.bench.percentiles import summarise
from fairlead_proof.local.processes import processor_seconds
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks.group_keying import assign_groups, run_groups
from fairlead.archive import spark_program
from fairlead.broker import EmbeddedKafka
from fairlead.jars import ensure_jars
from fairlead.java import find_java
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import Settings, load_settings
from fairlead.wire.topics import TopicNames
from sinks import KafkaSink
from strategies.registry import STRATEGIES
from streaming.checkpoint import Layout
from streaming.clock import Ticker
from streaming.progress import observe_reports
from streaming.query import QueryPlan, shard_context
from streaming.session import build_session
from streaming.shards import ShardOperator, assign_shards, run_shards
from streaming.source import read_input

_IDLE_SECONDS: Final = 20.0
_BATCHES_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class Case:
    """What is grouped by, and into how many parts.

    Attributes:
        key: "shard", "group", or "group, no ticks": ticks reach no group but the first, so nobody
            would ever lapse.
        shards: partitions of heartbeats.
        tasks: Spark's shuffle partitions.
        groups: consumer groups; 0 measures the engine at rest.
        clients: in each group.
    """

    key: str
    shards: int
    tasks: int
    groups: int
    clients: int


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured of one case; times in milliseconds.

    `cpu_cores` is the processor time of driver, JVM and workers per second, `cpu_per_batch` per
    batch in milliseconds: these two hardly depend on what else the machine does. `load_average` is
    the machine's, at the end.
    """

    case: Case
    joins: int
    join_p50: float | None
    join_p95: float | None
    batches: int
    batch_p50: float
    batch_p95: float
    execution_p50: float
    rows_p50: float
    cpu_cores: float
    cpu_per_batch: float
    load_average: float


def run_case(spark: SparkSession, bootstrap: str, case: Case, joins: int) -> Result:
    """Run one case from empty topics."""
    prefix = f"keying-{uuid.uuid4().hex[:8]}."
    overrides: dict[str, Any] = {
        "kafka.bootstrap": bootstrap,
        "kafka.topic_prefix": prefix,
        "topics.heartbeats_partitions": case.shards,
        "engine.shuffle_partitions": case.tasks,
    }
    settings = load_settings(overrides=overrides)
    create_topics({"bootstrap_servers": bootstrap}, prefix, topic_specs(settings.topics))
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        ticker = Ticker(settings.kafka, case.shards, settings.engine.tick_ms, _raise)
        stack.callback(ticker.stop)
        ticker.start(1)
        query = _start(spark, settings, case, Path(folder))
        stack.callback(query.stop)
        latencies, cpu, per_batch = _measure(query, bootstrap, prefix, case, joins)
        batches = [each for each in query.recentProgress if each.numInputRows][-_BATCHES_MAX:]
    return _result(case, latencies, batches, (cpu, per_batch))


def _start(spark: SparkSession, settings: Settings, case: Case, folder: Path) -> StreamingQuery:
    spark.conf.set("spark.sql.shuffle.partitions", str(case.tasks))
    names = TopicNames(settings.kafka.topic_prefix)
    layout = Layout.of("", names.prefix, (case.shards, 64), case.tasks)
    sink = KafkaSink(settings.kafka.bootstrap)
    context = shard_context(QueryPlan(settings, layout, 1, STRATEGIES, sink))
    rows = read_input(spark, settings.kafka, settings.engine)
    output: DataFrame
    if case.key == "shard":
        output = run_shards(
            assign_shards(rows, names, layout.keys), ShardOperator(context, layout.keys)
        )
    else:
        keyed = assign_groups(rows, names, case.groups, case.shards, ticks=case.key == "group")
        output = run_groups(keyed, context)
    return (
        sink.writer(observe_reports(output, case.shards))
        .outputMode("append")
        .option("checkpointLocation", str(folder / "query"))
        .trigger(processingTime="0 seconds")
        .start()
    )


def _measure(
    query: StreamingQuery, bootstrap: str, prefix: str, case: Case, joins: int
) -> tuple[list[float], float, float]:
    """Return the latencies of the joins, and the engine's CPU meanwhile: per second, per batch."""
    while query.lastProgress is None:
        time.sleep(0.2)
    if not case.groups:
        time.sleep(_IDLE_SECONDS / 2)
    first, begun, before = _batch(query), time.monotonic(), _engine_cpu_seconds()
    latencies: list[float] = []
    if case.groups:
        with subprocess.Popen(
            _load_command(bootstrap, prefix, case, joins), stdout=subprocess.PIPE, text=True
        ) as load:
            answer = load.communicate()[0]
        latencies = json.loads(answer)["join_seconds"]
    else:
        time.sleep(_IDLE_SECONDS)
    cpu = _engine_cpu_seconds() - before
    return latencies, cpu / (time.monotonic() - begun), cpu / max(1, _batch(query) - first)


def _engine_cpu_seconds() -> float:
    """Return the time of this process, which is the driver, and of the JVM with its workers."""
    gateway = SparkContext._gateway  # noqa: SLF001 - the JVM's process is nowhere else
    assert gateway is not None
    return time.process_time() + processor_seconds(gateway.proc.pid)


def _batch(query: StreamingQuery) -> int:
    progress = query.lastProgress
    assert progress is not None
    return int(progress.batchId)


def _load_command(bootstrap: str, prefix: str, case: Case, joins: int) -> list[str]:
    numbers = {
        "shards": case.shards, "groups": case.groups, "clients": case.clients,
        "joins": joins, "seed": 1,
    }  # fmt: skip
    command = [sys.executable, "-m", "benchmarks.fleet_load"]
    command += ["--bootstrap", bootstrap, "--prefix", prefix]
    return command + [word for name, each in numbers.items() for word in (f"--{name}", str(each))]


def _result(
    case: Case, latencies: list[float], batches: list[Any], cpu: tuple[float, float]
) -> Result:
    totals = [each.durationMs["triggerExecution"] for each in batches]
    execution = [each.durationMs["addBatch"] for each in batches]
    joins = summarise([1_000 * each for each in latencies]) if latencies else None
    total = summarise(totals)
    return Result(
        case,
        len(latencies),
        None if joins is None else joins.p50,
        None if joins is None else joins.p95,
        total.n,
        total.p50,
        total.p95,
        statistics.median(execution),
        statistics.median(each.numInputRows for each in batches),
        cpu[0],
        1_000 * cpu[1],
        os.getloadavg()[0],
    )


def cases(groups: int, clients: int) -> Iterator[Case]:
    """Yield every case, in the order in which they are run."""
    for tasks in (1, 2):
        for shards in (1, 2, 4, 8):
            yield Case("shard", shards, tasks, groups, clients)
        yield Case("group", 4, tasks, groups, clients)
        yield Case("group, no ticks", 4, tasks, groups, clients)
    for shards in (1, 4, 8):
        yield Case("shard", shards, 1, 0, 0)


def _is_wanted(case: Case, given: argparse.Namespace) -> bool:
    return (
        given.only in case.key
        and (not given.shards or case.shards in given.shards)
        and (not given.tasks or case.tasks in given.tasks)
    )


def _raise(error: Exception) -> None:
    raise error


def main() -> None:
    """Run as the arguments say; print a row for each case and write them all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--joins", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", default="", help="words in the key: shard, group, no ticks")
    parser.add_argument("--shards", type=int, nargs="*", help="only these numbers of shards")
    parser.add_argument("--tasks", type=int, nargs="*", help="only these shuffle partitions")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    jars = ensure_jars("connector")
    results = []
    with tempfile.TemporaryDirectory() as folder, EmbeddedKafka(Path(folder) / "kafka") as kafka:
        engine = load_settings(overrides={"engine.java_heap": "2g"}).engine
        spark = build_session(engine, jars, spark_program(jars).options(find_java()))
        spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", str(_BATCHES_MAX))
        for _ in range(given.rounds):
            for case in cases(given.groups, given.clients):
                if _is_wanted(case, given):
                    results.append(run_case(spark, kafka.bootstrap, case, given.joins))
                    print(json.dumps(asdict(results[-1])), flush=True)  # noqa: T201
        spark.stop()
    given.out.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")


if __name__ == "__main__":
    main()
