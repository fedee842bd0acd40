"""Why a queue moved: one decision with its proof, and the story of one queue.

The records that prove it are read from the topics.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead.console.answers import json_answer
from fairlead.console.parts import ConsoleParts
from fairlead.console.request_fields import BadFieldError, number_of
from fairlead.console.topic_questions import TopicQuestions, caller_of
from fairlead.history.decision_explainer import DecisionExplainer
from fairlead.history.decision_past import DecisionPast, decision_past
from fairlead.history.decision_proving import prove
from fairlead.history.formatting import queue_words
from fairlead.history.queue_history import HistoryQuestion, queue_stories
from fairlead.history.queue_names import UnknownQueueError
from fairlead.history.ribbons import Ribbons
from fairlead.http.problems import Problem
from fairlead.kafka.caching_source import CachingSource
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.live_group import UnknownGroupError
from fairlead.observed.observed_groups import ObservedGroups
from strategies.own_strategies import all_strategies

__all__ = ["ProofApi"]

_DEPTH: Final = 1
_DEPTH_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class _Unremembered:
    """A decision that is not remembered; ``oldest``: the oldest that is; None: none is."""

    oldest: int | None


class ProofApi:
    """Answers with proof.

    Args:
        parts: what the answers are made from.
        ribbons: the ribbons of the groups.
        topics: asks the topics.
    """

    def __init__(self, parts: ConsoleParts, ribbons: Ribbons, topics: TopicQuestions) -> None:
        self._parts, self._ribbons, self._topics = parts, ribbons, topics
        self._strategies = all_strategies(parts.settings.engine.strategies)

    @property
    def routes(self) -> list[Route]:
        """The paths."""
        return [
            Route("/api/v1/groups/{group}/decisions/{offset:int}", self.decision),
            Route("/api/v1/groups/{group}/queues/{topic}/{broker}/{id:int}", self.queue),
        ]

    async def decision(self, request: Request) -> Response:
        """Tell why a decision was made, with the records behind it, and how queues went over."""
        name, offset = request.path_params["group"], request.path_params["offset"]
        past = await run_in_threadpool(self._past, name, offset)
        if past is None:
            return await self._parts.unknown.answer(request, name)
        if isinstance(past, _Unremembered):
            return _unremembered(offset, past).answer()

        def proved(source: TopicSource) -> dict[str, Any]:
            tick_ms = self._parts.settings.engine.tick_ms
            explainer = DecisionExplainer(CachingSource(source), name, self._strategies, tick_ms)
            return prove(explainer, past).to_json()

        found = await self._topics.ask(caller_of(request), proved)
        return found.answer() if isinstance(found, Problem) else json_answer(found)

    def _past(self, name: str, offset: int) -> DecisionPast | _Unremembered | None:
        decisions = self._parts.view.query(lambda view: view.decisions(name), None)
        if decisions is None:
            return None
        found = self._ribbons.ask(
            name, lambda fold: decision_past(fold, decisions, offset), time.time_ns() // 1_000_000
        )
        oldest = next((each.place.offset for each in decisions), None)
        return _Unremembered(oldest) if found is None else found

    async def queue(self, request: Request) -> Response:
        """Tell who has a queue, why, and who had it before; ``depth``: so many owners before."""
        path = request.path_params
        try:
            depth = number_of(request, "depth", "Leave it out for one.", _DEPTH_MAX)
        except BadFieldError as error:
            return error.problem.answer()
        question = await run_in_threadpool(
            self._question,
            path["group"],
            queue_words((path["topic"], path["broker"], path["id"])),
            _DEPTH if depth is None else depth,
        )
        if question is None:
            return await self._parts.unknown.answer(request, path["group"])
        try:
            found = await self._topics.ask(caller_of(request), _story_of(question))
        except UnknownGroupError:
            return await self._parts.unknown.answer(request, path["group"])
        except UnknownQueueError as error:
            says = f"queue: {error}."
            remedy = f"GET /api/v1/groups/{path['group']} lists its queues."
            return Problem(404, "unknown_queue", says, remedy, "queue").answer()
        return found.answer() if isinstance(found, Problem) else json_answer(found)

    def _question(self, name: str, queue: str, depth: int) -> HistoryQuestion | None:
        """Return the question about a queue; None: there is no such group."""
        settings, now_ms = self._parts.settings, time.time_ns() // 1_000_000

        def asked(view: ObservedGroups) -> HistoryQuestion | None:
            standing = view.group(name, now_ms)
            if standing is None:
                return None
            # How far the group is in its queues says the view, as everywhere in the console.
            places = {each.queue: each.place for each in standing.queues}
            return HistoryQuestion(
                name,
                [queue],
                depth,
                self._strategies,
                settings.engine.tick_ms,
                settings.serve.history_ms,
                places,
            )

        return self._parts.view.query(asked, None)


def _story_of(question: HistoryQuestion) -> Callable[[TopicSource], dict[str, Any]]:
    def told(source: TopicSource) -> dict[str, Any]:
        # Past and present must come from the same records.
        (story,) = queue_stories(CachingSource(source), question, lambda *_: None)
        return story.to_json()

    return told


def _unremembered(offset: int, why: _Unremembered) -> Problem:
    if why.oldest is None or offset > why.oldest:
        says = f"offset: no decision of the group begins at {offset}."
        return Problem(
            404, "unknown_decision", says, "See …/decisions for those there are.", "offset"
        )
    return Problem(
        410,
        "forgotten_decision",
        f"offset: the decision at {offset} is older than the oldest that is remembered, "
        f"{why.oldest}.",
        "`fairlead explain` reads older ones from the topic; serve.history_ms says how long they "
        "are remembered.",
        "offset",
    )
