"""Answers requests: publishes the route, or looks up offsets and publishes them."""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

import structlog
from fairlead_client.session.topic_names import retried_group

from fairlead.bridges.answer import Answer
from fairlead.bridges.cluster_side import ClusterSide, PublishedRoutes
from fairlead.bridges.control_topics import ControlTopics
from fairlead.bridges.finding import Verdict
from fairlead.bridges.request_book import RequestBook
from fairlead.bridges.route_publisher import Refreshed, RoutePublisher
from fairlead.bridges.watch_list import WatchList
from fairlead.core.model import MessageQueue, Route
from fairlead.core.outputs import Request
from fairlead.core.records import TopicAbsent
from fairlead.core.topics.routes import queue_count
from fairlead.wire.encode_bridge import encode_absent, encode_offsets
from fairlead.wire.topics import TopicNames

__all__ = ["RequestAnswerer", "steps"]

_ROUTE: Final = frozenset(("route", "retry"))
"""Requests that the route answers; for ``retry`` the bridge first creates a missing topic."""

_TURN_S: Final = 0.5
"""The longest turn; requests that arrive meanwhile are in the next one."""
_TOGETHER: Final = 16
"""The most requests for few queues of a topic that share a look-up of its bounds."""
_QUEUES_TOGETHER: Final = 4_096
"""The most queues per step, unless a single request has more; a step takes parts of a second."""

log = structlog.get_logger(__name__)


class RequestAnswerer:
    """Takes requests and answers those that are due.

    Args:
        cluster: the cluster's name in the answer that it lacks a topic.
        names: the names of Fairlead's topics.
        side: the cluster that carries the messages.
        control: Fairlead's topics.
        routes: publishes routes.
        book: the requests that wait.
        published: the published routes and their owners.
        watched: the topics to watch.
    """

    def __init__(
        self,
        *,
        cluster: str,
        names: TopicNames,
        side: ClusterSide,
        control: ControlTopics,
        routes: RoutePublisher,
        book: RequestBook,
        published: PublishedRoutes,
        watched: WatchList,
    ) -> None:
        self._cluster = cluster
        self._names = names
        self._side = side
        self._control = control
        self._routes = routes
        self._book = book
        self._published = published
        self._watched = watched

    def note(self, requests: Sequence[Request], *, now_ms: int) -> None:
        """Note requests, except those for other clusters' topics, which their bridges answer."""
        for request in requests:
            topic = request.topic
            if self._published.is_foreign(topic) and not self._watched.is_configured(topic):
                continue
            if self._side.takes(request, now_ms=now_ms):
                self._watched.ask(topic, now_ms=now_ms)
                self._book.add(request, now_ms=now_ms)

    def answer_due(self, *, now_ms: int) -> None:
        """Answer due requests, the newest first; put off those that cannot be answered.

        It stops at its time limit: the rest is due in the next turn, after newer requests. One
        request takes some milliseconds, even for an invented group.
        """
        end_s = time.monotonic() + _TURN_S
        due: dict[str, list[Request]] = defaultdict(list)
        for request in reversed(self._book.due(now_ms=now_ms)):
            due[request.topic].append(request)
        lacking = {
            topic for topic, asked in due.items() if any(one.what in _ROUTE for one in asked)
        }
        refreshed = self._routes.refresh(sorted(due), now_ms=now_ms, requested=lacking)
        for topic, asked in due.items():
            route = refreshed[topic].finding.route
            for step in steps(asked, 0 if route is None else queue_count(route)):
                self._answer_topic(step, refreshed[topic], now_ms)
                if time.monotonic() > end_s:
                    return

    def _answer_topic(self, requests: list[Request], refreshed: Refreshed, now_ms: int) -> None:
        route = refreshed.finding.route
        wanted: list[tuple[Request, list[MessageQueue]]] = []
        for request in requests:
            if (
                refreshed.finding.verdict is Verdict.ABSENT
                and request.what == "route"
                and retried_group(request.topic) == request.group
            ):
                # The topic does not exist yet; it is watched, so its route will be published.
                self._book.answered(request)
                continue
            if refreshed.finding.verdict is Verdict.ABSENT:
                self._tell_absent(request)
            if route is None or not refreshed.written:
                self._book.put_off(request, now_ms=now_ms)
            elif request.what in _ROUTE:
                self._book.answered(request)
            elif queues := self._side.asked_queues(request, route):
                wanted.append((request, queues))
            else:
                log.info("request_for_no_queue", group=request.group, topic=request.topic)
                self._book.answered(request)
        if route is not None and wanted:
            self._answer_offsets(wanted, route, now_ms)

    def _tell_absent(self, request: Request) -> None:
        """Answer each request once with: the cluster does not have the topic."""
        group, topic = request.group, request.topic
        if self._book.is_told_absent(request) or retried_group(topic) == group:
            return
        absent = TopicAbsent(group, topic, self._cluster)
        if all(self._control.write([encode_absent(absent, self._names)])):
            self._book.told_absent(request)
            log.info("topic_absent", group=group, topic=topic)

    def _answer_offsets(
        self, wanted: list[tuple[Request, list[MessageQueue]]], route: Route, now_ms: int
    ) -> None:
        given = self._side.answers(route, wanted)
        if given is None:
            for request, _ in wanted:
                self._book.put_off(request, now_ms=now_ms)
            return
        answers = [(request, one) for (request, _), one in zip(wanted, given, strict=True)]
        for (request, one), written in zip(answers, self._write(answers), strict=True):
            self._settle(request, one, now_ms, written=written)

    def _write(self, answers: list[tuple[Request, Answer]]) -> list[bool]:
        """Write all answers together; return for each whether it is completely written."""
        records = [
            [] if given.record is None else encode_offsets(given.record, self._names)
            for _, given in answers
        ]
        acknowledged = iter(self._control.write([one for several in records for one in several]))
        return [all(list(islice(acknowledged, len(several)))) for several in records]

    def _settle(self, request: Request, given: Answer, now_ms: int, *, written: bool) -> None:
        """Remove an answered request, or keep its unanswered part."""
        if not written:
            self._book.put_off(request, now_ms=now_ms)
            return
        answered = 0 if given.record is None else len(given.record.queues)
        if not given.left:
            self._book.answered(request)
        elif not self._book.put_off(request, now_ms=now_ms, left=given.left) and not answered:
            # A broker that is away for an hour would fill the log.
            return
        log.info(
            "request_answered" if answered else "request_put_off",
            group=request.group,
            topic=request.topic,
            queues=answered,
            left=len(given.left),
        )


def steps(asked: Sequence[Request], queues: int) -> Iterator[list[Request]]:
    """Divide requests for a topic with this many queues into groups to answer together."""
    step: list[Request] = []
    named = 0
    for request in asked:
        more = queues if request.queues is None else len(request.queues)
        if step and (len(step) == _TOGETHER or named + more > _QUEUES_TOGETHER):
            yield step
            step, named = [], 0
        step.append(request)
        named += more
    if step:
        yield step
