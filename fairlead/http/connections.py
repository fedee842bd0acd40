"""Limits the cost of connections: uvicorn's protocol with limits on number, time and each read.

Uvicorn waits for a request without a limit. Its limit on connections counts unfinished requests
too, so 1,500 half-sent requests would lock out every caller. It parses all bytes of one read, up to
256 KiB, in one callback, and answers nobody meanwhile.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Final

import h11
import structlog
from uvicorn.protocols.http.h11_impl import H11Protocol

from fairlead.http.heads import HeadParser

__all__ = ["BoundedConnection", "Crowd"]

_READ_BYTES: Final = 16_384
"""The most bytes per read: 240 KiB of short headers would block the loop for a quarter second."""

log = structlog.get_logger()


@dataclass(slots=True)
class Crowd:
    """The shared state of a server's connections.

    Attributes:
        connections_max: the most open connections.
        patience_s: the longest time for sending a request, or for reading an answer.
        waiting: connections without a complete request, the longest wait first.
        read: the buffer of the last read; it is parsed before the next one.
    """

    connections_max: int
    patience_s: float
    waiting: dict["BoundedConnection", None] = field(default_factory=dict)
    read: bytearray = field(default_factory=lambda: bytearray(_READ_BYTES))


class _Timer:
    """Drops a connection after a time, unless it is stopped."""

    def __init__(self) -> None:
        self._handle: asyncio.TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        return self._handle is not None

    def start(self, connection: "BoundedConnection") -> None:
        self.stop()
        self._handle = connection.loop.call_later(connection.crowd.patience_s, connection.drop)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None


class BoundedConnection(H11Protocol, asyncio.BufferedProtocol):
    """A connection that closes when its caller takes too long, or when others need its place.

    It parses only the head of a request.
    """

    crowd: Crowd
    """Each server makes a subclass with its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        head_bytes = self.config.h11_max_incomplete_event_size
        assert head_bytes is not None, "a server sets it"
        self.conn = HeadParser(h11.SERVER, head_bytes)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; if there are too many connections, close another one."""
        self._request = _Timer()
        self._reading = _Timer()
        super().connection_made(transport)
        if len(self.connections) > self.crowd.connections_max and self.crowd.waiting:
            log.warning("http_connections_full", connections_max=self.crowd.connections_max)
            next(iter(self.crowd.waiting)).drop()
        self._wait_if_incomplete()

    def get_buffer(self, sizehint: int) -> bytearray:
        """Return where the next read goes."""
        del sizehint
        return self.crowd.read

    def buffer_updated(self, nbytes: int) -> None:
        """Process the bytes of a read."""
        self.data_received(bytes(self.crowd.read[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Continue a request."""
        super().data_received(data)
        self._wait_if_incomplete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._wait_if_incomplete()

    def pause_writing(self) -> None:
        """Wait until the caller has read the answer."""
        super().pause_writing()
        self._reading.start(self)

    def resume_writing(self) -> None:
        """Continue the answer."""
        self._reading.stop()
        super().resume_writing()
        self._wait_if_incomplete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._forget()
        super().connection_lost(exc)

    def drop(self) -> None:
        """Close the connection at once, and free its place."""
        self._forget()
        self.connections.discard(self)
        self.transport.abort()

    def _wait_if_incomplete(self) -> None:
        """Keep the start of the wait for a request, even if parts of it arrive."""
        if self.transport.is_closing() and not self._reading.is_running:
            # It closes when its caller has read the rest, which may never happen.
            self._reading.start(self)
        is_incomplete = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if not is_incomplete or self.transport.is_closing():
            self._request.stop()
            self.crowd.waiting.pop(self, None)
        elif not self._request.is_running:
            self._request.start(self)
            self.crowd.waiting[self] = None

    def _forget(self) -> None:
        self._request.stop()
        self._reading.stop()
        self.crowd.waiting.pop(self, None)
