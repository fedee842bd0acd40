"""A real engine whose checkpoint is damaged: while it runs, while it is stopped, and supervised."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from traceback import format_exception_only
from typing import TYPE_CHECKING

import pytest

from fairlead.broker.ports import free_ports
from fairlead.codec.errors import CodecError, UnwritableError
from fairlead.errors import ExitCode, QueryDiedError, RefusedError
from fairlead.settings import Settings
from streaming.checkpoint import Checkpoint
from streaming.damage import DamagedError, copies_of
from streaming.inspection import refusal_of
from streaming.shutdown import cause_of_end
from tests.kit.engine_process import EngineProcess, children_of, kill_at_once
from tests.kit.fleet import Fleet
from tests.kit.job import job
from tests.kit.kafka_log import Log
from tests.kit.scrape import scrape
from tests.streaming.damages import DAMAGES, cut, empty, newest, newest_delta, without_sum
from tests.streaming.grants import assert_decided_once, owns_all
from tests.streaming.pictures import pictures

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.kit.client import Client


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Leases that end soon, batches that follow each other, and a port that the test knows."""
    times = {"lease_ms": 5_000, "margin_ms": 2_000}
    return settings.model_copy(
        update={
            "group_defaults": settings.group_defaults.model_copy(update=times),
            "metrics": settings.metrics.model_copy(update={"port": free_ports(1)[0]}),
        }
    )


