"""A group as it stood at a moment in the past."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead.console.answers import json_answer, refused
from fairlead.console.parts import ConsoleParts
from fairlead.console.request_fields import BadFieldError, number_of
from fairlead.console.topic_questions import TopicQuestions, caller_of
from fairlead.history.formatting import time_words
from fairlead.history.past_group import ForgottenMomentError, PastQuestion, read_past
from fairlead.history.ribbons import Ribbons
from fairlead.http.problems import Problem
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.live_group import UnknownGroupError
from strategies.own_strategies import all_strategies

__all__ = ["PastApi", "Present"]

_HISTORY_MS: Final = 3_600_000
"""Read decisions from so long before the moment: what led to the last one."""
_CLOCKS_APART_MS: Final = 60_000
"""The clock of a browser may go ahead by this."""

Present = Callable[[Request], Awaitable[Response]]


class PastApi:
    """Describes a group as it stands, or with ``at_ms`` as it stood.

    Args:
        parts: what the answers are made from.
        ribbons: the ribbons of the groups.
        topics: asks the topics.
        present: describes a group as it stands.
    """

    def __init__(
        self, parts: ConsoleParts, ribbons: Ribbons, topics: TopicQuestions, present: Present
    ) -> None:
        self._parts, self._ribbons = parts, ribbons
        self._topics, self._present = topics, present
        self._strategies = all_strategies(parts.settings.engine.strategies)

    @property
    def routes(self) -> list[Route]:
        """The paths."""
        return [Route("/api/v1/groups/{group}", self.group)]

    async def group(self, request: Request) -> Response:
        """Describe one group; ``at_ms``: as it stood at this moment."""
        name, now_ms = request.path_params["group"], time.time_ns() // 1_000_000
        try:
            at_ms = number_of(request, "at_ms", "Give milliseconds since 1970, or leave it out.")
        except BadFieldError as error:
            return error.problem.answer()
        if at_ms is None:
            return await self._present(request)
        if at_ms > now_ms + _CLOCKS_APART_MS:
            says = "that moment has not come yet."
            return refused(400, "at_ms", says, "Give an earlier one, or leave it out.")
        asked = await run_in_threadpool(self._asked, name, min(at_ms, now_ms), now_ms)
        if asked is None:
            return await self._parts.unknown.answer(request, name)

        def told(source: TopicSource) -> dict[str, Any]:
            return read_past(source, asked).to_json()

        try:
            found = await self._topics.ask(caller_of(request), told)
        except UnknownGroupError:
            says = f"the group was not there at {time_words(at_ms)}."
            return Problem(404, "unknown_moment", f"at_ms: {says}", _LATER, "at_ms").answer()
        except ForgottenMomentError as error:
            return _forgotten(at_ms, error.oldest_ms).answer()
        return found.answer() if isinstance(found, Problem) else json_answer(found)

    def _asked(self, name: str, at_ms: int, now_ms: int) -> PastQuestion | None:
        """Return the question about a moment; None: there is no such group."""
        decisions = self._parts.view.query(lambda view: view.decisions(name), None)
        ribbon = self._ribbons.ask(name, lambda fold: fold.whole(now_ms), now_ms)
        if decisions is None or ribbon is None:
            return None
        then = [each for each in decisions if each.append_ms <= at_ms and not each.superseded]
        return PastQuestion(
            at_ms=at_ms,
            ribbon=ribbon,
            placed=then[-1].members if then else (),
            strategies=self._strategies,
            tick_ms=self._parts.settings.engine.tick_ms,
            history_ms=_HISTORY_MS,
        )


_LATER: Final = "Give a later moment."


def _forgotten(at_ms: int, oldest_ms: int) -> Problem:
    return Problem(
        410,
        "forgotten_moment",
        f"at_ms: what was at {time_words(at_ms)} is not kept any more; the oldest moment is "
        f"{time_words(oldest_ms)}.",
        _LATER,
        "at_ms",
        more={"oldest_ms": oldest_ms},
    )
