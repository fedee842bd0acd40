"""The Spark session of the engine: one local JVM, set for short micro-batches (ADR 0011).

Every setting that is not Spark's own default stands here with its reason. What an operator adds in
``[engine.spark]`` wins.
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
    # The quick compiler alone: batches are short, and the first seconds count.
    "-XX:TieredStopAtLevel=1",
    # With it the JVM reserves 48 MB for compiled code. Spark fills that within a minute, and from
    # then on a fifth of a core throws methods out and compiles them again.
    "-XX:ReservedCodeCacheSize=160m",
    EXIT_ON_FULL_HEAP,
)


def checkpoint_manager_class(version: str = pyspark.__version__) -> str:
    """Return the class that writes checkpoint metadata by plain renames of files.

    The default forks a process for each file (about 40 ms), this one does not (about 10 ms). It
    moved to a package of its own after Spark 4.0.
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
        engine: the engine's section of the settings.
        jars: the folder of the connector jars.
        java_options: more options of the JVM, for example the class-data archive.
    """
    own = {
        "spark.app.name": "fairlead",
        "spark.driver.memory": engine.java_heap,
        # On the class path, not in spark.jars: those are copied and loaded by a second loader.
        "spark.driver.extraClassPath": f"{jars}/*",
        "spark.driver.extraJavaOptions": " ".join(
            _quoted(option) for option in (*_COMPILER_OPTIONS, _logging_option(), *java_options)
        ),
        # Nobody but this machine has business with the driver's own ports.
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
        # For the life of a checkpoint; see streaming/checkpoint.py.
        "spark.sql.shuffle.partitions": str(engine.shuffle_partitions),
        # Planning costs more than these save on a few rows.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.subexpressionElimination.enabled": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        # Of records that are as large as they may be a hundred thousand would be 6 GB at once.
        "spark.sql.execution.arrow.maxBytesPerBatch": "16m",
        "spark.sql.streaming.checkpointFileManagerClass": checkpoint_manager_class(),
        # Hadoop's own starts a chmod for each file and for its check sum: eight processes a batch.
        "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
        # Ticks are the only clock; a batch without data would be a busy loop.
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        "spark.sql.streaming.minBatchesToRetain": "10",
        "spark.sql.streaming.metricsEnabled": "false",
        # How often it is looked whether anything came. With the default, 10 ms, a broker at rest
        # spends a third more of its time on the answers.
        "spark.sql.streaming.pollingDelay": "25",
        # stop() waits for the batch however long it takes.
        "spark.sql.streaming.stopTimeout": "0",
        "spark.sql.session.timeZone": "UTC",
    }
    return own | {name: _text(value) for name, value in engine.spark.items()}


def build_session(
    engine: EngineSettings, jars: Path, java_options: tuple[str, ...] = ()
) -> SparkSession:
    """Start the JVM and return the session; about three seconds with a class-data archive."""
    # Workers must be this very Python, or they miss what is installed here.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # Spark looks this host's address up before it reads the settings above.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # Without it Spark's start script runs a Python of its own to find out.
    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    conf = SparkConf().setMaster(engine.master)
    conf.setAll(list(spark_settings(engine, jars, java_options).items()))
    _withhold_settings()
    # A process group of its own: what is sent to ours (Ctrl-C, a SIGTERM to all) must not end the
    # JVM before this process has stopped the query. It ends when its standard input is closed.
    gateway = launch_gateway(conf, {"process_group": 0})  # type: ignore[no-untyped-call]
    SparkContext(conf=conf, gateway=gateway)
    session: SparkSession = SparkSession.builder.getOrCreate()
    return session


def _withhold_settings() -> None:
    """Take our settings out of the environment that the JVM and its workers inherit.

    A password may stand in a variable. The driver has read them all; its children are told what
    they need in other ways, and whoever may look at a process reads its environment.
    """
    for name in [each for each in os.environ if each.upper().startswith(ENVIRONMENT_PREFIX)]:
        del os.environ[name]


def _logging_option() -> str:
    """Name the file that says what the JVM logs."""
    return f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"


def _text(value: object) -> str:
    """Write a setting as Spark reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quoted(option: str) -> str:
    """Return an option of the JVM as Spark takes it: split at spaces, with quotation marks."""
    return f'"{option}"' if " " in option else option
