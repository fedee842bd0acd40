"""Servers and callers over real sockets, for the tests of what a server bears."""

import contextlib
import socket
from collections.abc import Iterator, Sequence
from typing import Any

from fairlead.http.server import HttpServer, start_server
from fairlead.settings import HttpSettings, MetricsSettings, load_settings

__all__ = ["answers_of", "caller", "running"]


@contextlib.contextmanager
def running(
    application: Any, *, bodies_under: Sequence[str] = (), **limits: Any
) -> Iterator[HttpServer]:
    """Run a server on a free port of this machine; ``limits``: other values of `[http]`."""
    settings = HttpSettings(**{**load_settings().http.model_dump(), **limits})
    where = MetricsSettings(host="127.0.0.1", port=0)
    server = start_server(application, where, "metrics", settings, bodies_under=bodies_under)
    try:
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def caller(server: HttpServer, *sent: bytes) -> Iterator[socket.socket]:
    """Open a connection and send."""
    where = ("127.0.0.1", int(server.url.rpartition(":")[2]))
    with socket.create_connection(where, timeout=20) as connection:
        for each in sent:
            connection.sendall(each)
        yield connection


def answers_of(connection: socket.socket) -> list[bytes]:
    """Return the answers that come until the server closes; none if it cuts off."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65_536):
            found += part
    return found.split(b"HTTP/1.1 ")[1:]
