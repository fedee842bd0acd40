"""The JSON of a refused request: what is wrong, and what its caller can do about it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

__all__ = ["problem", "problem_handlers"]

Handler = Callable[[Request, Any], Awaitable[Response]]


def problem(
    status: int, error: str, remedy: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return the answer to a request that is refused."""
    return JSONResponse({"error": error, "remedy": remedy}, status, headers)


def problem_handlers(paths: Sequence[str]) -> dict[Any, Handler]:
    """Return what answers a path or a method that a server does not have, and a failure.

    Args:
        paths: the paths that it has.
    """

    async def no_path(request: Request, error: HTTPException) -> Response:
        del error
        return problem(
            HTTPStatus.NOT_FOUND,
            f"path: there is nothing at {request.url.path}.",
            f"Ask for one of {', '.join(paths)}.",
        )

    async def no_method(request: Request, error: HTTPException) -> Response:
        return problem(
            HTTPStatus.METHOD_NOT_ALLOWED,
            f"method: {request.url.path} does not answer {request.method}.",
            "Use GET or HEAD: nothing can be changed over HTTP.",
            error.headers,
        )

    async def failed(request: Request, error: Exception) -> Response:
        del error
        return problem(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            f"path: the server failed to answer {request.url.path}.",
            "Look for the cause in the log of the server.",
        )

    return {
        HTTPStatus.NOT_FOUND: no_path,
        HTTPStatus.METHOD_NOT_ALLOWED: no_method,
        HTTPStatus.INTERNAL_SERVER_ERROR: failed,
    }
