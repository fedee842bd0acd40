"""The HTTP endpoints of engine and bridge: metrics and health.

`/metrics`, and `/` too, are for Prometheus. `/healthz` answers as long as the process runs.
`/readyz` answers 200 while batches go on and 503 otherwise, with the reason.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from http import HTTPStatus
from typing import Any, ClassVar, Protocol

import orjson
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead.http.metrics_answer import metrics_answer
from fairlead.http.problems import problem_handlers
from fairlead.http.server import start_server
from fairlead.settings import Settings

__all__ = ["answering", "engine_application"]


class Verdict(Protocol):
    """What a process is doing: a dataclass whose fields `/readyz` shows."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def ready(self) -> bool:
        """Whether it does its work."""


def engine_application(registry: CollectorRegistry, verdict: Callable[[], Verdict]) -> Starlette:
    """Return the application that answers each path.

    Args:
        registry: the process's metrics.
        verdict: returns what the process is doing.
    """

    async def metrics(request: Request) -> Response:
        return await metrics_answer(request, registry)

    async def healthz(request: Request) -> Response:
        del request
        return _json(HTTPStatus.OK, {"state": "alive"})

    async def readyz(request: Request) -> Response:
        del request
        current = verdict()
        status = HTTPStatus.OK if current.ready else HTTPStatus.SERVICE_UNAVAILABLE
        return _json(status, {"ready": current.ready, **asdict(current)})

    routes = [
        Route("/", metrics),
        Route("/metrics", metrics),
        Route("/healthz", healthz),
        Route("/readyz", readyz),
    ]
    return Starlette(
        routes=routes, exception_handlers=problem_handlers([each.path for each in routes])
    )


@contextmanager
def answering(
    registry: CollectorRegistry, verdict: Callable[[], Verdict], settings: Settings
) -> Iterator[str]:
    """Answer while the context is open; yield the address of the metrics.

    Raises:
        EnvironmentMissingError: the port is taken, or the host is not one of this machine.
    """
    application = engine_application(registry, verdict)
    server = start_server(application, settings.metrics, "metrics", settings.http)
    try:
        yield f"{server.url}/metrics"
    finally:
        server.stop()


def _json(status: HTTPStatus, document: Any) -> Response:
    return Response(
        orjson.dumps(document) + b"\n",
        status,
        media_type="application/json",
        headers={"cache-control": "no-store"},
    )
