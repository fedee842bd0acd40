"""The paths of native groups: read only, from the newest look at each cluster."""

import time
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead.console.answers import json_answer, observed, refused
from fairlead.native.native_view import NativeView

__all__ = ["NativeApi"]

_NS_PER_MS: Final = 1_000_000


class NativeApi:
    """Answers from a view.

    Args:
        view: what is known of native groups.
    """

    def __init__(self, view: NativeView) -> None:
        self._view = view

    @property
    def routes(self) -> list[Route]:
        """The paths."""
        return [
            Route("/api/v1/native", self.groups),
            Route("/api/v1/native/{native}/groups/{group}", self.group),
        ]

    async def groups(self, request: Request) -> Response:
        """List the native groups that the caller may observe, and how each cluster is seen."""
        groups = await run_in_threadpool(self._view.groups)
        return json_answer(
            {
                "now_ms": time.time_ns() // _NS_PER_MS,
                "native_sources": [each.to_json() for each in self._view.sources()],
                "native_groups": observed(request, [each.summary() for each in groups]),
            }
        )

    async def group(self, request: Request) -> Response:
        """Describe one native group, with its history."""
        kind, name = request.path_params["native"], request.path_params["group"]
        found = await run_in_threadpool(self._view.group, kind, name)
        if found is not None:
            return json_answer(found.to_json())
        return refused(
            404,
            "group",
            f"no look at {kind} has seen a native group {name}.",
            "GET /api/v1/native lists all, and says which clusters are looked at.",
        )
