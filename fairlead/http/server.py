"""The server: it answers on its own thread until it is stopped."""

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
"""How long open streams may take to end when the server stops."""
_GZIP_BYTES_MIN: Final = 2_000
_ACCEPTED_AT_ONCE: Final = 4
"""A quarter of all connections, so that the server reads from each before it closes it."""

log = structlog.get_logger()


class ListenAddress(Protocol):
    """The host and port of a server: a section of the settings."""

    @property
    def host(self) -> str:
        """An address or a name of this machine."""

    @property
    def port(self) -> int:
        """The port; 0: any free one."""


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A running server; ``url`` is its root, without a slash at the end."""

    url: str
    _server: uvicorn.Server
    _thread: threading.Thread

    @property
    def is_answering(self) -> bool:
        """Whether it still runs."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Stop it; return when its port is free."""
        self._server.should_exit = True
        self._thread.join()


def start_server(
    application: Any,
    where: ListenAddress,
    section: str,
    limits: HttpSettings,
    on_end: Callable[[], None] = lambda: None,
) -> HttpServer:
    """Start a server.

    Args:
        application: an ASGI application whose paths need no body.
        where: the host and the port.
        section: the name of that section of the settings, for messages.
        limits: the limits for callers.
        on_end: called on the server's thread when it ends for any reason.

    Raises:
        EnvironmentMissingError: the port is in use, or the host is not one of this machine.
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
        # One connection above the limit exists for the moment that its 503 takes.
        limit_concurrency=limits.connections + 1,
        backlog=limits.connections // _ACCEPTED_AT_ONCE,
        h11_max_incomplete_event_size=limits.head_bytes,
        timeout_graceful_shutdown=_CLOSE_S,
    )
    server = uvicorn.Server(config)

    def answer() -> None:
        # On a thread other than the main one, uvicorn leaves the process's signals alone.
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
            f"{section}.port: cannot listen on {where.host}:{where.port} ({error.strerror}).",
            remedy=f"Set {section}.port to a free port, or to 0 for any. Is another one running?",
        ) from error
