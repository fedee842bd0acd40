"""How long the head of a request may be, and that nobody can doubt where its body ends.

The parser counts only a head that has not arrived whole.
"""

from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import JSONResponse

__all__ = ["HeadCheck"]

_BAD_REQUEST: Final = 400
_LINE_BYTES: Final = 4
"""Of each header the colon, a space and the end of the line."""


class HeadCheck:
    """Refuses requests with a longer head, and those that tell the end of the body in two ways.

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
        # RFC 9112, 6.1: what follows on this connection may be part of the body.
        answer = JSONResponse(refusal, _BAD_REQUEST, headers={"connection": "close"})
        await answer(scope, receive, send)

    def _refusal(self, scope: Any) -> dict[str, str] | None:
        headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
        length = len(scope["raw_path"]) + len(scope["query_string"])
        length += sum(len(name) + len(value) + _LINE_BYTES for name, value in headers)
        if length > self._bytes_max:
            return {
                "error": f"The head has more than {self._bytes_max} bytes.",
                "remedy": "Send fewer or shorter headers, or raise http.head_bytes.",
            }
        names = {name for name, _ in headers}
        if {b"content-length", b"transfer-encoding"} <= names:
            return {
                "error": "Content-Length and Transfer-Encoding are both there.",
                "remedy": "Send one of them, or no body at all.",
            }
        return None
