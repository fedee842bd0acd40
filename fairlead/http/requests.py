"""Which requests a server takes: how long a head may be, and who may send a body."""

from dataclasses import dataclass
from typing import Final

from fairlead.http.bodies import Body, BodyError, ChunkedBody, LengthBody, too_large
from fairlead.http.heads import Head, HeadError
from fairlead.http.problems import Problem

__all__ = ["RequestLimits"]

_BAD_REQUEST: Final = 400
_TOO_LARGE: Final = 413
_UNSUPPORTED: Final = 415
_METHODS: Final = ("POST", "PUT", "DELETE")
_JSON: Final = b"application/json"


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """The limits of one request.

    Attributes:
        head_bytes: ``http.head_bytes``.
        body_bytes: ``http.body_bytes``.
        bodies_under: the starts of the paths that take a body.
    """

    head_bytes: int
    body_bytes: int
    bodies_under: tuple[str, ...]

    def check_length(self, length: int) -> None:
        """Check the length of a head, or of what has come of it.

        Raises:
            HeadError: it is too long.
        """
        if length > self.head_bytes:
            problem = Problem(
                _BAD_REQUEST,
                "head_too_large",
                f"The head has more than {self.head_bytes} bytes.",
                "Send fewer or shorter headers, or raise http.head_bytes.",
            )
            raise HeadError(problem)

    def body_of(self, head: Head) -> Body | None:
        """Return the body that a request is to bring; None: it brings none.

        Raises:
            BodyError: it may not bring this one.
        """
        if head.length == 0:
            return None
        if not self._may_bring(head):
            problem = Problem(
                _TOO_LARGE,
                "unexpected_body",
                "The request has a body.",
                "Send neither Content-Length nor Transfer-Encoding: this path accepts no body.",
            )
            raise BodyError(problem)
        kind = (head.value(b"content-type") or b"").partition(b";")[0].strip().lower()
        if kind != _JSON:
            # A web page may send other types to a foreign server without asking it first.
            problem = Problem(
                _UNSUPPORTED,
                "unsupported_media_type",
                "The body is not declared as JSON.",
                "Send JSON, with Content-Type: application/json.",
            )
            raise BodyError(problem)
        if head.length is None:
            return ChunkedBody(self.body_bytes)
        if head.length > self.body_bytes:
            raise BodyError(too_large(self.body_bytes))
        return LengthBody(head.length)

    def _may_bring(self, head: Head) -> bool:
        return head.method in _METHODS and head.path.startswith(self.bodies_under)
