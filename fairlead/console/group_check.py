"""What is wrong with one group, and what helps: the answer of `/api/v1/groups/{group}/check`."""

import time
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead.console.answers import NOT_READ, json_answer
from fairlead.console.parts import View
from fairlead.errors import FairleadError
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.observed.verdict import GroupVerdict, check_group, unreadable_group

__all__ = ["CheckApi", "checked_group"]

_DEFECT: Final = "this is a defect of fairlead; please report it with a recording of the topics"


def checked_group(view: ObservedGroups, group: str) -> GroupVerdict | None:
    """Return the verdict on a group, whatever its records are; None: nobody knows it."""
    try:
        standing = view.group(group, time.time_ns() // 1_000_000)
        return None if standing is None else check_group(standing)
    except FairleadError as error:
        return unreadable_group(group, error.message, error.remedy)
    except Exception as error:  # noqa: BLE001 - whatever one group does, the others are checked
        return unreadable_group(group, f"{type(error).__name__}: {error}", _DEFECT)


class CheckApi:
    """Answers what `fairlead group check` tells of one group.

    Args:
        view: what is known of all groups.
        unknown: answers that there is no such group.
    """

    def __init__(self, view: View, unknown: Callable[[Request, str], Awaitable[Response]]) -> None:
        self._view, self._unknown = view, unknown

    @property
    def routes(self) -> list[Route]:
        """The paths."""
        return [Route("/api/v1/groups/{group}/check", self.check)]

    async def check(self, request: Request) -> Response:
        """Say what is wrong with a group."""
        if not self._view.is_whole:
            return NOT_READ.answer()
        name = request.path_params["group"]
        verdict = await run_in_threadpool(
            self._view.query, lambda view: checked_group(view, name), None
        )
        return (
            await self._unknown(request, name)
            if verdict is None
            else json_answer(verdict.to_json())
        )
