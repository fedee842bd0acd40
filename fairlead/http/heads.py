"""Limits the length of a request's head, and never reads a body.

h11 limits only incomplete heads, and no bodies. It parses all bytes of one read in one callback;
250 KiB in chunks of one byte would block the loop for more than half a second.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import h11
from starlette.responses import JSONResponse

from fairlead.http.problem import problem

__all__ = ["HeadCheck", "HeadParser"]

_BAD_REQUEST: Final = 400
_CONTENT_TOO_LARGE: Final = 413
_LINE_BYTES: Final = 4
"""The colon, the space and the line end of each header."""


class HeadParser(h11.Connection):
    """A parser that returns the head of a request and ignores any body."""

    _is_over = False

    def receive_data(self, data: bytes) -> None:
        """Parse received bytes; ignore them once a body has begun."""
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
    """Refuses requests with too long a head or with a body, and closes their connections.

    Args:
        application: answers all other requests.
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
        # The next bytes on this connection may belong to the body (RFC 9112, 6.1).
        refusal.headers["connection"] = "close"
        await refusal(scope, receive, send)

    def _refusal(self, scope: Any) -> JSONResponse | None:
        headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
        length = len(scope["raw_path"]) + len(scope["query_string"])
        length += sum(len(name) + len(value) + _LINE_BYTES for name, value in headers)
        if length > self._bytes_max:
            return problem(
                _BAD_REQUEST,
                f"The head has more than {self._bytes_max} bytes.",
                "Send fewer or shorter headers, or raise http.head_bytes.",
            )
        names = {name for name, _ in headers}
        if {b"content-length", b"transfer-encoding"} <= names:
            return problem(
                _BAD_REQUEST,
                "The request has both Content-Length and Transfer-Encoding.",
                "Send neither: no path accepts a body.",
            )
        if _has_body(headers):
            return problem(
                _CONTENT_TOO_LARGE,
                "The request has a body.",
                "Send neither Content-Length nor Transfer-Encoding: no path accepts a body.",
            )
        return None


def _has_body(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Tell whether the headers announce a body; h11 has checked that a length is a number."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and int(value) != 0)
        for name, value in headers
    )
