"""The HTTP side of ``fairlead serve``: JSON for commands and programs, text for Prometheus.

Errors are JSON too: what is wrong, and what to do about it.
"""

import time
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead.access.guard import admitted
from fairlead.access.refusals import AccessError
from fairlead.console.answers import UnknownGroups, json_answer, observed, refused
from fairlead.console.assets import Assets, wants_page
from fairlead.console.live_reader import INTERVAL_MS, LiveReader
from fairlead.console.parts import ConsoleParts
from fairlead.console.routes import console_routes
from fairlead.http.event_streams import EventStreams
from fairlead.http.metrics_answer import metrics_answer
from fairlead.http.problems import problem_handlers
from fairlead.kafka.topic_follower import Following
from fairlead.native.native_view import NativeView
from fairlead.operating.offline_topics import OpenData
from fairlead.serve.decision_streams import DecisionStreams
from fairlead.serve.native_api import NativeApi
from fairlead.serve.readiness import readiness_of
from fairlead.serve.serve_metrics import ServeMetrics
from fairlead.serve.shared_view import SharedView
from fairlead.settings import KafkaSettings, Settings

__all__ = ["application"]

_Answer = Callable[[Request], Awaitable[Response]]


def application(
    held: SharedView,
    following: Callable[[], Following],
    metrics: ServeMetrics,
    streams: EventStreams,
    settings: Settings,
    *,
    native: NativeView | None = None,
    open_data: OpenData | None = None,
) -> Starlette:
    """Return the application.

    Args:
        held: the view.
        following: how far the topics were read.
        metrics: the numbers of this process and of the groups; requests are counted there.
        streams: counts the open streams of events.
        settings: the settings; a process that does not observe has no console.
        native: what is known of native groups; None: nobody looks at any.
        open_data: connects to the cluster with the messages; None: there is none.
    """
    has_console = settings.serve.observe
    answers = _Answers(held, following, metrics, streams, settings.kafka)
    assets = Assets()
    parts = ConsoleParts(
        held, following, settings, streams, answers.unknown, answers.groups_head, open_data
    )
    routes = [
        Route("/", _page_or(answers.index, assets) if has_console else answers.index),
        Route("/healthz", answers.healthz),
        Route("/readyz", answers.readyz),
        Route("/metrics", answers.metrics),
        Route("/api/v1/groups", answers.groups),
        Route("/api/v1/groups/{group}/decisions", answers.decisions),
        Route("/api/v1/groups/{group}/events", answers.events),
        *NativeApi(native or NativeView(())).routes,
    ]
    if has_console:
        routes += console_routes(parts, assets, answers.group)
    else:
        routes.append(Route("/api/v1/groups/{group}", answers.group))
    return Starlette(
        routes=routes,
        exception_handlers=problem_handlers([each.path for each in routes]),
        middleware=[Middleware(_Counting, metrics=metrics)],
    )


def _page_or(index: _Answer, assets: Assets) -> _Answer:
    """Return what answers at the root: the page for browsers, the index for programs."""

    async def root(request: Request) -> Response:
        answer = await (assets.page if wants_page(request) else index)(request)
        answer.headers["vary"] = "accept, accept-encoding"
        return answer

    return root


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
        self._decisions = DecisionStreams(held, streams)
        self.unknown = UnknownGroups(held)
        self._of = {"bootstrap": kafka.bootstrap, "topic_prefix": kafka.topic_prefix}

    async def index(self, request: Request) -> Response:
        """List the paths."""
        return json_answer({"program": "fairlead serve", "paths": _paths(request)})

    async def healthz(self, request: Request) -> Response:
        """Say that the process lives."""
        del request
        return json_answer({"state": "alive"})

    async def readyz(self, request: Request) -> Response:
        """Say whether the view is ready; 503 if not."""
        del request
        readiness = readiness_of(self._following())
        return json_answer(readiness.to_json(), 200 if readiness.ready else 503)

    async def metrics(self, request: Request) -> Response:
        """Return the metrics."""
        return await metrics_answer(request, self._metrics.registry)

    async def groups(self, request: Request) -> Response:
        """List the groups that the caller may observe."""
        groups = observed(request, await run_in_threadpool(self._held.groups))
        head = await run_in_threadpool(self.groups_head)
        return json_answer({**head, "as_of_ms": self._held.as_of_ms, "groups": groups})

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
        return (
            await self.unknown.answer(request, name)
            if description is None
            else json_answer(description)
        )

    async def decisions(self, request: Request) -> Response:
        """List the decisions of a group, oldest first; ``since_ms`` leaves out older ones."""
        name = request.path_params["group"]
        try:
            since_ms = int(request.query_params.get("since_ms", "0"))
        except ValueError:
            return refused(
                400, "since_ms", "it is no whole number.", "Give milliseconds since 1970."
            )
        decisions = await run_in_threadpool(self._held.decisions, name, since_ms)
        return (
            await self.unknown.answer(request, name)
            if decisions is None
            else json_answer({"decisions": decisions})
        )

    async def events(self, request: Request) -> Response:
        """Send decisions as server-sent events; ``Last-Event-ID`` continues behind that one.

        The id of an event is the decision's offset in the log.
        """
        name = request.path_params["group"]
        try:
            after = int(request.headers.get("last-event-id", "-1"))
        except ValueError:
            return refused(400, "Last-Event-ID", "it is no offset.", "Leave it out.")
        if await run_in_threadpool(self._held.group, name) is None:
            return await self.unknown.answer(request, name)
        refusal = self._streams.refusal
        if refusal is not None:
            return refusal.answer()
        reader = LiveReader(admitted(request.scope), INTERVAL_MS[0])
        try:
            events = self._decisions.events(name, after, reader)
            return self._streams.answer(events, reader.caller.enter_stream)
        except AccessError as error:
            return error.problem.answer()


def _paths(request: Request) -> list[str]:
    return [each.path for each in request.app.routes if isinstance(each, Route)]