@pytest.mark.slow
@pytest.mark.system
@pytest.mark.spark
def test_a_supervised_engine_recovers_only_when_asked(
    settings: Settings, log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state file is cut in half while it runs; the supervisor recovers, but not unasked."""
    # The file has no checksum, so Spark alone finds out; an emptied commit is found before.
    monkeypatch.setenv("FAIRLEAD__GROUP_DEFAULTS__LEASE_MS", "5000")
    monkeypatch.setenv("FAIRLEAD__CLIENT__HEARTBEAT_MS", "1000")
    monkeypatch.setenv("FAIRLEAD__ENGINE__TICK_MS", "200")
    checkpoint = Checkpoint(settings.engine.checkpoint)
    with Fleet(settings.kafka) as fleet:
        client = fleet.join("c1")
        flags = ("--supervise", "--recover-damaged")
        with EngineProcess(settings, tmp_path / "recovers.log", *flags) as engine:
            log.check = engine.check
            log.await_record("assignments", owns_all(client, 1))
            _assert_kills_damage_nothing(engine, checkpoint, tmp_path)
            before = dict(client.held)
            cut(without_sum(newest_delta(checkpoint.query)))
            kill_at_once(*children_of(engine.pid))
            engine.await_said("moved a damaged checkpoint aside")
            engine.await_said("recovered: the engine decides on every group again")
            assert dict(client.held) == before
            assert scrape(settings.metrics).value("fairlead_damaged_checkpoints") == 1
            engine.signal(signal.SIGTERM)
            assert engine.await_end() == ExitCode.OK
            assert "is damaged: query/state cannot be read" in engine.text()
        (kept,) = copies_of(checkpoint.folder)
        assert (kept / "query" / "commits").is_dir()
        assert_decided_once(log)
        empty(without_sum(newest(checkpoint.query, "commits")))
        claims = len(log.records("generations"))
        _assert_refused_once(settings, checkpoint, tmp_path)
        # It is refused before a generation is claimed.
        assert len(log.records("generations")) == claims


def _assert_kills_damage_nothing(
    engine: EngineProcess, checkpoint: Checkpoint, folder: Path, count: int = 8
) -> None:
    """Check that a kill in the midst of any file leaves a checkpoint that is whole."""
    (driver,) = children_of(engine.pid)
    seen = 0
    for copy in pictures(driver, checkpoint.folder, folder, count):
        assert refusal_of(Checkpoint(copy)) is None
        seen += any(copy.rglob(".*.tmp"))
        shutil.rmtree(copy)
    assert seen > 0, "no picture was made in the midst of a file"


def _assert_refused_once(settings: Settings, checkpoint: Checkpoint, folder: Path) -> None:
    """Check that a supervisor that was not asked to recover ends with the refusal, at once."""
    with EngineProcess(settings, folder / "refused.log", "--supervise") as engine:
        assert engine.await_end() == ExitCode.REFUSED
        text = engine.text()
    assert "restarting it" not in text
    assert f"{checkpoint.folder} is damaged: query/commits/" in text
    assert f"mv {checkpoint.folder} {checkpoint.folder}.damaged-2" in text
    assert len(copies_of(checkpoint.folder)) == 1


def _start(settings: Settings, spark: "SparkSession", log: Log) -> Exception | None:
    """Start the job on what there is; return how it is refused, None once it runs."""
    before = Checkpoint(settings.engine.checkpoint).newest_commit() or 0
    try:
        with job(spark, settings, log) as running:
            running.await_state(lambda: _commits(settings) >= before + 2)
    except RefusedError as error:
        return error
    return None


def _commits(settings: Settings) -> int:
    return Checkpoint(settings.engine.checkpoint).newest_commit() or 0


def _own(fleet: Fleet, settings: Settings, spark: "SparkSession", log: Log) -> "Client":
    """Run the job until a client has its queues, and there are more batches than Spark reads."""
    client = fleet.join("c1")
    with job(spark, settings, log) as running:
        fleet.await_held(client, 4)
        running.await_state(lambda: _commits(settings) >= 6)
    return client


def _quick(settings: Settings) -> Settings:
    engine = settings.engine.model_copy(update={"tick_ms": 200})
    return settings.model_copy(update={"engine": engine})


@pytest.mark.slow
@pytest.mark.parametrize("name", DAMAGES)
def test_each_damage_refuses_the_next_start_or_is_none(
    spark: "SparkSession", settings: Settings, log: Log, name: str
) -> None:
    """Each damage refuses the next start, or is none; what is refused recovers once moved away."""
    damage, settings = DAMAGES[name], _quick(settings)
    with Fleet(settings.kafka) as fleet:
        client = _own(fleet, settings, spark, log)
        before = dict(client.held)
        damage.do(settings.engine.checkpoint / "query")
        error = _start(settings, spark, log)
        if damage.stopped == "nobody":
            assert error is None
            return
        assert isinstance(error, DamagedError)
        assert damage.named in error.message
        settings.engine.checkpoint.rename(settings.engine.checkpoint.with_name("away"))
        assert _start(settings, spark, log) is None
        assert dict(client.held) == before
    assert_decided_once(log)


@pytest.mark.slow
@pytest.mark.parametrize("name", DAMAGES)
def test_spark_goes_on_over_damage_while_it_runs(
    spark: "SparkSession", settings: Settings, log: Log, name: str
) -> None:
    """Spark goes on from memory and writes what is newer: the next start finds what is left."""
    damage, settings = DAMAGES[name], _quick(settings)
    with Fleet(settings.kafka) as fleet:
        _own(fleet, settings, spark, log)
        with job(spark, settings, log) as running:
            running.await_state(lambda: _commits(settings) >= 9)
            hurt_at = _commits(settings)
            damage.do(settings.engine.checkpoint / "query")
            with contextlib.suppress(DamagedError):  # where Spark cannot write at all, at once
                running.await_state(lambda: _commits(settings) >= hurt_at + 6)
        error = _start(settings, spark, log)
    if damage.running == "nobody":
        assert error is None
    else:
        assert isinstance(error, DamagedError)
        assert damage.named in error.message


@contextlib.contextmanager
def _read_only(folder: Path) -> Iterator[None]:
    """Have a folder on a read-only file system while the context is open; only root can."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    assert mount is not None
    assert umount is not None
    for options in (["--bind", str(folder), str(folder)], ["-o", "remount,bind,ro", str(folder)]):
        subprocess.run([mount, *options], check=True, timeout=30)
    try:
        yield
    finally:
        subprocess.run([umount, "--lazy", str(folder)], check=True, timeout=30)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a mount read-only")
def test_read_only_while_running(spark: "SparkSession", settings: Settings, log: Log) -> None:
    """A disk that goes read-only ends the run with 4 and its own remedy, and so the next start."""
    settings = _quick(settings)
    query = settings.engine.checkpoint / "query"
    with Fleet(settings.kafka) as fleet:
        _own(fleet, settings, spark, log)
        with job(spark, settings, log) as running:
            running.await_state(lambda: _commits(settings) >= 9)
            with _read_only(query):
                error = running.join()
                again = _start(settings, spark, log)
        for found in (error, again):
            assert type(found) is RefusedError
            assert "may not be written" in found.message
            assert "dmesg" in found.remedy
        assert _start(settings, spark, log) is None


def _printed(error: Exception) -> str:
    """Return an exception as a worker prints it."""
    return "x\n" + "".join(format_exception_only(error))


LOADING = "[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred during loading state."


@pytest.mark.parametrize(
    "text, causes, kind",
    [
        (LOADING, ("java.io.IOException: Stream is corrupted",), DamagedError),
        (LOADING, ("java.io.EOFException: Stream ended prematurely",), DamagedError),
        (LOADING, ("org.apache.hadoop.fs.ChecksumException: Checksum error: f",), DamagedError),
        # A disk or a process that lacks something: it may pass.
        (LOADING, ("java.io.IOException: Too many open files",), QueryDiedError),
        (LOADING, (), QueryDiedError),
        ("x", ("java.io.EOFException",), QueryDiedError),
        (LOADING.replace("UNCATEGORIZED", "HDFS_STORE_PROVIDER_OUT_OF_MEMORY"), (), QueryDiedError),
        (LOADING.replace("UNCATEGORIZED", "CANNOT_READ_DELTA_FILE_NOT_EXISTS"), (), DamagedError),
        ("batch 152 doesn't exist", (), DamagedError),
        (
            "Failed to read log file file:/path/to/query/commits/153. Incomplete log",
            (),
            DamagedError,
        ),
        ("[CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log.", (), QueryDiedError),
        (_printed(CodecError("a shard", "its head is no object")), (), DamagedError),
        # The state that is stored is intact.
        (_printed(UnwritableError("a shard", "its head is no JSON")), (), QueryDiedError),
        ("org.apache.kafka.common.errors.TimeoutException: no", (), QueryDiedError),
    ],
)
def test_only_damage_of_the_checkpoint_counts(
    text: str, causes: tuple[str, ...], kind: type, tmp_path: Path
) -> None:
    """Only what Spark says of the checkpoint itself is damage; what may pass is started again."""
    assert type(cause_of_end(text, Checkpoint(tmp_path), causes)) is kind
