"""What the engine serves over HTTP: its metrics, whether it lives, and whether it does its work.

`/metrics` is for Prometheus, and so is every answer of `/`. `/healthz` answers as long as the
process does. `/readyz` answers 200 while batches go on and 503 otherwise, with the reason.
"""

import socket
import threading
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from wsgiref.simple_server import WSGIRequestHandler, make_server

import orjson
from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer

from fairlead.errors import EnvironmentMissingError
from fairlead.settings import MetricsSettings
from streaming.health import Verdict

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_METHODS: Final = frozenset({"GET", "HEAD"})


class _Quiet(WSGIRequestHandler):
    """Logs no request: a scrape comes every few seconds."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The HTTP server while it runs; ``url`` is that of its metrics."""

    url: str
    _server: ThreadingWSGIServer
    _thread: threading.Thread

    def stop(self) -> None:
        """Close it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve(
    registry: CollectorRegistry, verdict: Callable[[], Verdict], where: MetricsSettings
) -> Endpoint:
    """Serve from threads of their own.

    Raises:
        EnvironmentMissingError: the port is taken, or the host is not one of this machine.
    """
    try:
        family = socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM)[0][0]
        server_class = type("Server", (ThreadingWSGIServer,), {"address_family": family})
        application = route(registry, verdict)
        server: ThreadingWSGIServer = make_server(
            where.host, where.port, application, server_class, _Quiet
        )
    except OSError as error:
        raise EnvironmentMissingError(
            f"metrics.port: {where.host}:{where.port} cannot be served ({error.strerror}).",
            remedy="Set metrics.port to a free port, or to 0 for any.",
        ) from error
    thread = threading.Thread(target=server.serve_forever, name="http", daemon=True)
    thread.start()
    host = f"[{where.host}]" if ":" in where.host else where.host
    return Endpoint(f"http://{host}:{server.server_port}/metrics", server, thread)


def route(registry: CollectorRegistry, verdict: Callable[[], Verdict]) -> "WSGIApplication":
    """Return the application that answers each path."""
    metrics: WSGIApplication = make_wsgi_app(registry)

    def answer(environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "/")
        if environ.get("REQUEST_METHOD") not in _METHODS:
            return _json(environ, start, HTTPStatus.METHOD_NOT_ALLOWED, {"error": "GET only"})
        if path in ("/", "/metrics"):
            return metrics(environ, start)
        if path == "/healthz":
            return _json(environ, start, HTTPStatus.OK, {"state": "alive"})
        if path == "/readyz":
            found = verdict()
            status = HTTPStatus.OK if found.ready else HTTPStatus.SERVICE_UNAVAILABLE
            return _json(environ, start, status, {"ready": found.ready, **asdict(found)})
        known = {"error": "unknown path", "known": ["/metrics", "/healthz", "/readyz"]}
        return _json(environ, start, HTTPStatus.NOT_FOUND, known)

    return answer


def _json(
    environ: "WSGIEnvironment", start: "StartResponse", status: HTTPStatus, body: object
) -> Iterable[bytes]:
    text = orjson.dumps(body) + b"\n"
    headers = [
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(text))),
        ("Cache-Control", "no-store"),
    ]
    start(f"{status.value} {status.phrase}", headers)
    return [] if environ.get("REQUEST_METHOD") == "HEAD" else [text]
