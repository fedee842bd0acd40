"""The past of a group, as it is remembered: its ribbon, and which queues moved."""

import time
from collections.abc import Awaitable, Callable
from typing import Final

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead.console.answers import DATA_HEADERS
from fairlead.console.request_fields import BadFieldError, number_of
from fairlead.history.moves import decided_moves
from fairlead.history.ribbon import RibbonWindow
from fairlead.history.ribbon_fold import RibbonFold
from fairlead.history.ribbons import Ribbons

__all__ = ["HistoryApi"]

_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 24 * _HOUR_MS
_MOMENT: Final = "Give milliseconds since 1970."

Unknown = Callable[[Request, str], Awaitable[Response]]


class HistoryApi:
    """Answers questions on what is remembered of a group.

    Args:
        ribbons: the ribbons of the groups.
        unknown: answers that there is no such group.
    """

    def __init__(self, ribbons: Ribbons, unknown: Unknown) -> None:
        self._ribbons, self._unknown = ribbons, unknown

    @property
    def routes(self) -> list[Route]:
        """The paths."""
        return [
            Route("/api/v1/groups/{group}/ribbon", self.ribbon),
            Route("/api/v1/groups/{group}/moves", self.moves),
        ]

    async def ribbon(self, request: Request) -> Response:
        """Tell who worked on which queue when: the last hour, or from ``from_ms`` on."""
        now_ms = _now_ms()
        try:
            window = _window(request, now_ms)
        except BadFieldError as error:
            return error.problem.answer()

        def told(fold: RibbonFold) -> bytes:
            return orjson.dumps(fold.ribbon(window, now_ms).to_json())

        return await self._told(request, told, now_ms)

    async def moves(self, request: Request) -> Response:
        """List the queues that moved since ``since_ms``, the newest last; else in a day."""
        now_ms = _now_ms()
        try:
            since_ms = number_of(request, "since_ms", _MOMENT)
        except BadFieldError as error:
            return error.problem.answer()
        from_ms = now_ms - _DAY_MS if since_ms is None else since_ms

        def told(fold: RibbonFold) -> bytes:
            decided = decided_moves(fold.grants, fold.owners, from_ms)
            return orjson.dumps([move.to_json() for each in decided for move in each.moves])

        return await self._told(request, told, now_ms)

    async def _told(
        self, request: Request, told: Callable[[RibbonFold], bytes], now_ms: int
    ) -> Response:
        name = request.path_params["group"]
        body = await run_in_threadpool(self._ribbons.ask, name, told, now_ms)
        if body is None:
            return await self._unknown(request, name)
        return Response(body, headers=DATA_HEADERS, media_type="application/json")


def _window(request: Request, now_ms: int) -> RibbonWindow:
    """Return the part of the ribbon that a request asks for.

    Raises:
        BadFieldError: a moment is no number, or its end lies before its begin.
    """
    at_ms, to_ms = (number_of(request, field, _MOMENT) for field in ("at_ms", "to_ms"))
    from_ms = number_of(request, "from_ms", _MOMENT)
    if from_ms is None:
        ends = (each for each in (at_ms, to_ms, now_ms) if each is not None)
        from_ms = max(min(ends) - _HOUR_MS, 0)
    if to_ms is not None and to_ms < from_ms:
        remedy = "Give a later to_ms, or an earlier from_ms."
        raise BadFieldError("to_ms", "it lies before from_ms.", remedy)
    return RibbonWindow(from_ms, to_ms, at_ms)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
