"""`fairlead broker` as a user runs it: in processes that come and go."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fairlead.broker import read_state
from fairlead.errors import ExitCode
from fairlead.kafka.topic_creation import inspect_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import load_settings
from tests.answers.schema import assert_command
from tests.kit.awaiting import child_process

pytestmark = pytest.mark.broker

_SECONDS_MAX = 120


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "fairlead", "broker", *arguments]


def _run(
    *arguments: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(*arguments),
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS_MAX,
        env=environment,
    )


def _rows(answer: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(answer.stdout)
    return rows


@pytest.mark.slow
def test_a_broker_outlives_the_command_that_started_it(tmp_path: Path) -> None:
    """Start, start again, look, stop, look again: each in a process of its own."""
    where = ("--data-dir", str(tmp_path / "kafka"))
    started = _run("start", *where, "--topic-prefix", "mine.", "-o", "json")
    assert started.returncode == ExitCode.OK, started.stderr
    assert "topics mine.*: 11 created, 0 exist" in started.stderr
    try:
        again = _run("start", *where, "--topic-prefix", "mine.", "-o", "json")
        assert _rows(again) == _rows(started)
        assert "runs already" in again.stderr
        assert "0 created, 11 exist" in again.stderr
        more = tmp_path / "more.toml"
        more.write_text("[topics]\nheartbeats_partitions = 9\n")
        differs = _run("start", *where, "--topic-prefix", "mine.", "--config", str(more))
        assert "warning: mine.heartbeats: partitions is 4, expected 9" in differs.stderr
        for other in (("--brokers", "3"), ("--port", "9")):
            assert _run("start", *where, *other).returncode == ExitCode.REFUSED
        status = _run("status", *where, "-o", "json")
        assert status.returncode == ExitCode.OK
        (node,) = _rows(status)
        assert_command(["broker", "status"], [node])
        assert_command(["broker", "start"], _rows(started))
        assert node["state"] == "in_service"
        assert node["address"] == _rows(started)[0]["bootstrap"]
        os.kill(node["pid"], 0)
    finally:
        stopped = _run("stop", *where)
    assert stopped.returncode == ExitCode.OK
    assert "stopped in" in stopped.stderr
    after = _run("status", *where, "-o", "json")
    assert after.returncode == ExitCode.VERDICT_NEGATIVE
    assert [(row["state"], row["pid"]) for row in _rows(after)] == [("stopped", None)]
    assert "no cluster runs" in _run("stop", *where).stderr


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        signal.SIGKILL,
    ],
)
def test_a_broker_in_the_foreground_ends_with_its_command(
    tmp_path: Path, ending: signal.Signals
) -> None:
    """Ctrl-C and SIGTERM stop it in order; a killed command takes its broker along."""
    arguments = ("start", "--foreground", "--data-dir", str(tmp_path), "-o", "jsonl")
    with child_process(
        _command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        shown = json.loads(process.stdout.readline())
        state = read_state(tmp_path)
        assert state is not None
        assert state.bootstrap == shown["bootstrap"]
        (broker,) = state.processes()
        assert broker.is_alive()
        process.send_signal(ending)
        process.wait(_SECONDS_MAX)
    assert broker.wait(10.0)
    assert process.returncode == (-ending if ending is signal.SIGKILL else ExitCode.OK)


@pytest.mark.slow
def test_a_node_that_ends_by_itself_ends_the_command(tmp_path: Path) -> None:
    """In the foreground the loss of the broker is an error that names its log."""
    with child_process(
        _command("start", "--foreground", "--data-dir", str(tmp_path), "-o", "jsonl"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        state = read_state(tmp_path)
        assert state is not None
        state.processes()[0].signal(signal.SIGKILL)
        errors = process.stderr.read()
    assert process.returncode == ExitCode.ENVIRONMENT
    assert "node 1 ended by itself" in errors
    assert "broker.log" in errors


def test_a_cluster_that_exists_gets_the_topics_and_nothing_is_started(
    bootstrap: str, topic_prefix: str, tmp_path: Path
) -> None:
    """With --bootstrap the topics are made as the settings say, and no broker is started."""
    use = ("start", "--bootstrap", bootstrap, "--topic-prefix", topic_prefix, "-o", "json")
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    first, again = (_run(*use, environment=environment) for _ in range(2))
    assert first.returncode == again.returncode == ExitCode.OK, first.stderr
    assert f"topics {topic_prefix}*: 11 created, 0 exist" in first.stderr
    assert f"topics {topic_prefix}*: 0 created, 11 exist" in again.stderr
    row = {"bootstrap": bootstrap, "topic_prefix": topic_prefix, "data_dir": None}
    assert _rows(first) == _rows(again) == [row]
    assert list(tmp_path.iterdir()) == []
    specs = topic_specs(load_settings().topics)
    found = inspect_topics({"bootstrap_servers": bootstrap}, topic_prefix, specs)
    assert (found.missing, found.differences) == ((), ())


def test_the_copies_that_the_settings_want_are_asked_for(
    bootstrap: str, topic_prefix: str, tmp_path: Path
) -> None:
    """The replication factor of conf/ holds on an existing cluster; one that cannot be is named."""
    copies = tmp_path / "copies.toml"
    copies.write_text("[kafka]\nreplication_factor = 3\n", encoding="utf-8")
    use = ("start", "--bootstrap", bootstrap, "--topic-prefix", topic_prefix)
    refused = _run(*use, "--config", str(copies))
    assert refused.returncode == ExitCode.ENVIRONMENT
    assert "InvalidReplicationFactor" in refused.stderr


def test_looking_where_nothing_ever_ran(tmp_path: Path) -> None:
    """Status says so and is negative; stop has nothing to do and succeeds."""
    status = _run("status", "--data-dir", str(tmp_path))
    assert status.returncode == ExitCode.VERDICT_NEGATIVE
    assert "there is no cluster" in status.stderr
    assert _run("stop", "--data-dir", str(tmp_path)).returncode == ExitCode.OK
