"""The engine as processes: killed, stopped, supervised, and two of them at once."""

import shutil
import signal
from pathlib import Path
from typing import Any

import orjson
import pytest

from fairlead.broker.ports import free_ports
from fairlead.errors import ExitCode
from fairlead.settings import Settings
from tests.kit.engine_process import (
    EngineProcess,
    children_of,
    copy_checkpoint,
    kill_at_once,
)
from tests.kit.fleet import Fleet
from tests.kit.kafka_log import Log
from tests.kit.scrape import scrape
from tests.streaming.grants import assert_decided_once, held_by, owns_all

pytestmark = [pytest.mark.system, pytest.mark.spark]


@pytest.fixture
def served(settings: Settings) -> Settings:
    """The settings with a port for /metrics that the test knows."""
    metrics = settings.metrics.model_copy(update={"port": free_ports(1)[0]})
    return settings.model_copy(update={"metrics": metrics})


def _with_checkpoint(settings: Settings, folder: Path) -> Settings:
    engine = settings.engine.model_copy(update={"checkpoint": folder})
    metrics = settings.metrics.model_copy(update={"port": 0})
    return settings.model_copy(update={"engine": engine, "metrics": metrics})


@pytest.mark.slow
def test_a_driver_without_a_checkpoint_recovers(served: Settings, log: Log, tmp_path: Path) -> None:
    """A driver ends with its JVM; the next one, without a checkpoint, says that it recovers."""
    with Fleet(served.kafka) as fleet:
        client = fleet.join("c1")
        with EngineProcess(served, tmp_path / "first.log") as engine:
            log.check = engine.check
            log.await_record("assignments", owns_all(client, 1))
            _assert_no_settings(engine.pid)
            kill_at_once(*children_of(engine.pid))
            assert engine.await_end() == ExitCode.QUERY_DIED
            assert _last_line(engine)["exit_code"] == ExitCode.QUERY_DIED
        shutil.rmtree(served.engine.checkpoint)
        with EngineProcess(served, tmp_path / "second.log") as engine:
            log.check = engine.check
            engine.await_said("recovering from the clients' claims")
            engine.await_said("recovering: owners go on")
            assert scrape(served.metrics).value("fairlead_recovering_shards") > 0
            engine.await_said("recovered: the engine decides on every group again")
            assert scrape(served.metrics).value("fairlead_recovering_shards") == 0
            log.await_record("assignments", owns_all(client, 2))
            engine.signal(signal.SIGTERM)
            assert engine.await_end() == ExitCode.OK
            _assert_structured(engine.text())
            line = _last_line(engine)
            assert (line["why"], line["exit_code"], line["generation"]) == ("SIGTERM", 0, 2)
            assert line["batches"] > 0
            assert line["uptime_seconds"] > 0
    assert_decided_once(log)


def _assert_no_settings(driver: int) -> None:
    """Whoever looks at the JVM or a Python worker finds no setting, so no password, there."""
    (jvm,) = children_of(driver)
    below = [each for child in children_of(jvm) for each in (child, *children_of(child))]
    assert b"FAIRLEAD__" in _environment(driver)
    found = {process: _environment(process) for process in (jvm, *below)}
    assert found[jvm], "the JVM has ended"
    assert any(b"PYTHON" in each for process, each in found.items() if process != jvm)
    assert [process for process, each in found.items() if b"FAIRLEAD__" in each] == []


def _environment(process: int) -> bytes:
    """Return what a process was started with; nothing if it has ended meanwhile, as workers do."""
    try:
        return Path(f"/proc/{process}/environ").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def _last_line(engine: EngineProcess) -> dict[str, Any]:
    """Return what a driver said of its end."""
    (line,) = (line for line in engine.text().splitlines() if '"engine ended"' in line)
    found: dict[str, Any] = orjson.loads(line)
    return found


def _assert_structured(text: str) -> None:
    """Check that each line is a document, the JVM's too, and that decisions are logged."""
    # What Java itself says before it has a log.
    lines = [line for line in text.splitlines() if not line.startswith("WARNING: Using incubator")]
    told = [orjson.loads(line) for line in lines]
    assert all({"timestamp", "level", "event"} <= line.keys() for line in told)
    decided = [line for line in told if line["event"] == "decided"]
    assert decided
    wanted = {"batch", "group", "epoch", "triggers", "moves", "phase"}
    assert all(wanted <= line.keys() for line in decided)


def _assert_second_is_refused(settings: Settings, folder: Path) -> None:
    """Check that a second driver on the same checkpoint ends at once, and disturbs nobody."""
    with EngineProcess(_with_checkpoint(settings, settings.engine.checkpoint), folder / "x") as two:
        assert two.await_end() == ExitCode.REFUSED
        assert "is in use by the driver with process id" in two.text()


# A kill between two batches, a supervisor, and a newer claim have shorter tests of their own.
@pytest.mark.slow
def test_a_killed_driver_is_started_again(served: Settings, log: Log, tmp_path: Path) -> None:
    """A driver killed in mid-batch is started again where it was, and gives way to a newer one."""
    with Fleet(served.kafka) as fleet:
        first = fleet.join("c1", "first")
        with EngineProcess(served, tmp_path / "first.log", "--supervise") as engine:
            log.check = engine.check
            log.await_record("assignments", owns_all(first, 1))
            _assert_second_is_refused(served, tmp_path)
            second = fleet.join("c1", "second")
            # The record is readable before its batch is committed: this is in the midst of it.
            log.await_record("assignments", owns_all(second, 1))
            kill_at_once(*children_of(engine.pid))
            third = fleet.join("c1", "third")
            log.await_record("assignments", owns_all(third, 2))
            assert scrape(served.metrics).value("fairlead_query_restarts_total") == 1
            copied = tmp_path / "copied"
            copy_checkpoint(served.engine.checkpoint, copied)
            with EngineProcess(_with_checkpoint(served, copied), tmp_path / "second.log") as newer:
                assert engine.await_end() == ExitCode.SUPERSEDED
                assert engine.text().count("engine runs") == 2
                fourth = fleet.join("c1", "fourth")
                log.check = newer.check
                log.await_record("assignments", owns_all(fourth, 3))
                for client in (first, second):
                    log.await_record("assignments", held_by(client))
                newer.signal(signal.SIGINT)
                assert newer.await_end() == ExitCode.OK
    assert_decided_once(log)
