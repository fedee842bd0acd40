"""The paths under a group that tell of its past."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead.history.ribbon import RibbonWindow
from fairlead.history.ribbons import Ribbons
from fairlead.http.problems import Problem

__all__ = ["HistoryApi"]

_HOUR_MS: Final = 3_600_000
_DIGITS_MAX: Final = 15


class HistoryApi:
    """Answers questions on the past of a group.

    Args:
        ribbons: the ribbons of the groups.
        unknown: answers a request about a group that is not there.
    """

    def __init__(
        self, ribbons: Ribbons, unknown: Callable[[Request, str], Awaitable[Response]]
    ) -> None:
        self._ribbons = ribbons
        self._unknown = unknown

    @property
    def routes(self) -> list[Route]:
        """The paths."""
        return [Route("/api/v1/groups/{group}/ribbon", self.ribbon)]

    async def ribbon(self, request: Request) -> Response:
        """Tell who worked on which queue when: the last hour, or what ``from_ms`` begins."""
        name, now_ms = request.path_params["group"], time.time_ns() // 1_000_000
        try:
            at_ms, to_ms = _moment(request, "at_ms"), _moment(request, "to_ms")
            from_ms = _moment(request, "from_ms")
        except ValueError as error:
            return _bad_moment(str(error))
        if from_ms is None:
            from_ms = min(each for each in (at_ms, to_ms, now_ms) if each is not None) - _HOUR_MS
        if to_ms is not None and to_ms < from_ms:
            return Problem(
                *(400, "bad_field", "to_ms: it lies before from_ms."),
                *("Give a later to_ms, or an earlier from_ms.", "to_ms"),
            ).answer()
        window = RibbonWindow(max(from_ms, 0), to_ms, at_ms)
        body = await run_in_threadpool(self._ribbon, name, window, now_ms)
        if body is None:
            return await self._unknown(request, name)
        return Response(body, media_type="application/json")

    def _ribbon(self, name: str, window: RibbonWindow, now_ms: int) -> bytes | None:
        found = self._ribbons.ribbon(name, window, now_ms)
        return None if found is None else orjson.dumps(found.to_json())


def _moment(request: Request, field: str) -> int | None:
    """Return a moment that a request names; None: it names none."""
    text: Any = request.query_params.get(field)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX):
        raise ValueError(field)
    return int(text)


def _bad_moment(field: str) -> Response:
    says = f"{field}: it is no whole number of milliseconds."
    return Problem(400, "bad_field", says, "Give milliseconds since 1970.", field).answer()
