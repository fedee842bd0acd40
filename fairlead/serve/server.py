"""Runs the HTTP side beside the thread that follows the topics, until a signal ends both."""

import socket
import threading
from typing import Final

import structlog
import uvicorn
from starlette.applications import Starlette

from fairlead.errors import EnvironmentMissingError
from fairlead.settings import ServeSettings

__all__ = ["listening_socket", "serve_until_stopped"]

_CLOSE_S: Final = 2
"""Open streams get so long to end when the process stops."""

log = structlog.get_logger(__name__)


def listening_socket(where: ServeSettings) -> socket.socket:
    """Return a socket that listens where the settings say; port 0: any free one.

    Raises:
        EnvironmentMissingError: the port is taken, or the host is not one of this machine.
    """
    try:
        return socket.create_server((where.host, where.port), backlog=256)
    except OSError as error:
        raise EnvironmentMissingError(
            f"serve.port: {where.host}:{where.port} cannot be served ({error.strerror}).",
            remedy="Set serve.port to a free port, or to 0 for any; is another serve running?",
        ) from error


def serve_until_stopped(
    listening: socket.socket, application: Starlette, stop: threading.Event
) -> None:
    """Answer on a socket until ``stop`` is set.

    Raises:
        RuntimeError: the server ended by itself.
    """
    config = uvicorn.Config(
        application,
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=_CLOSE_S,
        server_header=False,
    )
    server = uvicorn.Server(config)

    def answer() -> None:
        # On a thread of its own uvicorn leaves the signals of the process alone.
        try:
            server.run(sockets=[listening])
        finally:
            stop.set()

    thread = threading.Thread(target=answer, name="http")
    thread.start()
    host, port = listening.getsockname()[:2]
    log.info("serving", url=f"http://{host}:{port}")
    stop.wait()
    asked = thread.is_alive()
    server.should_exit = True
    thread.join()
    if not asked:
        raise RuntimeError("the HTTP server ended by itself")
