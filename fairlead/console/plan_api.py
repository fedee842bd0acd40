"""Plan and apply over HTTP, with and without a gateway in the same process."""

from collections.abc import Callable
from functools import partial
from typing import Final, cast

import structlog
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead.access.guard import admitted
from fairlead.console.plan_bodies import ApplyBody
from fairlead.console.plan_operations import PlanOperations
from fairlead.gateway.api import problem_of_refusal
from fairlead.gateway.callers import Receive, unless_gone
from fairlead.gateway.operations import Document, Operator
from fairlead.gateway.operator_api import NOTES, notes_header
from fairlead.gateway.operator_requests import PlanBody
from fairlead.gateway.operator_threads import OperatorThreads
from fairlead.gateway.outputs import Refusal
from fairlead.gateway.requests import body_of
from fairlead.http.problems import Problem
from fairlead.json_text import json_text
from fairlead.wire.texts import GROUP

__all__ = ["PlanApi"]

_GROUP: Final = "/api/v1/groups/{group}"

log = structlog.get_logger(__name__)


class PlanApi:
    """Answers the paths of plans. The guard has checked the right: planning observes.

    Args:
        operations: works plans out, and applies them.
    """

    def __init__(self, operations: PlanOperations) -> None:
        self._operations = operations
        self._threads = OperatorThreads()

    @property
    def routes(self) -> list[Route]:
        """The paths."""
        return [
            Route(f"{_GROUP}/plan", self.plan, methods=["POST"]),
            Route(f"{_GROUP}/apply", self.apply, methods=["POST"]),
        ]

    async def plan(self, request: Request) -> Response:
        """Say what a change would move."""
        principal = admitted(request.scope).principal
        may_operate = principal.may("operate", request.path_params["group"])
        return await self._answer(
            request, PlanBody, partial(self._operations.plan, may_operate=may_operate)
        )

    async def apply(self, request: Request) -> Response:
        """Carry out a plan, if the group is still as planned."""
        return await self._answer(request, ApplyBody, self._operations.apply)

    async def _answer(
        self,
        request: Request,
        model: type[BaseModel],
        operation: Callable[..., Document | Problem],
    ) -> Response:
        group = request.path_params["group"]
        if not GROUP.allows(group):
            detail = f"group: {group[:80]!r} is not {GROUP.words}."
            return Problem(422, "bad_field", detail, "Correct the path.", "group").answer()
        body = body_of(model, await request.body() or b"{}")
        if isinstance(body, Refusal):
            return problem_of_refusal(body).answer()
        principal = admitted(request.scope).principal
        operator = Operator(principal.name, partial(principal.may, "observe"))
        work = self._threads.run(principal.name, partial(operation, group, body, operator))
        try:
            # What the thread has begun it ends: the log has it, or has not.
            done = await unless_gone(work, cast("Receive", request.receive), look_first=True)
        except Exception:
            log.exception("operation_failed", route=request.url.path, group=group)
            return Problem(
                500,
                "failed",
                "The server failed to plan, or to apply the plan.",
                "Look for the cause in the log of the server.",
            ).answer()
        if done is None:
            # Its caller has gone.
            return Response(status_code=499)
        return done.answer() if isinstance(done, Problem) else _response(done)


def _response(done: Document) -> Response:
    headers = {"cache-control": "no-store"}
    if done.notes:
        headers[NOTES] = notes_header(done.notes).decode()
    return Response(json_text(done.document), done.status, headers, "application/json")
