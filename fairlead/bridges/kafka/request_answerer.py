"""Answers requests: publishes the route, or looks up offsets and publishes them."""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

import structlog
from fairlead_client.session.topic_names import retried_group

from fairlead.bridges.finding import Verdict
from fairlead.bridges.kafka.answer import Answer, OffsetLookup, answer, asked_partitions
from fairlead.bridges.kafka.control_topics import ControlTopics
from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.bridges.kafka.request_book import RequestBook
from fairlead.bridges.kafka.retry_topics import RetryTopics
from fairlead.bridges.kafka.route_book import RouteBook
from fairlead.bridges.kafka.route_publisher import Refreshed, RoutePublisher
from fairlead.bridges.kafka.watch_list import WatchList
from fairlead.core.outputs import Request
from fairlead.core.records import TopicAbsent
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
        cluster: the cluster's name, the broker name of its queues.
        names: the names of Fairlead's topics.
        data: the cluster that carries the messages.
        control: Fairlead's topics.
        routes: publishes routes.
        book: the requests that wait.
        published: the published routes and their owners.
        watched: the topics to watch.
        retries: creates the retry topics that groups ask for.
    """

    def __init__(
        self,
        *,
        cluster: str,
        names: TopicNames,
        data: DataCluster,
        control: ControlTopics,
        routes: RoutePublisher,
        book: RequestBook,
        published: RouteBook,
        watched: WatchList,
        retries: RetryTopics,
    ) -> None:
        self._cluster = cluster
        self._names = names
        self._data = data
        self._control = control
        self._routes = routes
        self._book = book
        self._published = published
        self._watched = watched
        self._retries = retries

    def note(self, requests: Sequence[Request], *, now_ms: int) -> None:
        """Note requests, except those for other clusters' topics, which their bridges answer."""
        for request in requests:
            topic = request.topic
            if self._published.is_foreign(topic) and not self._watched.is_configured(topic):
                continue
            if request.what == "forgotten":
                self._retries.forgotten(request.group, now_ms=now_ms)
                continue
            self._watched.ask(topic, now_ms=now_ms)
            self._retries.note(request.group, topic)
            if request.what == "retry":
                self._retries.want(request.group, topic)
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
            for step in steps(asked, len(refreshed[topic].leaders)):
                self._answer_topic(step, refreshed[topic], now_ms)
                if time.monotonic() > end_s:
                    return

    def _answer_topic(self, requests: list[Request], refreshed: Refreshed, now_ms: int) -> None:
        route = refreshed.finding.route
        wanted: list[tuple[Request, list[int]]] = []
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
            elif partitions := asked_partitions(request, route, self._cluster):
                wanted.append((request, partitions))
            else:
                log.info("request_for_no_queue", group=request.group, topic=request.topic)
                self._book.answered(request)
        if route is not None and wanted:
            self._answer_offsets(wanted, refreshed, route.identity, now_ms)

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
        self,
        wanted: list[tuple[Request, list[int]]],
        refreshed: Refreshed,
        identity: str,
        now_ms: int,
    ) -> None:
        topic = refreshed.finding.topic
        lookups = self._look_up(topic, wanted, refreshed)
        # Only now it is certain that all look-ups were of one identity of the topic.
        if self._data.identity(topic) != identity:
            for request, _ in wanted:
                self._book.put_off(request, now_ms=now_ms)
            return
        answers = [
            (request, answer(request, identity, self._cluster, partitions, lookup))
            for (request, partitions), lookup in zip(wanted, lookups, strict=True)
        ]
        for (request, given), written in zip(answers, self._write(answers), strict=True):
            self._settle(request, given, now_ms, written=written)

    def _write(self, answers: list[tuple[Request, Answer]]) -> list[bool]:
        """Write all answers together; return for each whether it is completely written."""
        records = [
            [] if given.record is None else encode_offsets(given.record, self._names)
            for _, given in answers
        ]
        acknowledged = iter(self._control.write([one for several in records for one in several]))
        return [all(list(islice(acknowledged, len(several)))) for several in records]

    def _look_up(
        self, topic: str, wanted: list[tuple[Request, list[int]]], refreshed: Refreshed
    ) -> list[OffsetLookup]:
        """Return one look-up per request; all share the bounds, each has its group's commits."""
        asked = {partition for _, partitions in wanted for partition in partitions}
        leaders = {
            partition: leader
            for partition, leader in refreshed.leaders.items()
            if partition in asked
        }
        timestamps = sorted(
            {
                request.consume_timestamp_ms
                for request, _ in wanted
                if request.consume_timestamp_ms is not None
            }
        )
        bounds, for_times = self._data.bounds(topic, leaders, timestamps)
        return [
            OffsetLookup(
                bounds.earliest,
                bounds.latest,
                for_times.get(request.consume_timestamp_ms or 0, {}),
                self._data.committed(request.group, topic, partitions),
            )
            for request, partitions in wanted
        ]

    def _settle(self, request: Request, given: Answer, now_ms: int, *, written: bool) -> None:
        """Remove an answered request, or keep its unanswered part."""
        if not written:
            self._book.put_off(request, now_ms=now_ms)
            return
        if given.left:
            self._book.put_off(request, now_ms=now_ms, left=given.left)
        else:
            self._book.answered(request)
        answered = 0 if given.record is None else len(given.record.queues)
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
