"""The image: no rights, no secrets, and the steps that are also tried without a builder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fairlead.broker.ports import free_ports

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
INSTRUCTIONS = re.findall(r"^([A-Z]+) (.*(?:\\\n.*)*)", DOCKERFILE, re.MULTILINE)


def _last_stage() -> list[tuple[str, str]]:
    """Return the instructions of the stage that becomes the image."""
    start = max(index for index, (name, _) in enumerate(INSTRUCTIONS) if name == "FROM")
    return INSTRUCTIONS[start:]


def _health(port: int) -> subprocess.CompletedProcess[str]:
    """Run the image's health check against a port."""
    return subprocess.run(
        [sys.executable, ROOT / "deploy" / "healthcheck"],
        env={**os.environ, "FAIRLEAD__METRICS__PORT": str(port)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_user() -> None:
    """The image runs as a numbered user that is not root, and builds as one."""
    users = [text for name, text in INSTRUCTIONS if name == "USER"]
    assert users == ["fairlead", "10001:10001"]
    assert ("USER", "10001:10001") in _last_stage()


def test_same_steps() -> None:
    """What the image is made of is made by deploy/image-steps alone."""
    runs = [text for name, text in INSTRUCTIONS if name == "RUN"]
    assert runs[-1] == "deploy/image-steps /opt/fairlead"
    assert len(runs) == 2
    assert runs[0].startswith("useradd")


def test_no_secret() -> None:
    """Nothing in the image's recipe is a secret or asks for one."""
    steps = "\n".join(f"{name} {text}" for name, text in INSTRUCTIONS)
    assert re.findall(r"(?im)password|secret|token|^ARG", steps) == []


def test_context_exists() -> None:
    """Everything that .dockerignore lets in is there, and all of the build's needs are let in."""
    allowed = re.findall(
        r"^!(.*)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert [path for path in allowed if not (ROOT / path).exists()] == []
    assert {"pyproject.toml", "requirements.lock", "deploy", "conf", "fairlead"} <= set(allowed)
    assert not {"tests", ".git", ".venv"} & set(allowed)


def test_health_of_nobody() -> None:
    """Where nothing answers the health check says so; tests/streaming asks what does."""
    [unused_port] = free_ports(1)
    silent = _health(unused_port)
    assert silent.returncode == 1
    assert f"/readyz on port {unused_port}" in silent.stderr


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_steps() -> None:
    """The image's steps work in an empty environment, as a user without rights."""
    done = subprocess.run(
        [ROOT / "deploy" / "try-image-steps"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("==> the image's steps work\n")
