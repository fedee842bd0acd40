"""What a server costs that nobody calls."""

import asyncio
import time
import urllib.request
from typing import Any

from prometheus_client import CollectorRegistry
from starlette.applications import Starlette

from fairlead.http.endpoint import engine_application
from fairlead.http.server import start_server
from fairlead.settings import MetricsSettings, load_settings
from streaming.health import Health

REST_S = 3.0


def _application() -> Starlette:
    return engine_application(CollectorRegistry(), Health().verdict)


def test_a_server_that_nobody_calls_wakes_for_the_date_alone() -> None:
    """At rest the loop wakes about once a second, and yet `stop` ends the server at once."""
    waits: list[float] = []

    def count(loop: asyncio.AbstractEventLoop) -> None:
        selector: Any = loop._selector  # type: ignore[attr-defined]  # noqa: SLF001
        select = selector.select

        def counted(timeout: float | None = None) -> Any:
            if timeout != 0:
                waits.append(time.monotonic())
            return select(timeout)

        selector.select = counted

    where = MetricsSettings(host="127.0.0.1", port=0)
    server = start_server(_application(), where, "metrics", load_settings().http, on_start=count)
    with urllib.request.urlopen(f"{server.url}/healthz", timeout=20) as answer:  # noqa: S310
        assert answer.headers["date"]
    before = len(waits)
    time.sleep(REST_S)
    assert len(waits) - before <= 2 * REST_S
    server.stop()
    assert not server.is_answering
