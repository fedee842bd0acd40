"""The engine's Spark session: one local JVM, tuned for short micro-batches (ADR 0011).

Every setting that differs from Spark's default has its reason here. An operator's settings in
``[engine.spark]`` win.
"""

import os
import sys
from pathlib import Path
from typing import Final

import pyspark
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from fairlead.settings import EngineSettings
from fairlead.settings.layers import ENVIRONMENT_PREFIX
from streaming.jvm_end import EXIT_ON_FULL_HEAP

_STREAMING: Final = "org.apache.spark.sql.execution.streaming"
_FIRST_WITH_CHECKPOINTING_PACKAGE: Final = (4, 1)
_COMPILER_OPTIONS: Final = (
    # Only the quick compiler: batches are short, and the first seconds count.
    "-XX:TieredStopAtLevel=1",
    # The quick compiler reserves only 48 MB for compiled code. Spark fills that within a minute;
    # from then on a fifth of a core evicts methods and compiles them again.
    "-XX:ReservedCodeCacheSize=160m",
    EXIT_ON_FULL_HEAP,
)


def checkpoint_manager_class(version: str = pyspark.__version__) -> str:
    """Return the class that writes checkpoint metadata by plain renames of files.

    Spark's default forks a process per file (about 40 ms); this one does not (about 10 ms). It
    moved to another package after Spark 4.0.
    """
    major, minor = (int(part) for part in version.split(".")[:2])
    moved = (major, minor) >= _FIRST_WITH_CHECKPOINTING_PACKAGE
    package = f"{_STREAMING}.checkpointing" if moved else _STREAMING
    return f"{package}.FileSystemBasedCheckpointFileManager"


def spark_settings(
    engine: EngineSettings, jars: Path, java_options: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return the whole configuration of the session.

    Args:
        engine: the section [engine] of the settings.
        jars: the folder of the connector jars.
        java_options: more options of the JVM, for example the class-data archive.
    """
    own = {
        "spark.app.name": "fairlead",
        "spark.driver.memory": engine.java_heap,
        # On the class path, not in spark.jars: Spark copies those and loads them a second time.
        "spark.driver.extraClassPath": f"{jars}/*",
        "spark.driver.extraJavaOptions": " ".join(
            _quoted(option) for option in (*_COMPILER_OPTIONS, _logging_option(), *java_options)
        ),
        # Only this machine needs the driver's ports.
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.ui.retainedExecutions": "1",
        "spark.metrics.staticSources.enabled": "false",
        "spark.executor.heartbeatInterval": "60s",
        "spark.locality.wait": "0s",
        "spark.python.daemon.module": "streaming.worker_daemon",
        "spark.shuffle.compress": "false",
        # Fixed as long as the checkpoint is in use; see streaming/checkpoint.py.
        "spark.sql.shuffle.partitions": str(engine.shuffle_partitions),
        # On a few rows these save less than their planning costs.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.subexpressionElimination.enabled": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        # By rows alone, a hundred thousand records of the largest size would be 6 GB at once.
        "spark.sql.execution.arrow.maxBytesPerBatch": "16m",
        "spark.sql.streaming.checkpointFileManagerClass": checkpoint_manager_class(),
        # Hadoop's own starts a chmod per file and per checksum file: eight processes a batch.
        "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
        # Ticks are the only clock; a batch without data would be a busy loop.
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        "spark.sql.streaming.minBatchesToRetain": "10",
        "spark.sql.streaming.metricsEnabled": "false",
        # How often Spark asks for new records. With the default, 10 ms, an idle broker needs a
        # third more CPU time for the answers.
        "spark.sql.streaming.pollingDelay": "25",
        # stop() waits for the batch without a limit.
        "spark.sql.streaming.stopTimeout": "0",
        "spark.sql.session.timeZone": "UTC",
    }
    return own | {name: _text(value) for name, value in engine.spark.items()}


def build_session(
    engine: EngineSettings, jars: Path, java_options: tuple[str, ...] = ()
) -> SparkSession:
    """Start the JVM and return the session; about three seconds with a class-data archive."""
    # Workers must run this Python, or they miss the packages installed here.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # Spark looks up this host's address before it reads the settings above.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # Without it Spark's start script runs another Python to find it.
    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    conf = SparkConf().setMaster(engine.master)
    conf.setAll(list(spark_settings(engine, jars, java_options).items()))
    _withhold_settings()
    # Its own process group: a signal to ours (Ctrl-C, a SIGTERM to all) must not end the JVM before
    # this process has stopped the query. The JVM ends when its standard input is closed.
    gateway = launch_gateway(conf, {"process_group": 0})  # type: ignore[no-untyped-call]
    SparkContext(conf=conf, gateway=gateway)
    session: SparkSession = SparkSession.builder.getOrCreate()
    return session


def _withhold_settings() -> None:
    """Remove our settings from the environment that the JVM and its workers inherit.

    A variable may hold a password, and other users may be able to read a process's environment.
    The driver has read the variables; its children get what they need in other ways.
    """
    for name in [each for each in os.environ if each.upper().startswith(ENVIRONMENT_PREFIX)]:
        del os.environ[name]


def _logging_option() -> str:
    """Return the JVM option that names the logging configuration."""
    return f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"


def _text(value: object) -> str:
    """Return a setting as the text that Spark reads."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quoted(option: str) -> str:
    """Return a JVM option, quoted because Spark splits options at spaces."""
    return f'"{option}"' if " " in option else option
