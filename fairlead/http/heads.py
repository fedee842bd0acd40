"""A request is its head: how long that may be, and that nothing behind it is read as a body.

h11 counts only a head that has not arrived whole, and bounds no body: a callback of the loop takes
whatever one read has brought, and 250 KiB in chunks of a byte hold it up for more than half a
second.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import h11
from starlette.responses import JSONResponse

__all__ = ["HeadCheck", "HeadParser"]

_BAD_REQUEST: Final = 400
_CONTENT_TOO_LARGE: Final = 413
_LINE_BYTES: Final = 4
"""Of each header the colon, a space and the end of the line."""


class HeadParser(h11.Connection):
    """A parser that gives the head of a request with a body, and nothing of what follows."""

    _is_over = False

    def receive_data(self, data: bytes) -> None:
        """Take what was read; nothing more once a body has begun."""
        if not self._is_over:
            super().receive_data(data)

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return the next event; a body has none."""
        if self._is_over:
            return h11.NEED_DATA
        event = super().next_event()
        self._is_over = isinstance(event, h11.Request) and _has_body(event.headers)
        return event


class HeadCheck:
    """Refuses requests with a longer head or with a body, and closes their connections.

    Args:
        application: what answers the others.
        bytes_max: ``http.head_bytes``.
    """

    def __init__(self, application: Any, bytes_max: int) -> None:
        self._application = application
        self._bytes_max = bytes_max

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._application(scope, receive, send)
            return
        # What follows on this connection is part of the body, or may be (RFC 9112, 6.1).
        refusal.headers["connection"] = "close"
        await refusal(scope, receive, send)

    def _refusal(self, scope: Any) -> JSONResponse | None:
        headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
        length = len(scope["raw_path"]) + len(scope["query_string"])
        length += sum(len(name) + len(value) + _LINE_BYTES for name, value in headers)
        if length > self._bytes_max:
            return _answer(
                _BAD_REQUEST,
                f"The head has more than {self._bytes_max} bytes.",
                "Send fewer or shorter headers, or raise http.head_bytes.",
            )
        names = {name for name, _ in headers}
        if {b"content-length", b"transfer-encoding"} <= names:
            return _answer(
                _BAD_REQUEST,
                "Content-Length and Transfer-Encoding are both there.",
                "Send neither: no path takes a body.",
            )
        if _has_body(headers):
            return _answer(
                _CONTENT_TOO_LARGE,
                "The request has a body.",
                "Send neither Content-Length nor Transfer-Encoding: no path takes a body.",
            )
        return None


def _has_body(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Tell whether a body is announced; h11 has seen that a length is a number."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and int(value) != 0)
        for name, value in headers
    )


def _answer(status: int, error: str, remedy: str) -> JSONResponse:
    return JSONResponse({"error": error, "remedy": remedy}, status)
