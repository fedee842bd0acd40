"""The paths of groups over HTTP: what `fairlead serve` knows of them, and what operators change.

Reading goes to the application that answers it under /api. All else runs on threads: it talks to
Kafka for seconds, while polls of clients go on.
"""

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import structlog

from fairlead.gateway.api import (
    Access,
    Caller,
    Scope,
    Send,
    problem_of_refusal,
)
from fairlead.gateway.callers import Receive, body_of_request, unless_gone
from fairlead.gateway.operations import Document, Operations, Operator
from fairlead.gateway.operator_threads import OperatorThreads
from fairlead.gateway.outputs import Refusal, forbidden
from fairlead.gateway.requests import body_of
from fairlead.gateway.routes import Found, methods_of, route_of
from fairlead.http.problems import Problem
from fairlead.json_text import json_text
from fairlead.wire.texts import GROUP, GROUP_OR_ALL

__all__ = ["NOTES", "OperatorApi", "notes_header"]

NOTES: Final = "fairlead-notes"
"""The header with what the command writes beside its document, as a list of JSON texts in ASCII."""
_NOTES_BYTES_MAX: Final = 4_000

log = structlog.get_logger(__name__)


class OperatorApi:
    """Answers the paths under /v1/groups, all but those that clients need.

    Args:
        access: who may.
        operations: carries out what operators ask for.
        others: answers what is read, under /api.
        counted: hears of each answer: the route, the status and the seconds.
    """

    def __init__(
        self,
        access: Access,
        operations: Operations,
        others: Any,
        counted: Callable[[str, int, float], None] = lambda *_: None,
    ) -> None:
        self._access, self._operations, self._others = access, operations, others
        self._counted = counted
        self._threads = OperatorThreads()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        found = route_of(scope["method"], scope["path"])
        if found is None:
            await _answer(_unknown(scope), scope, receive, send)
            return
        caller = self._access.caller(scope)
        refused = problem_of_refusal(caller) if isinstance(caller, Refusal) else None
        if not isinstance(caller, Refusal):
            refused = _may(caller, found)
        if refused is not None:
            await _answer(refused, scope, receive, send)
        elif found.route.reads:
            path = "/api" + scope["path"]
            await self._others({**scope, "path": path, "raw_path": path.encode()}, receive, send)
        else:
            assert not isinstance(caller, Refusal)
            await self._operate(found, caller, scope, receive, send)

    async def _operate(
        self, found: Found, caller: Caller, scope: Scope, receive: Receive, send: Send
    ) -> None:
        begun = time.monotonic()
        data = await body_of_request(receive)
        if data is None:
            return
        # What the thread has begun it ends: the log has it, or has not.
        answer = await unless_gone(self._carried_out(found, caller, data), receive, look_first=True)
        if answer is None:
            return
        self._counted(found.route.name, answer.status, time.monotonic() - begun)
        await _answer(answer, scope, receive, send)

    async def _carried_out(self, found: Found, caller: Caller, data: bytes) -> Document | Problem:
        route, parts = found
        body = None if route.body is None else body_of(route.body, data or b"{}")
        if isinstance(body, Refusal):
            return problem_of_refusal(body)
        operator = Operator(caller.name, partial(caller.may, "observe"))
        named = {name: part for name, part in parts.items() if name != "group"}
        method = getattr(self._operations, route.name)
        work = partial(method, parts["group"], body, operator, **named)
        try:
            return await self._threads.run(caller.name, work)
        except Exception:
            log.exception("operation_failed", route=route.name, group=parts["group"])
            return Problem(
                500,
                "failed",
                f"The gateway failed at {route.name}.",
                "Look for the cause in the log of the gateway.",
            )


def _may(caller: Caller, found: Found) -> Problem | None:
    """Return why a caller may not ask; None: it may."""
    route, group = found.route, found.parts.get("group")
    if group is None or route.right is None:
        return None
    kind = GROUP_OR_ALL if route.of_all else GROUP
    if not kind.allows(group) and not route.reads:
        detail = f"group: {group[:80]!r} is not {kind.words}."
        return Problem(422, "bad_field", detail, "Correct the path.", "group")
    if caller.may(route.right, group):
        return None
    return problem_of_refusal(forbidden(caller.name, route.right, group))


def _unknown(scope: Scope) -> Problem:
    methods = methods_of(scope["path"])
    if methods:
        detail = f"method: {scope['path'][:100]} does not answer {scope['method']}."
        allow = ", ".join(methods)
        return Problem(405, "unknown_method", detail, f"Use {allow}.", headers={"allow": allow})
    detail = f"path: there is nothing at {scope['path'][:100]}."
    return Problem(404, "unknown_path", detail, "docs/serve.md lists all paths.")


async def _answer(answer: Document | Problem, scope: Scope, receive: Receive, send: Any) -> None:
    if isinstance(answer, Problem):
        await answer.answer()(scope, receive, send)
        return
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    if answer.notes:
        headers.append((NOTES.encode(), notes_header(answer.notes)))
    start = {"type": "http.response.start", "status": answer.status, "headers": headers}
    await send(start)
    body = json_text(answer.document).encode()
    await send({"type": "http.response.body", "body": body})


def notes_header(notes: tuple[str, ...]) -> bytes:
    """Return notes as a header: JSON in ASCII; the first ones, if they are too long for one."""
    kept = list(notes)
    while len(written := _ascii(kept)) > _NOTES_BYTES_MAX and kept:
        kept.pop()
    return written


def _ascii(notes: list[str]) -> bytes:
    return json.dumps(notes).encode("ascii")
