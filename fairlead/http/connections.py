"""Limits the cost of connections: uvicorn's protocol with limits on number, time and each read.

Uvicorn waits for a request without a limit. Its limit on connections counts unfinished requests
too, so 1,500 half-sent requests would lock out every caller. It keeps every request that comes
behind another one, and it parses all bytes of one read in one callback.

Here a connection parses one head, takes its body, and looks at the next head when the answer has
gone. Meanwhile it reads no further.
"""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, Protocol

import structlog
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, service_unavailable
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from fairlead.http.bodies import Body, BodyError
from fairlead.http.certificate_names import names_of_peer
from fairlead.http.heads import HEAD_END, HeadError, read_head
from fairlead.http.problems import Problem
from fairlead.http.requests import RequestLimits

__all__ = ["READ_BYTES", "BoundedConnection", "Crowd"]

READ_BYTES: Final = 16_384
"""The most bytes per read: what they hold is parsed before others get their turn."""
_LINGER_S: Final = 1.0
"""How long a refused caller may go on sending: closing at once could destroy the refusal."""

log = structlog.get_logger()


@dataclass(slots=True)
class Crowd:
    """The shared state of a server's connections.

    Attributes:
        connections_max: the most open connections.
        patience_s: the longest time for sending a request, or for reading an answer.
        requests: the limits of one request.
        waiting: connections without a complete request, the longest wait first.
        read: the buffer of the last read; it is parsed before the next one.
    """

    connections_max: int
    patience_s: float
    requests: RequestLimits
    waiting: dict["Waiting", None] = field(default_factory=dict)
    read: memoryview = field(default_factory=lambda: memoryview(bytearray(READ_BYTES)))

    def make_room(self, connections: Collection[object]) -> None:
        """Close the connection that has waited longest, if there are too many."""
        if len(connections) > self.connections_max and self.waiting:
            log.warning("http_connections_full", connections_max=self.connections_max)
            next(iter(self.waiting)).drop()


class Waiting(Protocol):
    """A connection without a complete request."""

    def drop(self) -> None:
        """Close it at once, and free its place."""


class _Timer:
    """Drops a connection after a time, unless it is stopped."""

    def __init__(self) -> None:
        self._handle: asyncio.TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        return self._handle is not None

    def start(self, connection: "BoundedConnection", seconds: float) -> None:
        self.stop()
        self._handle = connection.loop.call_later(seconds, connection.drop)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None


