"""The engine's HTTP paths, asked for over a real socket, and by the image's health check."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter

from fairlead.errors import EnvironmentMissingError
from fairlead.http.endpoint import engine_application
from fairlead.http.server import HttpServer, start_server
from fairlead.settings import MetricsSettings, load_settings
from streaming.health import Health
from tests.kit.awaiting import LONGEST_SECONDS

ROOT = Path(__file__).parents[2]


def started(registry: CollectorRegistry, health: Health, where: MetricsSettings) -> HttpServer:
    """Return the engine's server."""
    application = engine_application(registry, health.verdict)
    return start_server(application, where, "metrics", load_settings().http)


@pytest.fixture
def health() -> Health:
    """A driver that has claimed nothing yet."""
    return Health()


@pytest.fixture
def endpoint(health: Health) -> Iterator[HttpServer]:
    """A running server with two families."""
    registry = CollectorRegistry()
    for name in ("fairlead_one", "fairlead_two"):
        Counter(name, "Help.", registry=registry)
    server = started(registry, health, MetricsSettings(host="127.0.0.1", port=0))
    yield server
    server.stop()


def _ask(endpoint: HttpServer, path: str, method: str = "GET") -> tuple[int, str]:
    url = endpoint.url + path
    request = urllib.request.Request(url, method=method)  # noqa: S310 - our own server
    try:
        answer: HTTPResponse = urllib.request.urlopen(request, timeout=10)  # noqa: S310
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    with answer:
        return answer.status, answer.read().decode()


def _check(endpoint: HttpServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    port = endpoint.url.rpartition(":")[2]
    return subprocess.run(
        [sys.executable, ROOT / "deploy" / "healthcheck", *arguments],
        env={**os.environ, "FAIRLEAD__METRICS__PORT": port},
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_SECONDS,
    )


def _run(health: Health) -> None:
    """Let the query begin, and a batch be committed."""
    health.claimed(1, health.clock)
    health.note_answer()
    health.committed()


def test_metrics_come_whole_or_by_name(endpoint: HttpServer) -> None:
    """All families, or those that are asked for by name."""
    for path in ("/metrics", "/"):
        status, text = _ask(endpoint, path)
        assert status == 200
        assert "fairlead_one_total 0.0" in text
        assert "fairlead_two_total 0.0" in text
    assert "fairlead_two_total" not in _ask(endpoint, "/metrics?name[]=fairlead_one_total")[1]


def test_the_engine_is_ready_once_batches_go_on(endpoint: HttpServer, health: Health) -> None:
    """503 with the reason until batches go on, and then 200; the process lives all the while."""
    status, text = _ask(endpoint, "/readyz")
    told = json.loads(text)
    assert (status, told["ready"], told["state"]) == (503, False, "starting")
    assert told["reason"]
    assert _ask(endpoint, "/healthz") == (200, '{"state":"alive"}\n')
    _run(health)
    status, text = _ask(endpoint, "/readyz")
    told = json.loads(text)
    assert (status, told["ready"], told["state"]) == (200, True, "running")
    assert told["generation"] == 1
    assert _ask(endpoint, "/healthz")[0] == 200


def test_an_unknown_path_is_answered_with_those_there_are(endpoint: HttpServer) -> None:
    """What is not there is said, with what is; nothing can be posted; HEAD has no body."""
    status, text = _ask(endpoint, "/ready")
    assert status == 404
    assert "/readyz" in json.loads(text)["remedy"]
    status, text = _ask(endpoint, "/metrics", "POST")
    assert status == 405
    assert json.loads(text).keys() == {"type", "title", "status", "detail", "remedy", "field"}
    assert _ask(endpoint, "/readyz", "HEAD") == (503, "")


def test_a_failure_is_told() -> None:
    """Where the server itself fails, the answer says where its cause stands."""

    def failing() -> Any:
        raise ArithmeticError

    where = MetricsSettings(host="127.0.0.1", port=0)
    application = engine_application(CollectorRegistry(), failing)
    server = start_server(application, where, "metrics", load_settings().http)
    try:
        status, text = _ask(server, "/readyz")
    finally:
        server.stop()
    assert status == 500
    assert "log of the server" in json.loads(text)["remedy"]


def test_a_taken_port_is_named_with_a_remedy(endpoint: HttpServer, health: Health) -> None:
    """A port that another process has is named, with the remedy."""
    port = int(endpoint.url.rpartition(":")[2])
    where = MetricsSettings(host="127.0.0.1", port=port)
    with pytest.raises(EnvironmentMissingError, match=f"cannot listen on 127.0.0.1:{port}"):
        started(CollectorRegistry(), health, where)


def test_a_health_check_says_no_with_the_reason(endpoint: HttpServer, health: Health) -> None:
    """It says no with the reason, yes when batches go on, and if asked that the process lives."""
    found = _check(endpoint)
    assert found.returncode == 1
    assert found.stderr.startswith("starting: no generation is claimed yet")
    assert _check(endpoint, "/healthz").stdout == "alive\n"
    _run(health)
    found = _check(endpoint)
    assert found.returncode == 0
    assert found.stdout.startswith("running: ")
