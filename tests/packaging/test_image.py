"""The image: no rights, no secrets, and the steps that are also tried without a builder."""

import http.server
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fairlead.broker.ports import free_ports
from tests.kit.awaiting import LONGEST_SECONDS, ended, run_talking

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
INSTRUCTIONS = re.findall(r"^([A-Z]+) (.*(?:\\\n.*)*)", DOCKERFILE, re.MULTILINE)


def _last_stage() -> list[tuple[str, str]]:
    """Return the instructions of the stage that becomes the image."""
    start = max(index for index, (name, _) in enumerate(INSTRUCTIONS) if name == "FROM")
    return INSTRUCTIONS[start:]


def _health(port: int, serve_port: int) -> subprocess.CompletedProcess[str]:
    """Run the image's health check against the ports of an engine and of a view."""
    return subprocess.run(
        [sys.executable, ROOT / "deploy" / "healthcheck"],
        env={
            **os.environ,
            "FAIRLEAD__METRICS__PORT": str(port),
            "FAIRLEAD__SERVE__PORT": str(serve_port),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_SECONDS,
    )


def test_the_image_runs_as_a_user_that_is_not_root() -> None:
    """The image runs as a numbered user that is not root, and builds as one."""
    users = [text for name, text in INSTRUCTIONS if name == "USER"]
    assert users == ["fairlead", "10001:10001"]
    assert ("USER", "10001:10001") in _last_stage()


def test_the_image_is_made_by_its_steps_alone() -> None:
    """What the image is made of is made by deploy/image-steps alone."""
    runs = [text for name, text in INSTRUCTIONS if name == "RUN"]
    assert runs[-1] == "deploy/image-steps /opt/fairlead"
    assert len(runs) == 2
    assert runs[0].startswith("useradd")


def test_the_recipe_of_the_image_has_no_secret() -> None:
    """Nothing in the image's recipe is a secret or asks for one."""
    steps = "\n".join(f"{name} {text}" for name, text in INSTRUCTIONS)
    assert re.findall(r"(?im)password|secret|token|^ARG", steps) == []


def test_everything_the_build_needs_is_in_its_context() -> None:
    """Everything that .dockerignore lets in is there, and all of the build's needs are let in."""
    allowed = re.findall(
        r"^!(.*)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert [path for path in allowed if not (ROOT / path).exists()] == []
    assert {"pyproject.toml", "requirements.lock", "deploy", "conf", "fairlead"} <= set(allowed)
    assert not {"tests", ".git", ".venv"} & set(allowed)


def test_a_health_check_without_a_server_says_so() -> None:
    """Where nothing answers the health check says so; tests/streaming asks what does."""
    engine_port, serve_port = free_ports(2)
    silent = _health(engine_port, serve_port)
    assert silent.returncode == 1
    for port in (engine_port, serve_port):
        assert f"/readyz on port {port}" in silent.stderr


@pytest.mark.parametrize("status, code", [(200, 0), (503, 1)])
def test_health_of_a_view(status: int, code: int) -> None:
    """In a container that runs no engine but the view, the view is asked."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b'{"reason": "9 records behind the topics"}')

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        [engine_port] = free_ports(1)
        found = _health(engine_port, server.server_port)
        server.shutdown()
        ended(thread)
    assert found.returncode == code
    assert "9 records behind the topics" in (found.stderr if code else found.stdout)


def test_the_image_listens_on_both_ports() -> None:
    """The image listens where another container can reach it, on the ports that it exposes."""
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    for name, port in (("METRICS", 9464), ("SERVE", 9465)):
        assert f"FAIRLEAD__{name}__HOST=0.0.0.0" in last
        assert f"FAIRLEAD__{name}__PORT={port}" in last
    assert ("EXPOSE", "9464 9465") in _last_stage()


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_steps_work_without_rights() -> None:
    """The image's steps work in an empty environment, as a user without rights."""
    done = run_talking([str(ROOT / "deploy" / "try-image-steps")])
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    assert done.stdout.endswith(b"==> the image's steps work\n")
