"""The server: it answers on its own thread until it is stopped."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from ssl import SSLContext
from typing import Any, Final, Protocol

import structlog
import uvicorn
from starlette.middleware.gzip import GZipMiddleware

from fairlead.errors import EnvironmentMissingError
from fairlead.http.connections import BoundedConnection, Crowd
from fairlead.http.hosts import HostCheck
from fairlead.http.requests import RequestLimits
from fairlead.http.tls import TlsDoor
from fairlead.http.watched_files import WatchedFiles
from fairlead.settings import HttpSettings

__all__ = ["HttpServer", "ListenAddress", "start_server"]

_CLOSE_S: Final = 2
"""How long open streams may take to end when the server stops."""
_DATE_S: Final = 1.0
"""How often the date of answers is written anew."""
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
    _server: "_Server"
    _thread: threading.Thread

    @property
    def is_answering(self) -> bool:
        """Whether it still runs."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Stop it; return when its port is free."""
        self._server.end()
        self._thread.join()


class _Zipped:
    """Compresses answers for those who ask for it, and costs the others nothing."""

    def __init__(self, application: Any) -> None:
        self._plain = application
        self._zipped = GZipMiddleware(application, minimum_size=_GZIP_BYTES_MIN)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        asked = (value for name, value in scope["headers"] if name == b"accept-encoding")
        is_zipped = any(b"gzip" in value for value in asked)
        await (self._zipped if is_zipped else self._plain)(scope, receive, send)


def start_server(
    application: Any,
    where: ListenAddress,
    section: str,
    limits: HttpSettings,
    *,
    on_end: Callable[[], None] = lambda: None,
    on_start: Callable[[asyncio.AbstractEventLoop], None] | None = None,
    bodies_under: Sequence[str] = (),
    tls: WatchedFiles[SSLContext] | None = None,
) -> HttpServer:
    """Start a server.

    Args:
        application: an ASGI application.
        where: the host and the port.
        section: the name of that section of the settings, for messages.
        limits: the limits for callers.
        on_end: called on the server's thread when it ends for any reason.
        on_start: called on the server's thread with its loop, before the first request.
        bodies_under: the starts of the paths that take a body of JSON.
        tls: encrypts the connections; None: they are plain.

    Raises:
        EnvironmentMissingError: the port is in use, or the host is not one of this machine.
    """
    listening = _listening_socket(where, section)
    requests = RequestLimits(limits.head_bytes, limits.body_bytes, tuple(bodies_under))
    crowd = Crowd(limits.connections, limits.request_ms / 1_000, requests)
    connection: Any = type("Connection", (BoundedConnection,), {"crowd": crowd})
    if tls is not None:
        connection = partial(TlsDoor, connection, crowd, tls.current)
    named = HostCheck(_Zipped(application), where.host, limits.allowed_hosts)
    server = _Server(_config(named, connection, limits), on_start)

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
    scheme = "http" if tls is None else "https"
    return HttpServer(f"{scheme}://{host}:{listening.getsockname()[1]}", server, thread)


def _config(application: Any, connection: Any, limits: HttpSettings) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        http=connection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        # Any caller on this machine could give itself another address.
        proxy_headers=False,
        # One connection above the limit exists for the moment that its 503 takes.
        limit_concurrency=limits.connections + 1,
        backlog=limits.connections // _ACCEPTED_AT_ONCE,
        timeout_graceful_shutdown=_CLOSE_S,
    )


class _Server(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        on_start: Callable[[asyncio.AbstractEventLoop], None] | None,
    ) -> None:
        super().__init__(config)
        self._on_start = on_start
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ends = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        if self._on_start is not None:
            self._on_start(self._loop)
        await super().startup(sockets=sockets)

    async def main_loop(self) -> None:
        # uvicorn would look ten times a second whether to end: a fifth of a process at rest.
        ends = asyncio.ensure_future(self._ends.wait())
        while not await self.on_tick(0):
            await asyncio.wait([ends], timeout=_DATE_S)
        ends.cancel()

    def end(self) -> None:
        """End the server, from any thread; before it runs, at once when it does."""
        self.should_exit = True
        if self._loop is not None:
            # A server that ended by itself has closed its loop.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._ends.set)


def _listening_socket(where: ListenAddress, section: str) -> socket.socket:
    try:
        family = socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((where.host, where.port), family=family)
    except OSError as error:
        raise EnvironmentMissingError(
            f"{section}.port: cannot listen on {where.host}:{where.port} ({error.strerror}).",
            remedy=f"Set {section}.port to a free port, or to 0 for any. Is another one running?",
        ) from error
    # Connections inherit it. asyncio sets it only where a socket names its protocol; without it the
    # second part of an answer waits 40 ms for the receipt of the first one.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
