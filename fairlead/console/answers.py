"""What the answers of the console and of `fairlead serve` share: JSON, refusals, who may see what.

The guard has checked the right for each path of a group. What names several groups is filtered
here, by the same principal.
"""

import asyncio
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final, Protocol

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from fairlead.access.guard import admitted
from fairlead.control.group_names import nearest_words
from fairlead.http.problems import Problem
from fairlead.wire.texts import GROUP

__all__ = [
    "DATA_HEADERS",
    "NOT_READ",
    "UnknownGroups",
    "json_answer",
    "may_observe",
    "observed",
    "refused",
]

DATA_HEADERS: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
"""Nothing on the way keeps what a login has shown, or takes it for anything but JSON."""
NOT_READ: Final = Problem(
    503,
    "not_read",
    "The server still reads what stands in the topics; until then nobody knows it.",
    "Ask again when /readyz answers 200.",
    headers={"retry-after": "1"},
)

_PLACE: Final = "in the topics that are served"
_ALL_GROUPS: Final = "GET /api/v1/groups lists all."


def json_answer(document: Any, status: int = 200) -> Response:
    """Return a document as JSON."""
    return Response(orjson.dumps(document), status, DATA_HEADERS, "application/json")


def refused(status: int, field: str, says: str, remedy: str) -> Response:
    """Return the refusal of a request with a wrong field."""
    kind = "unknown_group" if status == HTTPStatus.NOT_FOUND else "bad_field"
    return Problem(status, kind, f"{field}: {says}", remedy, field).answer()


def may_observe(request: Request, group: str) -> bool:
    """Tell whether the caller may observe a group."""
    return admitted(request.scope).principal.may("observe", group)


def observed(request: Request, groups: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return those of the documents whose ``group`` the caller may observe."""
    principal = admitted(request.scope).principal
    return [each for each in groups if principal.may("observe", each["group"])]


class _Groups(Protocol):
    def groups(self) -> list[dict[str, Any]]: ...


class UnknownGroups:
    """Answers whoever asks for a group that nobody knows.

    Args:
        view: lists the groups.
    """

    def __init__(self, view: _Groups) -> None:
        self._view = view
        self._one_search = asyncio.Semaphore(1)

    async def answer(self, request: Request, name: str) -> Response:
        """Return the refusal, with a name that the caller may observe and may have meant."""
        if not GROUP.allows(name):
            return refused(404, "group", f"no group has such a name ({GROUP.words}).", _ALL_GROUPS)
        # A search may take half a second: those who wait for one must not take threads from others.
        async with self._one_search:
            listed = observed(request, await run_in_threadpool(self._view.groups))
            known = [each["group"] for each in listed]
            near = await run_in_threadpool(nearest_words, name, known)
        remedy = f"{near}; {_ALL_GROUPS}" if near else "See /readyz, or start clients of the group."
        return refused(404, "group", f"there is no group {name} {_PLACE}.", remedy)
