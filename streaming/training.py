"""A short run that loads the job's Java classes, so that the JVM can archive them.

The query has the job's session, source, shards and sink. Only the function in the Python workers
differs; it does not affect the JVM. `fairlead setup archive` runs this module as its own process:
`python -m streaming.training`.
"""

import argparse
import contextlib
import json
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd
from kafka import KafkaProducer
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark reader knows
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.connection import client_options, sink_options
from fairlead.settings import Settings, load_settings
from fairlead.wire.topics import TopicNames
from sinks import OUTPUT_SCHEMA, KafkaSink
from streaming.keys import shard_keys
from streaming.session import build_session
from streaming.shards import KEY_COLUMN, OUTPUT_COLUMNS, STATE_SCHEMA, assign_shards
from streaming.source import read_input

_BATCHES: Final = 3
_SEND_SECONDS_MAX: Final = 30.0
_EXIT_SECONDS_MAX: Final = 180.0


@dataclass(frozen=True, slots=True)
class TrainingTimes:
    """How long the parts of the run took, in seconds.

    Attributes:
        session: until the session is ready.
        first_batch: from there to the end of the first batch.
        whole: until the JVM has exited, and has written its archive if it should.
    """

    session: float
    first_batch: float
    whole: float


def run_training(settings: Settings, jars: Path, java_options: tuple[str, ...]) -> TrainingTimes:
    """Start the JVM, run a few batches, and return when the JVM has exited.

    Args:
        settings: a cluster whose topics exist and are otherwise unused: the run writes to them.
        jars: the folder of the connector jars.
        java_options: more options of the JVM.

    Raises:
        EnvironmentMissingError: the JVM did not exit.
    """
    begun = time.monotonic()
    session = build_session(settings.engine, jars, java_options)
    started = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="fairlead-training-") as checkpoint:
            first_batch = _run_batches(session, settings, Path(checkpoint))
    finally:
        session.stop()
        leave_jvm()
    return TrainingTimes(started - begun, first_batch - started, time.monotonic() - begun)


def _run_batches(session: SparkSession, settings: Settings, checkpoint: Path) -> float:
    """Run the query over a few records, one batch each; return when the first one ended."""
    names = TopicNames(settings.kafka.topic_prefix)
    keys = shard_keys(settings.topics.heartbeats_partitions, settings.engine.shuffle_partitions)
    rows = read_input(session, settings.kafka, settings.engine)
    written = _echo(assign_shards(rows, names, keys), names.name("rejects"))
    sink = KafkaSink(settings.kafka.bootstrap, sink_options(settings.kafka, settings.engine))
    query = (
        sink.writer(written)
        .outputMode("append")
        .option("checkpointLocation", str(checkpoint))
        .trigger(processingTime="0 seconds")
        .start()
    )
    options = client_options(settings.kafka, "training")
    first_batch = 0.0
    with contextlib.closing(KafkaProducer(**options)) as producer:
        for _ in range(_BATCHES):
            sent = producer.send(names.name("heartbeats"), b"{}", partition=0)
            sent.get(timeout=_SEND_SECONDS_MAX)
            query.processAllAvailable()
            first_batch = first_batch or time.monotonic()
    query.stop()
    return first_batch


def _echo(rows: DataFrame, topic: str) -> DataFrame:
    """Apply a stateful operator like the job's: it counts calls and writes one record for each."""

    def count(
        key: tuple[Any, ...], frames: Iterable[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        calls = state.get[1] + 1 if state.exists else 1
        state.update((1, calls, 0, b"", b""))
        read = sum(len(frame) for frame in frames)
        record = (topic, 0, str(key[0]).encode(), str(read).encode())
        yield pd.DataFrame([record], columns=OUTPUT_COLUMNS)

    counted = rows.groupBy(KEY_COLUMN).applyInPandasWithState(
        count,
        outputStructType=OUTPUT_SCHEMA,
        stateStructType=STATE_SCHEMA,
        outputMode="append",
        timeoutConf=GroupStateTimeout.NoTimeout,
    )
    observed = counted.observe("training", F.count(F.lit(1)).alias("records"))
    return observed.where(F.col("topic").isNotNull())


def leave_jvm() -> None:
    """Make the JVM exit and wait for it: it writes its archive at the very end.

    pyspark has no public way to do so; its JVM exits when its standard input is closed.

    Raises:
        EnvironmentMissingError: the JVM did not exit in time and was killed.
    """
    gateway = SparkContext._gateway  # noqa: SLF001
    assert gateway is not None, "a session was started"
    process: subprocess.Popen[bytes] = gateway.proc
    gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(_EXIT_SECONDS_MAX)
    except subprocess.TimeoutExpired as error:
        process.kill()
        process.wait()
        raise EnvironmentMissingError(
            f"java: the JVM did not exit within {_EXIT_SECONDS_MAX:.0f} s.",
            remedy="Check for a full disk or a very busy machine, and run it again.",
        ) from error


def main() -> None:
    """Run with the given arguments, and print the times as JSON."""
    parser = argparse.ArgumentParser(prog="python -m streaming.training")
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--topic-prefix", required=True)
    parser.add_argument("--jars", required=True, type=Path)
    parser.add_argument("--java-option", action="append", default=[])
    given = parser.parse_args()
    settings = load_settings(
        overrides={"kafka.bootstrap": given.bootstrap, "kafka.topic_prefix": given.topic_prefix}
    )
    times = run_training(settings, given.jars, tuple(given.java_option))
    print(json.dumps(asdict(times)))  # noqa: T201 - the process that started this one reads it


if __name__ == "__main__":
    main()
