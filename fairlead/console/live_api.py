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

_NUMBER: Final = re.compile("[0-9]{1,15}")
_NOT_READ: Final = Problem(
    503,
    "not_ready",
    "The server has yet to read what stands in the topics, so it may not know the group.",
    "Ask again; /readyz says how far it is.",
    headers={"retry-after": "1"},
)
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
            # A page that comes back to a server that has just begun shall ask again.
            unknown = self._view.is_whole
            return await self._unknown(request, name) if unknown else _NOT_READ.answer()
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
    query = request.query_params
    interval_ms = _number(query.get("interval_ms", str(_LEAST_MS)))
    if interval_ms is None or not _LEAST_MS <= interval_ms <= _MOST_MS:
        says = f"it is no whole number from {_LEAST_MS} to {_MOST_MS:,}"
        return _bad("interval_ms", says, "Leave it out for four events a second at most.")
    from_ms = None
    if "from_ms" in query:
        from_ms = _number(query["from_ms"])
        if from_ms is None:
            return _bad("from_ms", "it is no whole number", "Give milliseconds since 1970.")
    after = _after(request.headers.get("last-event-id") or query.get("last_event_id"))
    return LiveReader(admitted(request.scope), interval_ms, from_ms, after)


def _number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None


def _after(text: str | None) -> int | None:
    """Return the decision that an earlier connection has sent; None: there was none."""
    if text is None:
        return None
    # Who remembers something else has seen nothing that counts here.
    return _number(text) if _NUMBER.fullmatch(text) else -1


def _bad(field: str, says: str, remedy: str) -> Problem:
    return Problem(400, "bad_field", f"{field}: {says}.", remedy, field)
