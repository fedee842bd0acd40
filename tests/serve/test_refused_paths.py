"""A serve without groups, and one without the gateway: each says what it lacks when asked."""

import asyncio
from collections.abc import Callable
from threading import Event
from typing import Any

import orjson
import pytest

from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.errors import UsageError
from fairlead.serve.process import run_serve
from fairlead.serve.readiness import readiness_of
from fairlead.serve.refused_paths import (
    NOTHING_TO_FOLLOW,
    RefusedPaths,
    gateway_alone,
    without_gateway,
)
from fairlead.settings import load_settings


def _asked(
    path: str, refusing: Callable[[Any], RefusedPaths] = gateway_alone
) -> tuple[int, dict[str, Any]]:
    sent: list[dict[str, Any]] = []

    async def other(scope: Any, receive: Any, send: Any) -> None:
        del scope, receive
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "GET", "path": path, "headers": []}
    asyncio.run(refusing(other)(scope, receive, send))
    return sent[0]["status"], orjson.loads(sent[1]["body"])


@pytest.mark.parametrize("path", ["/api/v1/groups", "/api/v1/groups/orders/decisions"])
def test_questions_about_groups_name_who_answers_them(path: str) -> None:
    """The refusal has a type of its own, and a remedy."""
    status, problem = _asked(path)
    assert (status, problem["type"]) == (503, "urn:fairlead:not_observed")
    assert "serve.observe" in problem["remedy"]


def test_everything_else_is_answered() -> None:
    """Probes and metrics go on."""
    assert _asked("/readyz") == (200, {})


def test_a_serve_without_the_gateway_says_so() -> None:
    """A client that asks it hears which setting is missing; all else is answered."""
    status, problem = _asked("/v1/groups/orders/members", without_gateway)
    assert (status, problem["type"]) == (404, "urn:fairlead:no_gateway")
    assert "FAIRLEAD__GATEWAY__ENABLED" in problem["remedy"]
    assert _asked("/api/v1/groups", without_gateway) == (200, {})


def test_it_is_ready_without_groups() -> None:
    """What it does not follow, it need not have read."""
    assert readiness_of(NOTHING_TO_FOLLOW).ready


def test_neither_gateway_nor_groups_is_refused() -> None:
    """A process with nothing to serve ends, and names both settings."""
    settings = load_settings(overrides={"serve.observe": False})
    data = DataCluster("127.0.0.1:1", timeout_ms=1_000, options={})
    with pytest.raises(UsageError, match=r"serve\.observe.*gateway\.enabled"):
        run_serve(settings, data, Event())
