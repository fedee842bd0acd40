"""The HTTP side of ``fairlead serve``: JSON for commands and programs, text for Prometheus.

Nothing can be changed here. Errors are JSON too: what is wrong, and what to do about it.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from http import HTTPStatus
from typing import Any, Final

import orjson
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead.access.guard import Admitted, admitted
from fairlead.access.refusals import AccessError
from fairlead.console.history_api import HistoryApi
from fairlead.console.live_api import LiveApi
from fairlead.console.live_streams import LiveStreams
from fairlead.control.group_names import nearest_words
from fairlead.history.ribbons import Ribbons
from fairlead.http.event_streams import EventStreams
from fairlead.http.metrics_answer import metrics_answer
from fairlead.http.problems import Problem, problem_handlers
from fairlead.kafka.topic_follower import Following
from fairlead.serve.readiness import readiness_of
from fairlead.serve.serve_metrics import ServeMetrics
from fairlead.serve.shared_view import SharedView
from fairlead.settings import KafkaSettings
from fairlead.wire.texts import GROUP

__all__ = ["application"]

_LOOK_S: Final = 0.25
"""A stream looks for new events at most four times a second."""
_ALIVE_S: Final = 15.0
"""A stream says something this often, so that proxies keep it open."""
_PLACE: Final = "in the topics that are served"
_ALL_GROUPS: Final = "GET /api/v1/groups lists all."


def application(
    held: SharedView,
    following: Callable[[], Following],
    metrics: ServeMetrics,
    streams: EventStreams,
    kafka: KafkaSettings,
) -> Starlette:
    """Return the application.

    Args:
        held: the view.
        kafka: the cluster with the topics.
        following: how far the topics were read.
        metrics: the numbers of this process and of the groups; requests are counted there.
        streams: counts the open streams of events.
    """
    answers = _Answers(held, following, metrics, streams, kafka)
    live = LiveStreams(held, answers.groups_head)
    streams.at_close(live.close)
    routes = [
        Route("/", answers.index),
        Route("/healthz", answers.healthz),
        Route("/readyz", answers.readyz),
        Route("/metrics", answers.metrics),
        Route("/api/v1/groups", answers.groups),
        Route("/api/v1/groups/{group}", answers.group),
        Route("/api/v1/groups/{group}/decisions", answers.decisions),
        Route("/api/v1/groups/{group}/events", answers.events),
        *LiveApi(held, live, streams, answers.unknown).routes,
        *HistoryApi(Ribbons(held.query), answers.unknown).routes,
    ]
    return Starlette(
        routes=routes,
        exception_handlers=problem_handlers([each.path for each in routes]),
        middleware=[Middleware(_Counting, metrics=metrics)],
    )


class _Counting:
    """Counts requests by the path of their route, so that no name of a group becomes a label."""

    def __init__(self, app: Any, metrics: ServeMetrics) -> None:
        self._application = app
        self._metrics = metrics

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        begun = time.monotonic()

        async def counted(message: Any) -> None:
            if message["type"] == "http.response.start":
                route = scope.get("route")
                path = route.path if isinstance(route, Route) else "unknown"
                self._metrics.requests.labels(path, str(message["status"])).inc()
                self._metrics.request_seconds.labels(path).observe(time.monotonic() - begun)
            await send(message)

        await self._application(scope, receive, counted)


class _Answers:
    def __init__(
        self,
        held: SharedView,
        following: Callable[[], Following],
        metrics: ServeMetrics,
        streams: EventStreams,
        kafka: KafkaSettings,
    ) -> None:
        self._held = held
        self._following = following
        self._metrics = metrics
        self._streams = streams
        self._one_search = asyncio.Semaphore(1)
        self._of = {"bootstrap": kafka.bootstrap, "topic_prefix": kafka.topic_prefix}

    async def index(self, request: Request) -> Response:
        """List the paths."""
        return _json({"program": "fairlead serve", "paths": _paths(request)})

    async def healthz(self, request: Request) -> Response:
        """Say that the process lives."""
        del request
        return _json({"state": "alive"})

    async def readyz(self, request: Request) -> Response:
        """Say whether the view is ready; 503 if not."""
        del request
        readiness = readiness_of(self._following())
        return _json(readiness.to_json(), 200 if readiness.ready else 503)

    async def metrics(self, request: Request) -> Response:
        """Return the metrics."""
        return await metrics_answer(request, self._metrics.registry)

    async def groups(self, request: Request) -> Response:
        """List the groups that the caller may observe."""
        groups = self._observed(request, await run_in_threadpool(self._held.groups))
        head = await run_in_threadpool(self.groups_head)
        return _json({**head, "as_of_ms": self._held.as_of_ms, "groups": groups})

    def groups_head(self) -> dict[str, Any]:
        """Return the document of all groups without the groups."""
        readiness = readiness_of(self._following())
        return {
            **self._of,
            "as_of_ms": self._held.newest_ms,
            "now_ms": time.time_ns() // 1_000_000,
            "ready": readiness.ready,
            "reason": readiness.reason,
            "records_behind": readiness.behind,
            "bridges": self._held.bridges(),
        }

    async def group(self, request: Request) -> Response:
        """Describe one group."""
        name = request.path_params["group"]
        description = await run_in_threadpool(self._held.group, name)
        return await self.unknown(request, name) if description is None else _json(description)

    async def decisions(self, request: Request) -> Response:
        """List the decisions of a group, oldest first; ``since_ms`` leaves out older ones."""
        name = request.path_params["group"]
        try:
            since_ms = int(request.query_params.get("since_ms", "0"))
        except ValueError:
            return _refused(
                400, "since_ms", "it is no whole number.", "Give milliseconds since 1970."
            )
        decisions = await run_in_threadpool(self._held.decisions, name, since_ms)
        return (
            await self.unknown(request, name)
            if decisions is None
            else _json({"decisions": decisions})
        )

    async def events(self, request: Request) -> Response:
        """Send decisions as server-sent events; ``Last-Event-ID`` continues behind that one.

        The id of an event is the decision's offset in the log.
        """
        name = request.path_params["group"]
        try:
            after = int(request.headers.get("last-event-id", "-1"))
        except ValueError:
            return _refused(400, "Last-Event-ID", "it is no offset.", "Leave it out.")
        if await run_in_threadpool(self._held.group, name) is None:
            return await self.unknown(request, name)
        refusal = self._streams.refusal
        if refusal is not None:
            return refusal.answer()
        caller = admitted(request.scope)
        try:
            parts = self._event_lines(name, after, caller)
            return self._streams.answer(parts, caller.enter_stream)
        except AccessError as error:
            return error.problem.answer()

    async def _event_lines(self, name: str, after: int, caller: Admitted) -> AsyncIterator[bytes]:
        if after < 0:
            after = await run_in_threadpool(self._held.newest_offset, name)
        spoke = time.monotonic()
        yield b": connected\n\n"
        while caller.still_stands and not self._streams.are_closed:
            decisions = await run_in_threadpool(self._held.decisions, name, 0, after)
            for each in decisions or ():
                after, spoke = each["at"][2], time.monotonic()
                yield b"id: %d\nevent: decision\ndata: %s\n\n" % (after, orjson.dumps(each))
            if time.monotonic() - spoke > _ALIVE_S:
                spoke = time.monotonic()
                yield b": alive\n\n"
            await asyncio.sleep(_LOOK_S)

    @staticmethod
    def _observed(request: Request, groups: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        principal = admitted(request.scope).principal
        return [each for each in groups if principal.may("observe", each["group"])]

    async def unknown(self, request: Request, name: str) -> Response:
        """Answer that there is no such group."""
        if not GROUP.allows(name):
            return _refused(404, "group", f"no group has such a name ({GROUP.words}).", _ALL_GROUPS)
        # A search may take half a second: those who wait for one must not take threads from others.
        async with self._one_search:
            listed = self._observed(request, await run_in_threadpool(self._held.groups))
            known = [each["group"] for each in listed]
            near = await run_in_threadpool(nearest_words, name, known)
        remedy = f"{near}; {_ALL_GROUPS}" if near else "See /readyz, or start clients of the group."
        return _refused(404, "group", f"there is no group {name} {_PLACE}.", remedy)


def _refused(status: int, field: str, says: str, remedy: str) -> Response:
    kind = "unknown_group" if status == HTTPStatus.NOT_FOUND else "bad_field"
    return Problem(status, kind, f"{field}: {says}", remedy, field).answer()


def _paths(request: Request) -> list[str]:
    return [each.path for each in request.app.routes if isinstance(each, Route)]


def _json(document: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(document), status, media_type="application/json")
