"""The measurement as a user runs it, small: every part real, every figure there."""

import os
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from fairlead.errors import ExitCode
from tests.kit.awaiting import run_talking

SECONDS = 480.0
"""For a whole measurement; each of its waits is much shorter."""
pytestmark = [
    pytest.mark.system,
    pytest.mark.spark,
    pytest.mark.broker,
    pytest.mark.timeout(SECONDS),
]


def _measured(tmp_path: Path, *flags: str) -> Any:
    """Run the measurement; return its document, once the report is found the same and all gone."""
    report, temporary = tmp_path / "bench.json", tmp_path / "tmp"
    temporary.mkdir()
    command = [sys.executable, "-m", "fairlead", "proof", "bench", *flags, "--report", str(report)]
    ended = run_talking(
        [*command, "-o", "json"], environment={**os.environ, "TMPDIR": str(temporary)}
    )
    assert ended.returncode == ExitCode.OK, ended.stderr.decode()
    (document,) = orjson.loads(ended.stdout)
    assert document == orjson.loads(report.read_bytes())
    assert list(temporary.glob("fairlead-bench-*")) == []
    return document


@pytest.mark.slow
def test_a_small_group_is_measured_in_phases_that_add_up(tmp_path: Path) -> None:
    """A small group is measured: each leave and join is adopted, cut into phases that add up."""
    document = _measured(
        tmp_path,
        *("--rounds", "1", "--clients", "4", "--queues", "16"),
        *("--rest", "1", "--starts", "0", "--crashes", "0"),
    )
    assert {kind: document["adopted"][kind]["n"] for kind in ("join", "leave")} == {
        "join": 1,
        "leave": 1,
    }
    for change in document["changes"]:
        names = ("waiting", "batch", "asking", "releasing", "taking")
        parts = sum(change[name] for name in names)
        assert parts == pytest.approx(change["total_ms"], abs=0.5)
        assert change["queues"] >= 1
        assert change["decisions"] >= 1
    assert document["starts"] == {}
    # One for each change at least: a slow machine has what follows in the same one.
    assert document["batches"]["total"]["n"] >= 2
    assert document["gaps"]["n"] >= 2
    assert document["engine_at_rest_cpu"] > 0
    # Beside it, in the same run, the same under RocketMQ's strategy: more queues move.
    assert document["strategy"] == "STICKY"
    assert list(document["beside"]) == ["AVG"]
    assert document["beside"]["AVG"]["adopted"]["n"] == 2
    # Four clients, 16 queues: the leaver's own, and one client's worth for whoever comes.
    assert document["queues"]["max"] == 4
    assert document["beside"]["AVG"]["queues"]["max"] > 4


@pytest.mark.slow
def test_starts_are_measured_with_the_archive_and_without(tmp_path: Path) -> None:
    """Starts of the engine are measured with the class-data archive and without."""
    document = _measured(
        tmp_path,
        *("--rounds", "1", "--clients", "2", "--queues", "4"),
        *("--rest", "1", "--starts", "1", "--crashes", "0"),
    )
    assert {kind: times["n"] for kind, times in document["starts"].items()} == {
        "with the archive": 1,
        "without the archive": 1,
    }


@pytest.mark.slow
def test_a_crash_takes_at_least_lease_and_margin(tmp_path: Path) -> None:
    """A crash is measured too, and takes as long as lease and margin at least."""
    document = _measured(
        tmp_path,
        *("--rounds", "2", "--clients", "4", "--queues", "16"),
        *("--rest", "1", "--starts", "0", "--crashes", "1"),
    )
    assert document["adopted"]["join"]["n"] == 2
    assert document["gaps"]["n"] >= 4
    assert document["crashes"]["n"] == 1
    # Nobody may be taken for dead before lease and margin are over.
    assert document["crashes"]["max"] > 13_000
