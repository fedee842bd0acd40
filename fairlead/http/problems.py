"""Refusals over HTTP: what is wrong and what to do, as RFC 9457 writes it.

A refusal is ``application/problem+json`` with ``type``, ``title``, ``status``, ``detail`` and
``remedy``; ``field`` names the field of the request that is at fault, or is null.
"""

import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

__all__ = ["PROBLEM_TYPE", "Problem", "problem_handlers"]

Handler = Callable[[Request, Any], Awaitable[Response]]

PROBLEM_TYPE: Final = "application/problem+json"
_NAMES: Final = "urn:fairlead:"


@dataclass(frozen=True, slots=True)
class Problem:
    """One refusal.

    Attributes:
        status: the status of the answer.
        kind: the short name of what is wrong; programs compare it.
        detail: what is wrong, in words.
        remedy: what to do about it.
        field: the field of the request that is at fault, if it is one.
        headers: headers of the answer, such as ``Retry-After``.
        more: further members of the document.
    """

    status: int
    kind: str
    detail: str
    remedy: str
    field: str | None = None
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    more: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the document."""
        return {
            "type": _NAMES + self.kind,
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "remedy": self.remedy,
            "field": self.field,
            **self.more,
        }

    def answer(self) -> Response:
        """Return the answer of an application."""
        return Response(
            orjson.dumps(self.to_json()),
            self.status,
            headers={**self.headers, "cache-control": "no-store"},
            media_type=PROBLEM_TYPE,
        )

    def last_bytes(self) -> bytes:
        """Return the answer as the last one of its connection."""
        body = orjson.dumps(self.to_json())
        lines = [
            f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}",
            f"content-type: {PROBLEM_TYPE}",
            f"content-length: {len(body)}",
            "cache-control: no-store",
            "connection: close",
            *(f"{name}: {value}" for name, value in self.headers.items()),
        ]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def problem_handlers(paths: Sequence[str]) -> dict[Any, Handler]:
    """Return what answers a path or a method that a server does not have, and a failure.

    Args:
        paths: the paths that it has.
    """

    async def no_path(request: Request, error: HTTPException) -> Response:
        del error
        return Problem(
            HTTPStatus.NOT_FOUND,
            "unknown_path",
            f"path: there is nothing at {request.url.path}.",
            f"Ask for one of {', '.join(paths)}.",
        ).answer()

    async def no_method(request: Request, error: HTTPException) -> Response:
        return Problem(
            HTTPStatus.METHOD_NOT_ALLOWED,
            "unknown_method",
            f"method: {request.url.path} does not answer {request.method}.",
            f"Use {(error.headers or {}).get('Allow', 'GET, HEAD')}.",
            headers=error.headers or {},
        ).answer()

    async def failed(request: Request, error: Exception) -> Response:
        del error
        return Problem(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "failed",
            f"path: the server failed to answer {request.url.path}.",
            "Look for the cause in the log of the server.",
        ).answer()

    return {
        HTTPStatus.NOT_FOUND: no_path,
        HTTPStatus.METHOD_NOT_ALLOWED: no_method,
        HTTPStatus.INTERNAL_SERVER_ERROR: failed,
    }
