"""Reads the body of a request from what has come, within a limit.

A body in chunks counts with all that is around the chunks, so that 100,000 chunks of a byte cost no
more than their bytes. Chunk extensions and trailers are refused: nobody needs them here, and
parsers disagree on them.
"""

import re
from typing import Final, Protocol

from fairlead.http.problems import Problem

__all__ = ["Body", "BodyError", "ChunkedBody", "LengthBody", "too_large"]

_BAD_REQUEST: Final = 400
_TOO_LARGE: Final = 413
_SIZE: Final = re.compile(rb"[0-9A-Fa-f]{1,8}")
_LINE_END: Final = b"\r\n"
_LINE_BYTES: Final = 10
"""A size of eight digits and the line end."""


class BodyError(Exception):
    """The body is refused; ``problem`` is the answer."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


class Body(Protocol):
    """A body that arrives."""

    @property
    def is_whole(self) -> bool:
        """Whether all of it has come."""

    def take(self, unread: bytearray) -> bytes:
        """Remove the bytes of the body from what has come, and return its content.

        Raises:
            BodyError: it is malformed or too large.
        """


class LengthBody:
    """A body whose length the head tells."""

    def __init__(self, length: int) -> None:
        self._missing = length

    @property
    def is_whole(self) -> bool:
        """Whether all of it has come."""
        return self._missing == 0

    def take(self, unread: bytearray) -> bytes:
        """Remove the bytes of the body from what has come, and return them."""
        content = bytes(unread[: self._missing])
        del unread[: len(content)]
        self._missing -= len(content)
        return content


class ChunkedBody:
    """A body in chunks; ``bytes_max`` limits chunks and what is around them."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._bytes_left = bytes_max
        self._missing = 0
        """How much of a chunk has not come."""
        self._ends_line = self._is_last = False
        self.is_whole = False

    def take(self, unread: bytearray) -> bytes:
        """Remove the bytes of the body from what has come, and return its content.

        Raises:
            BodyError: it is malformed or too large.
        """
        content, place = bytearray(), 0
        while not self.is_whole:
            if self._missing:
                part = unread[place : place + self._missing]
                content += part
                self._missing -= len(part)
                used = len(part)
            else:
                used = (
                    self._line_end(unread, place) if self._ends_line else self._size(unread, place)
                )
            if not used:
                break
            place += used
            self._bytes_left -= used
            if self._bytes_left < 0:
                raise BodyError(too_large(self._bytes_max))
        del unread[:place]
        return bytes(content)

    def _size(self, unread: bytearray, place: int) -> int:
        """Read the line before a chunk; return its length, or 0 if it has not come."""
        end = unread.find(_LINE_END, place, place + _LINE_BYTES)
        if end < 0 and len(unread) - place < _LINE_BYTES:
            return 0
        if end < 0 or _SIZE.fullmatch(unread, place, end) is None:
            raise _malformed()
        self._missing = int(unread[place:end], 16)
        if self._missing > self._bytes_left:
            raise BodyError(too_large(self._bytes_max))
        self._is_last, self._ends_line = self._missing == 0, True
        return end + len(_LINE_END) - place

    def _line_end(self, unread: bytearray, place: int) -> int:
        """Read the line end behind a chunk; return its length, or 0 if it has not come."""
        if len(unread) - place < len(_LINE_END):
            return 0
        if not unread.startswith(_LINE_END, place):
            raise _malformed()
        self._ends_line, self.is_whole = False, self._is_last
        return len(_LINE_END)


def too_large(bytes_max: int) -> Problem:
    """Return the refusal of a body that is too large."""
    return Problem(
        _TOO_LARGE,
        "body_too_large",
        f"The body has more than {bytes_max} bytes.",
        "Send less in one request, or raise http.body_bytes.",
    )


def _malformed() -> BodyError:
    detail = "The chunks of the body are malformed, or they have extensions or trailers."
    remedy = "Send the body with Content-Length."
    return BodyError(Problem(_BAD_REQUEST, "malformed_body", detail, remedy))
