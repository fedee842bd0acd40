"""What a connection may cost: uvicorn's own protocol, with bounds on number, time and each read.

Uvicorn waits for a request without an end. Its only bound on connections counts those that have
sent nothing yet, so 1,500 half-sent requests would turn every caller away. And it parses within one
callback what one read has brought, up to 256 KiB, while nobody else is answered.
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
"""One read takes no more: 240 KiB of short headers would hold up the loop for a quarter second."""

log = structlog.get_logger()


@dataclass(slots=True)
class Crowd:
    """What the connections of one server share.

    Attributes:
        connections_max: so many may be open.
        patience_s: a request, or the reading of an answer, may take so long.
        waiting: those whose request is not there yet, the longest wait first.
        read: what the last read brought; it is taken before the next one.
    """

    connections_max: int
    patience_s: float
    waiting: dict["BoundedConnection", None] = field(default_factory=dict)
    read: bytearray = field(default_factory=lambda: bytearray(_READ_BYTES))


class _Timer:
    """Drops a connection after a while, unless it is stopped."""

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
    """A connection that is closed when its caller takes too long, or when others need its place.

    Of a request only the head is parsed.
    """

    crowd: Crowd
    """A server makes a subclass that has its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        head_bytes = self.config.h11_max_incomplete_event_size
        assert head_bytes is not None, "a server sets it"
        self.conn = HeadParser(h11.SERVER, head_bytes)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; at one connection too many, close another."""
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
        """Take what was read."""
        self.data_received(bytes(self.crowd.read[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Go on with a request."""
        super().data_received(data)
        self._wait_if_incomplete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._wait_if_incomplete()

    def pause_writing(self) -> None:
        """Wait until the caller has read what it was sent."""
        super().pause_writing()
        self._reading.start(self)

    def resume_writing(self) -> None:
        """Go on with the answer."""
        self._reading.stop()
        super().resume_writing()
        self._wait_if_incomplete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._forget()
        super().connection_lost(exc)

    def drop(self) -> None:
        """Close the connection at once, and leave its place to others."""
        self._forget()
        self.connections.discard(self)
        self.transport.abort()

    def _wait_if_incomplete(self) -> None:
        """Keep the time since when a request is awaited, whatever has arrived of it meanwhile."""
        if self.transport.is_closing() and not self._reading.is_running:
            # It closes when its caller has read what is left, which may be never.
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
