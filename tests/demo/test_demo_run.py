"""The demo as a user runs it: the whole script with every part real, and its end in a hurry."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from fairlead_proof.demo.gateway_script import GATEWAY_STEPS
from fairlead_proof.demo.judge import STEPS

from fairlead.errors import ExitCode
from tests.kit.awaiting import child_process, run_talking

SECONDS = 480.0
"""For a whole demo; each of its waits is much shorter."""


def _environment(temporary: Path) -> dict[str, str]:
    """The environment of a demo whose temporary files are all in one folder."""
    temporary.mkdir()
    return {**os.environ, "TMPDIR": str(temporary)}


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "fairlead", "demo", *arguments]


def _processes_naming(text: str) -> list[str]:
    """The command lines of living processes in which a text stands."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().decode(errors="replace")
        except (OSError, ValueError):
            continue
        if text in line:
            found.append(line.replace("\0", " "))
    return found


@pytest.mark.system
@pytest.mark.spark
@pytest.mark.broker
@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize(
    "seed, chosen",
    [
        (1, ["--gateway"]),
        pytest.param(1, [], marks=pytest.mark.slow),
        pytest.param(2, [], marks=pytest.mark.slow),
        pytest.param(3, [], marks=pytest.mark.slow),
        pytest.param(4, ["--consumers", "push"], marks=pytest.mark.slow),
    ],
)
def test_the_demo_passes_its_own_judge(tmp_path: Path, seed: int, chosen: list[str]) -> None:
    """The demo passes its own judge, whoever is killed, through gateways and push consumers too."""
    report, temporary = tmp_path / "report.json", tmp_path / "tmp"
    flags = [*chosen, "--check", "--seed", str(seed), "--report", str(report), "-o", "json"]
    ended = run_talking(_command(*flags), environment=_environment(temporary))
    assert ended.returncode == ExitCode.OK, ended.stderr.decode()
    document = orjson.loads(ended.stdout)
    assert document == orjson.loads(report.read_bytes())
    assert document["passed"] is True
    assert document["messages"] >= 10_000
    # Consumers in other languages took part.
    assert b"no consumer is in" not in ended.stderr
    assert re.search(rb"console: http://127\.0\.0\.1:\d+/#/groups/demo ", ended.stderr)
    steps = GATEWAY_STEPS if "--gateway" in chosen else STEPS
    assert [step["name"] for step in document["steps"]] == list(steps)
    assert len(document["killed"]) == 1
    # Not every kernel tells how much memory there was.
    assert document["memory_mib"] is None or document["memory_mib"] > 500
    assert list(temporary.glob("fairlead-demo-*")) == []
    assert _processes_naming(document["prefix"]) == []


@pytest.mark.broker
@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_an_interrupted_demo_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    """A demo that has to stop while it starts ends every process and removes every file."""
    temporary = tmp_path / "tmp"
    with child_process(
        _command("--report", str(tmp_path / "report.json")),
        env=_environment(temporary),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line)
            if "engine: process" in line:
                break
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED, errors
    assert "interrupted" in errors
    assert list(temporary.glob("fairlead-demo-*")) == []
    assert _processes_naming(str(temporary)) == []
    assert not (tmp_path / "report.json").exists()