class BoundedConnection(HttpToolsProtocol, asyncio.BufferedProtocol):
    """A connection that closes when its caller takes too long, or when others need its place."""

    crowd: Crowd
    """Each server makes a subclass with its own."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; if there are too many connections, close another one."""
        self._request = _Timer()
        self._reading = _Timer()
        self._unread = bytearray()
        self._body: Body | None = None
        self._is_over = self._has_begun = False
        super().connection_made(transport)
        self._shared = {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "root_path": "",
            "extensions": {"fairlead.certificate": names_of_peer(transport)},
        }
        self.crowd.make_room(self.connections)
        self._wait_if_incomplete()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where the next read goes."""
        del sizehint
        return self.crowd.read

    def buffer_updated(self, nbytes: int) -> None:
        """Process the bytes of a read."""
        self.data_received(self.crowd.read[:nbytes])

    def data_received(self, data: bytes | memoryview) -> None:
        """Continue a request."""
        if not self._is_over:
            self._unread += data
            self._advance()

    def on_response_complete(self) -> None:
        """Look at the next request."""
        self.server_state.total_requests += 1
        if not self.transport.is_closing():
            self.flow.resume_reading()
        self._advance()

    def pause_writing(self) -> None:
        """Wait until the caller has read the answer."""
        super().pause_writing()
        self._reading.start(self, self.crowd.patience_s)

    def resume_writing(self) -> None:
        """Continue the answer."""
        self._reading.stop()
        super().resume_writing()
        self._wait_if_incomplete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._forget()
        self._is_over = True
        super().connection_lost(exc)

    def drop(self) -> None:
        """Close the connection at once, and free its place."""
        self._forget()
        self.connections.discard(self)
        self.transport.abort()

    def _advance(self) -> None:
        """Parse what has come, as far as it may be parsed now."""
        try:
            while not self._is_over and not self.transport.is_closing():
                if self._body is not None:
                    if not self._take_body(self._body):
                        break
                elif self._is_answering:
                    if self._unread:
                        self.flow.pause_reading()
                    break
                elif not self._take_head():
                    break
        except (HeadError, BodyError) as error:
            self._refuse(error.problem)
        self._wait_if_incomplete()

    def _begin_time(self) -> None:
        """Let the time of a request begin with its first byte, after an idle time."""
        if self._unread and not self._has_begun:
            self._has_begun = True
            self._request.start(self, self.crowd.patience_s)

    @property
    def _is_answering(self) -> bool:
        # Uvicorn has none before the first request, against its own type.
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete and not cycle.disconnected

    def _take_head(self) -> bool:
        """Begin a request; tell whether its head has come."""
        while self._unread.startswith(b"\r\n"):
            del self._unread[:2]
        end = self._unread.find(HEAD_END) + len(HEAD_END)
        is_whole = end >= len(HEAD_END)
        self.crowd.requests.check_length(end if is_whole else len(self._unread))
        if not is_whole:
            self._begin_time()
            return False
        head = read_head(bytes(self._unread[:end]))
        del self._unread[:end]
        self._body = self.crowd.requests.body_of(head)
        if self._body is not None:
            self._begin_time()
        self._has_begun = False
        application = self.app
        limit = self.limit_concurrency
        assert limit is not None, "a server sets it"
        if len(self.connections) >= limit or len(self.tasks) >= limit:
            application = service_unavailable
        expect = head.value(b"expect") or b""
        self.cycle = RequestResponseCycle(
            scope=head.scope(self._shared),
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=expect.lower() == b"100-continue" and self._body is not None,
            keep_alive=head.keep_alive,
            on_response=self.on_response_complete,
        )
        if self._body is None:
            self.cycle.more_body = False
            self.cycle.message_event.set()
        self._start_asgi_task(self.cycle, application)
        return True

    def _take_body(self, body: Body) -> bool:
        """Take what has come of a body; tell whether it is whole."""
        content = body.take(self._unread)
        if self._is_answering:
            self.cycle.body += content
            self.cycle.more_body = not body.is_whole
            if content or body.is_whole:
                self.cycle.message_event.set()
            if len(self.cycle.body) > HIGH_WATER_LIMIT:
                self.flow.pause_reading()
        if body.is_whole:
            self._body = None
        return body.is_whole

    def _refuse(self, problem: Problem) -> None:
        """Answer with a refusal, and read nothing more: the next bytes may belong to a body."""
        is_answered = self._body is not None and self.cycle.response_started
        self._is_over, self._body = True, None
        self._unread.clear()
        if is_answered:
            self.drop()
            return
        if self._is_answering:
            # The application waits for the rest of a body that is refused.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.write(problem.last_bytes())
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.flow.resume_reading()
        self._request.start(self, min(_LINGER_S, self.crowd.patience_s))

    def _wait_if_incomplete(self) -> None:
        """Keep the start of the wait for a request, even if parts of it arrive."""
        if self.transport.is_closing() and not self._reading.is_running:
            # It closes when its caller has read the rest, which may never happen.
            self._reading.start(self, self.crowd.patience_s)
        is_incomplete = self._body is not None or not self._is_answering
        if not is_incomplete or self.transport.is_closing():
            self._request.stop()
            self.crowd.waiting.pop(self, None)
        elif not self._request.is_running:
            self._request.start(self, self.crowd.patience_s)
        if is_incomplete and self._request.is_running:
            self.crowd.waiting.setdefault(self)

    def _forget(self) -> None:
        self._request.stop()
        self._reading.stop()
        self.crowd.waiting.pop(self, None)
