"""Reads the head of a request, and says whether a body follows.

llhttp, the parser of Node, gets exactly one head. It refuses what two parsers may read in two ways:
a bare line feed, a folded line, a space before a colon, two lengths, a length beside an encoding.
"""

import re
import urllib.parse
from dataclasses import dataclass
from typing import Any, Final, Protocol

import httptools

from fairlead.http.problems import Problem

__all__ = ["HEAD_END", "Head", "HeadError", "read_head"]

HEAD_END: Final = b"\r\n\r\n"
_BAD_REQUEST: Final = 400
_VERSIONS: Final = ("1.0", "1.1")


class HeadError(Exception):
    """The head is refused; ``problem`` is the answer."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a request.

    Attributes:
        method: the method, in capital letters.
        path: the path, decoded.
        raw_path: the path as it came.
        query: the query as it came.
        version: ``1.0`` or ``1.1``.
        headers: names in small letters, and values.
        keep_alive: whether the connection may serve another request.
        length: the length of the body; None: it comes in chunks.
    """

    method: str
    path: str
    raw_path: bytes
    query: bytes
    version: str
    headers: list[tuple[bytes, bytes]]
    keep_alive: bool
    length: int | None

    def scope(self, shared: dict[str, Any]) -> Any:
        """Return the ASGI scope; ``shared``: what is the same for a whole connection."""
        return {
            **shared,
            "http_version": self.version,
            "method": self.method,
            "path": self.path,
            "raw_path": self.raw_path,
            "query_string": self.query,
            "headers": self.headers,
            "state": {},
        }

    def value(self, name: bytes) -> bytes | None:
        """Return the first value of a header."""
        return next((value for known, value in self.headers if known == name), None)


_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]").search


class _Parser(Protocol):
    def should_keep_alive(self) -> bool: ...
    def get_method(self) -> bytes: ...
    def get_http_version(self) -> str: ...
    def feed_data(self, data: bytes) -> None: ...


class _Found:
    """What the parser tells."""

    def __init__(self) -> None:
        self.url = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.is_whole = self.keep_alive = False
        self.parser: _Parser = httptools.HttpRequestParser(self)

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self.is_whole, self.keep_alive = True, self.parser.should_keep_alive()


def read_head(data: bytes) -> Head:
    """Return the head.

    Args:
        data: all bytes up to the empty line, and that line.

    Raises:
        HeadError: it is no head of HTTP/1.0 or HTTP/1.1, or a doubtful one.
    """
    found = _Found()
    parser = found.parser
    try:
        parser.feed_data(data)
    except httptools.HttpParserUpgrade:
        # Nothing is spoken here but HTTP: the request is answered as any other.
        pass
    except httptools.HttpParserError as error:
        # The parser's words are constants: they repeat nothing of the request.
        raise _refusal(f"The request is malformed: {error}.") from None
    finally:
        # Each names the other: without this the collector of garbage would have to find them, and
        # stop all requests for that.
        del found.parser
    if not found.is_whole or parser.get_http_version() not in _VERSIONS:
        raise _refusal("The request is malformed.")
    version = parser.get_http_version()
    raw_path, query = _target(found.url)
    text = raw_path.decode("ascii", errors="replace")
    path = urllib.parse.unquote(text) if "%" in text else text
    if _CONTROL(path):
        # Who compares paths, and who finds their routes, would read a line feed in different ways.
        raise _refusal("The path of the request has a control character.")
    head = Head(
        parser.get_method().decode("ascii"),
        path,
        raw_path,
        query,
        version,
        found.headers,
        found.keep_alive and version != "1.0",
        _length(found.headers, version),
    )
    if version != "1.0" and sum(name == b"host" for name, _ in head.headers) != 1:
        raise _refusal("The request has no Host header, or several.")
    return head


def _target(url: bytes) -> tuple[bytes, bytes]:
    """Return path and query of a request's target."""
    if url.startswith(b"/"):
        path, _, query = url.partition(b"?")
        return path, query
    try:
        parsed = httptools.parse_url(url)
    except httptools.HttpParserInvalidURLError:
        raise _refusal("The target of the request is no path.") from None
    if parsed.schema is None:
        raise _refusal("The target of the request is no path.")
    return parsed.path or b"/", parsed.query or b""


def _length(headers: list[tuple[bytes, bytes]], version: str) -> int | None:
    """Return the length of the body: the parser allows at most one header that tells it."""
    for name, value in headers:
        if name == b"content-length":
            return int(value)
        if name == b"transfer-encoding":
            if version == "1.0" or value.strip().lower() != b"chunked":
                raise _refusal("The request has a Transfer-Encoding other than chunked.")
            return None
    return 0


def _refusal(detail: str) -> HeadError:
    remedy = "Send a request as RFC 9112 describes it, with one Host and at most one length."
    return HeadError(Problem(_BAD_REQUEST, "malformed_request", detail, remedy))
