"""How busy each group was in the last day, hour by hour: the answer of `/api/v1/history`."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead.console.answers import NOT_READ, json_answer, may_observe
from fairlead.console.parts import View
from fairlead.observed.activity import BUCKET_MS, GroupActivity, activity_since, group_activity
from fairlead.observed.observed_groups import ObservedGroups

__all__ = ["ActivityApi"]

_FRESH_S: Final = 5.0


class ActivityApi:
    """Answers `/api/v1/history`; callers share a look at all groups.

    Args:
        view: what is known of all groups.
        history_ms: for how long it remembers decisions.
        now_ms: the time, in milliseconds since 1970.
        clock: a monotonic clock in seconds.
    """

    def __init__(
        self,
        view: View,
        history_ms: int,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._view, self._now_ms, self._clock = view, now_ms, clock
        self._history_ms = history_ms
        self._one_look = asyncio.Lock()
        self._fresh_until: float | None = None
        self._since_ms = 0
        self._groups: Mapping[str, GroupActivity] = {}

    @property
    def routes(self) -> list[Route]:
        """The paths."""
        return [Route("/api/v1/history", self.history)]

    async def history(self, request: Request) -> Response:
        """Tell how much each group that the caller may observe decided and moved."""
        await self._freshen()
        if self._fresh_until is None:
            return NOT_READ.answer()
        since_ms, groups = self._since_ms, self._groups
        document: dict[str, Any] = {
            "since_ms": since_ms,
            "bucket_ms": BUCKET_MS,
            "groups": {
                name: each.to_json() for name, each in groups.items() if may_observe(request, name)
            },
        }
        return json_answer(document)

    async def _freshen(self) -> None:
        """Look again if the last look is old; one thread looks, and who waits holds none."""
        async with self._one_look:
            if self._fresh_until is None or self._clock() >= self._fresh_until:
                now_ms = self._now_ms()
                since_ms = activity_since(now_ms)
                kept_ms = now_ms - self._history_ms
                self._groups = await run_in_threadpool(
                    self._view.query, lambda view: _activities(view, since_ms, kept_ms), {}
                )
                self._since_ms, self._fresh_until = since_ms, self._clock() + _FRESH_S
            if not self._view.is_whole:
                # Half of the topics would show quiet hours that were none.
                self._fresh_until = None


def _activities(view: ObservedGroups, since_ms: int, kept_ms: int) -> Mapping[str, GroupActivity]:
    return {
        name: group_activity(view.fold(name).decided, since_ms, kept_ms) for name in view.names()
    }
