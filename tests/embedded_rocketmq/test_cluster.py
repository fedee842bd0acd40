"""Real name servers and brokers: started, looked at, broken and repaired."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connection import Connection, ConnectionSettings

from fairlead.embedded_rocketmq import EmbeddedRocketMQ, read_servers
from fairlead.embedded_rocketmq.readiness import brokers_seen_by
from fairlead.errors import ExitCode, RefusedError
from tests.answers.schema import assert_command
from tests.kit.awaiting import await_seen

pytestmark = pytest.mark.broker

_SECONDS_MAX = 120


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fairlead", "rocketmq", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=_SECONDS_MAX
    )


def _rows(answer: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(answer.stdout)
    return rows


def test_both_lines_answer(rocketmq: EmbeddedRocketMQ, rocketmq_4: EmbeddedRocketMQ) -> None:
    """Brokers are registered, and each server answers requests of either kind of header."""
    for cluster in (rocketmq, rocketmq_4):
        assert brokers_seen_by(cluster.namesrv) == frozenset({"broker-a", "broker-b"})
        broker = Connection(cluster.address("broker-a"), ConnectionSettings(call_s=20))
        groups = broker.call(Command(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG))
        assert b"subscriptionGroupTable" in bytes(groups.body)
        broker.close()


@pytest.mark.slow
def test_a_cluster_outlives_the_command_that_started_it(tmp_path: Path) -> None:
    """Start, start again, look, stop, look again: each in a process of its own."""
    where = ("--data-dir", str(tmp_path / "rocketmq"))
    started = _run("start", *where, "-o", "json")
    assert started.returncode == ExitCode.OK, started.stderr
    try:
        again = _run("start", *where, "-o", "json")
        assert _rows(again) == _rows(started)
        assert "runs already" in again.stderr
        others = (("--version", "4.9.7"), ("--brokers", "2"), ("--name-servers", "2"))
        for other in (*others, ("--port", "9")):
            assert _run("start", *where, *other).returncode == ExitCode.REFUSED
        status = _run("status", *where, "-o", "json")
        assert status.returncode == ExitCode.OK
        servers = _rows(status)
        assert_command(["rocketmq", "status"], servers)
        assert_command(["rocketmq", "start"], _rows(started))
        assert [each["server"] for each in servers] == ["namesrv-1", "broker-a"]
        for each in servers:
            os.kill(each["pid"], 0)
    finally:
        stopped = _run("stop", *where)
    assert "stopped in" in stopped.stderr
    after = _run("status", *where, "-o", "json")
    assert after.returncode == ExitCode.VERDICT_NEGATIVE
    assert [(row["state"], row["pid"]) for row in _rows(after)] == [("stopped", None)] * 2
    assert "no cluster runs" in _run("stop", *where).stderr


@pytest.mark.slow
@pytest.mark.parametrize("version", ["4.9.7", "5.3.3"])
def test_servers_that_fail_come_back(tmp_path: Path, version: str) -> None:
    """A killed broker, a frozen one and a killed name server are in service again afterwards."""
    with EmbeddedRocketMQ(tmp_path, version=version, brokers=2, name_servers=2) as cluster:
        with pytest.raises(RefusedError, match="a cluster runs in"):
            EmbeddedRocketMQ(tmp_path, version=version, brokers=2, name_servers=2).start()
        cluster.kill("broker-b")
        assert not cluster.is_running("broker-b")
        first = cluster.address("namesrv-1")
        await_seen(
            lambda: brokers_seen_by(first) == frozenset({"broker-a"}), what="broker-b is gone"
        )
        cluster.restart("broker-b")
        assert brokers_seen_by(first) == frozenset({"broker-a", "broker-b"})
        cluster.kill("namesrv-1")
        assert brokers_seen_by(first) is None
        cluster.restart("namesrv-1")
        assert brokers_seen_by(first) == frozenset({"broker-a", "broker-b"})
        cluster.pause("broker-a")
        assert cluster.is_running("broker-a")
        cluster.resume("broker-a")
        cluster.await_ready()
    assert [each.running for each in read_servers(tmp_path)] == [False] * 4
    with pytest.raises(RefusedError, match="holds a cluster of"):
        EmbeddedRocketMQ(tmp_path, version=version).start()
