"""The server: it answers on a thread of its own until it is stopped."""

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

import structlog
import uvicorn
from starlette.middleware.gzip import GZipMiddleware

from fairlead.errors import EnvironmentMissingError
from fairlead.http.connections import BoundedConnection, Crowd
from fairlead.http.heads import HeadCheck
from fairlead.http.hosts import HostCheck
from fairlead.settings import HttpSettings

__all__ = ["HttpServer", "ListenAddress", "start_server"]

_CLOSE_S: Final = 2
"""Open streams get so long to end when the server stops."""
_GZIP_BYTES_MIN: Final = 2_000
_ACCEPTED_AT_ONCE: Final = 4
"""A quarter of all connections, so that each is read from before it must make room for others."""

log = structlog.get_logger()


class ListenAddress(Protocol):
    """Where a server listens: a section of the settings."""

    @property
    def host(self) -> str:
        """An address or a name of this machine."""

    @property
    def port(self) -> int:
        """0: any that is free."""


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A server while it runs; ``url`` is that of its root, without a slash at the end."""

    url: str
    _server: uvicorn.Server
    _thread: threading.Thread

    @property
    def is_answering(self) -> bool:
        """Whether it has not ended."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End it; return when its port is free."""
        self._server.should_exit = True
        self._thread.join()


def start_server(
    application: Any,
    where: ListenAddress,
    section: str,
    limits: HttpSettings,
    on_end: Callable[[], None] = lambda: None,
) -> HttpServer:
    """Answer from now on.

    Args:
        application: an ASGI application. No path of it needs a body.
        where: the host and the port.
        section: that part of the settings, for messages.
        limits: what callers may do.
        on_end: called on the server's thread when it ends, also by itself.

    Raises:
        EnvironmentMissingError: the port is taken, or the host is not one of this machine.
    """
    listening = _listening_socket(where, section)
    crowd = Crowd(limits.connections, limits.request_ms / 1_000)
    connection = type("Connection", (BoundedConnection,), {"crowd": crowd})
    zipped = GZipMiddleware(application, minimum_size=_GZIP_BYTES_MIN)
    named = HostCheck(zipped, where.host, limits.allowed_hosts)
    checked = HeadCheck(named, limits.head_bytes)
    config = uvicorn.Config(
        checked,
        http=connection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        # One more than there may be is there for as long as it takes to say 503.
        limit_concurrency=limits.connections + 1,
        backlog=limits.connections // _ACCEPTED_AT_ONCE,
        h11_max_incomplete_event_size=limits.head_bytes,
        timeout_graceful_shutdown=_CLOSE_S,
    )
    server = uvicorn.Server(config)

    def answer() -> None:
        # On a thread of its own uvicorn leaves the signals of the process alone.
        try:
            server.run(sockets=[listening])
        except Exception:
            log.exception("http_server_failed")
        finally:
            listening.close()
            on_end()

    thread = threading.Thread(target=answer, name="http", daemon=True)
    thread.start()
    host = f"[{where.host}]" if ":" in where.host else where.host
    return HttpServer(f"http://{host}:{listening.getsockname()[1]}", server, thread)


def _listening_socket(where: ListenAddress, section: str) -> socket.socket:
    try:
        family = socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((where.host, where.port), family=family)
    except OSError as error:
        raise EnvironmentMissingError(
            f"{section}.port: {where.host}:{where.port} cannot be served ({error.strerror}).",
            remedy=f"Set {section}.port to a free port, or to 0 for any; is another one running?",
        ) from error
