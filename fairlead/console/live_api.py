"""The live streams over HTTP: what a request may say, and when a stream is refused."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead.access.guard import admitted
from fairlead.access.refusals import AccessError
from fairlead.console.live_reader import INTERVAL_MS, LiveReader
from fairlead.console.live_streams import LiveStreams
from fairlead.console.live_view import LiveView
from fairlead.http.event_streams import EventStreams
from fairlead.http.problems import Problem

__all__ = ["LiveApi"]

_LEAST_MS, _MOST_MS = INTERVAL_MS

_NUMBER: Final = re.compile("[0-9]{1,6}")
_NO_STORE: Final = {"cache-control": "no-store"}

Events = Callable[[LiveReader], AsyncIterator[bytes]]
Unknown = Callable[[Request, str], Awaitable[Response]]


class LiveApi:
    """Answers the paths of live streams.

    Args:
        view: what is known of groups.
        live: all open live streams.
        streams: counts them among all streams of events.
        unknown: answers that there is no such group.
    """

    def __init__(
        self, view: LiveView, live: LiveStreams, streams: EventStreams, unknown: Unknown
    ) -> None:
        self._view, self._live = view, live
        self._streams, self._unknown = streams, unknown

    @property
    def routes(self) -> list[Route]:
        """The paths."""
        return [
            Route("/api/v1/live", self.all_groups),
            Route("/api/v1/groups/{group}/live", self.one_group),
        ]

    async def all_groups(self, request: Request) -> Response:
        """Send the lines of all groups that the caller may observe, and their changes."""
        reader = _reader(request)
        if isinstance(reader, Problem):
            return reader.answer()
        return self._answer(request, reader, self._live.all_groups)

    async def one_group(self, request: Request) -> Response:
        """Send one group and its changes."""
        reader, name = _reader(request), request.path_params["group"]
        if isinstance(reader, Problem):
            return reader.answer()
        if not await run_in_threadpool(self._view.has_group, name):
            return await self._unknown(request, name)
        return self._answer(request, reader, lambda each: self._live.one_group(name, each))

    def _answer(self, request: Request, reader: LiveReader, events: Events) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream", headers=_NO_STORE)
        refusal = self._streams.refusal
        if refusal is not None:
            return refusal.answer()
        try:
            return self._streams.answer(events(reader), reader.caller.enter_stream)
        except AccessError as error:
            return error.problem.answer()


def _reader(request: Request) -> LiveReader | Problem:
    """Return who reads, as a request asks for it."""
    asked = request.query_params.get("interval_ms", str(_LEAST_MS))
    interval_ms = int(asked) if _NUMBER.fullmatch(asked) else 0
    if not _LEAST_MS <= interval_ms <= _MOST_MS:
        return Problem(
            400,
            "bad_field",
            f"interval_ms: {asked[:40]!r} is no whole number from {_LEAST_MS} to {_MOST_MS:,}.",
            "Leave it out for four events a second at most.",
            "interval_ms",
        )
    return LiveReader(admitted(request.scope), interval_ms)
