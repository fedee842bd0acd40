"""The demo on RocketMQ as a user runs it, with every part real."""

import os
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from fairlead_proof.demo_rocketmq.roll_out import ROLL_OUT_STEPS
from fairlead_proof.demo_rocketmq.script import STEPS

from fairlead.errors import ExitCode
from tests.kit.awaiting import run_talking

SECONDS = 1_200.0
"""For a whole demo; each of its waits is much shorter."""
SMOKE = ["--way", "fairlead", "--consumers", "3", "--step", "join", "--step", "leave"]


def _run(tmp_path: Path, *flags: str) -> dict[str, Any]:
    report, temporary = tmp_path / "report.json", tmp_path / "tmp"
    temporary.mkdir()
    command = (sys.executable, "-m", "fairlead", "demo-rocketmq", "--check", "-o", "json")
    ended = run_talking(
        [*command, "--report", str(report), *flags],
        environment={**os.environ, "TMPDIR": str(temporary)},
    )
    assert ended.returncode == ExitCode.OK, ended.stderr.decode()
    document: dict[str, Any] = orjson.loads(ended.stdout)
    assert document == orjson.loads(report.read_bytes())
    assert list(temporary.glob("fairlead-demo-*")) == []
    return document


@pytest.mark.slow
@pytest.mark.system
@pytest.mark.spark
@pytest.mark.broker
@pytest.mark.java
@pytest.mark.timeout(SECONDS)
def test_java_consumers_hand_over_without_repeats(tmp_path: Path) -> None:
    """Unmodified listeners join and leave under the real engine, gateway, bridge and RocketMQ."""
    (way,) = _run(tmp_path, *SMOKE)["ways"]
    assert [step["name"] for step in way["steps"]] == ["start", "join", "leave"]
    assert way["moves"] > 0
    assert (way["begun_again"], way["beside"], way["missed"]) == (0, 0, 0)


@pytest.mark.slow
@pytest.mark.system
@pytest.mark.spark
@pytest.mark.broker
@pytest.mark.java
@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--server-version", "4.9.7", "--client-version", "4.9.8"],
        ["--server-version", "4.9.7", "--way", "fairlead", "--ordered"],
        ["--client-version", "4.9.8", "--way", "fairlead", "--ordered"],
    ],
    ids=" ".join,
)
def test_the_whole_script_passes(tmp_path: Path, flags: list[str]) -> None:
    """Whoever is killed, frozen, restarted or away: nothing comes twice without need."""
    document = _run(tmp_path, *flags)
    ways = document["ways"]
    for way in ways:
        assert [step["name"] for step in way["steps"]] == list(STEPS)
    assert (ways[0]["begun_again"], ways[0]["beside"], ways[0]["missed"]) == (0, 0, 0)


@pytest.mark.slow
@pytest.mark.system
@pytest.mark.spark
@pytest.mark.broker
@pytest.mark.java
@pytest.mark.timeout(SECONDS)
def test_a_group_goes_over_and_returns(tmp_path: Path) -> None:
    """RocketMQ's rebalance, Fairlead, RocketMQ's again: nothing moves where one gives way."""
    (way,) = _run(tmp_path, "--way", "roll-out", "--consumers", "3")["ways"]
    assert [step["name"] for step in way["steps"]] == list(ROLL_OUT_STEPS)
    moved = {step["name"]: step["moves"] for step in way["steps"]}
    assert moved["join"] > 0
    assert moved["take_over"] == moved["let_go"] == 0
