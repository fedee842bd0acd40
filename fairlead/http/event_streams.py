"""The open streams of events: counted, so that connections are left for others, and ended."""

from collections.abc import AsyncIterator, Callable

from prometheus_client import Gauge
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from fairlead.http.problems import Problem

__all__ = ["EventStreams"]


class EventStreams:
    """Counts streams of events. All of them run on the thread of the server's loop.

    A stream holds its connection as long as its caller likes. Three quarters of the connections may
    be streams; the rest are for probes, for scrapes and for single requests.

    Args:
        connections_max: how many connections the server holds.
        shown: the gauge of open streams.
    """

    def __init__(self, connections_max: int, shown: Gauge) -> None:
        self.streams_max = connections_max * 3 // 4
        self._shown = shown
        self._open = 0
        self._enders: list[Callable[[], None]] = []
        self.are_closed = False
        """Whether the server stops: each stream has to end."""

    def at_close(self, end: Callable[[], None]) -> None:
        """Call this when all streams have to end."""
        self._enders.append(end)

    def close(self) -> None:
        """End all streams, from any thread."""
        self.are_closed = True
        for end in self._enders:
            end()

    @property
    def refusal(self) -> Problem | None:
        """Why no other stream may begin; None: one may."""
        if self._open < self.streams_max:
            return None
        return Problem(
            503,
            "streams_full",
            f"{self.streams_max} streams of events are open, three quarters of all "
            "connections; no more are allowed.",
            "Close some, or raise http.connections.",
        )

    def answer(
        self, parts: AsyncIterator[bytes], enter: Callable[[], Callable[[], None]]
    ) -> StreamingResponse:
        """Return a response that counts as a stream while it is sent.

        ``enter`` counts it for its principal too, and returns what ends that.
        """
        return _Stream(self, parts, enter())

    def began(self) -> None:
        """Count a stream that begins."""
        self._open += 1
        self._shown.set(self._open)

    def ended(self) -> None:
        """Count the end of a stream, whoever ended it."""
        self._open -= 1
        self._shown.set(self._open)


class _Stream(StreamingResponse):
    def __init__(
        self, streams: EventStreams, parts: AsyncIterator[bytes], leave: Callable[[], None]
    ) -> None:
        headers = {"cache-control": "no-store"}
        super().__init__(parts, media_type="text/event-stream", headers=headers)
        self._streams = streams
        self._leave = leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Nothing is awaited between the check of ``refusal`` and this line.
        self._streams.began()
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.ended()
            self._leave()
