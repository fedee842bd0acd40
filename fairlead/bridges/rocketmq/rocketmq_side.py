"""A cluster of RocketMQ as the parts that all bridges share ask it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import structlog
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connections import Connections
from fairlead_client.remoting.remoting_error import RemotingError

from fairlead.bridges.answer import Answer
from fairlead.bridges.finding import Finding, Verdict
from fairlead.bridges.rocketmq.dead_locks import DeadLocks
from fairlead.bridges.rocketmq.member_looks import MemberLooks
from fairlead.bridges.rocketmq.route_book import RocketMQRouteBook
from fairlead.bridges.rocketmq.route_look import (
    ClusterView,
    RouteLook,
    TopicRefused,
    look_at_routes,
)
from fairlead.bridges.rocketmq.silent_servers import SilentServers
from fairlead.bridges.rocketmq.topic_lives import Fall, TopicLives
from fairlead.core.model import MessageQueue, Position, Route, RouteBroker
from fairlead.core.outputs import Request
from fairlead.core.records import OffsetsKnown, QueueOffsets, RouteChanged
from fairlead.core.topics.routes import readable_queues
from fairlead.errors import EnvironmentMissingError
from fairlead.rocketmq.answer_reading import read_answer
from fairlead.rocketmq.asking import Answer as Heard
from fairlead.rocketmq.asking import Question, ask_all
from fairlead.rocketmq.name_servers import ClusterInfo, NameServers
from fairlead.rocketmq.queue_offsets import QueueFacts, queue_facts
from fairlead.rocketmq.topic_ends import (
    QueueEnd,
    earliest_time,
    earliest_time_request,
    topic_ends,
    topic_ends_request,
)

__all__ = ["RocketMQSide"]

_MASTER: Final = "0"

log = structlog.get_logger(__name__)


class RocketMQSide:
    """Looks and look-ups on one cluster of RocketMQ.

    Args:
        cluster: the cluster's name.
        connections: to all its servers.
        addresses: the name servers.
        published: the published routes, and the rule for the next one.
        silent: who did not answer.
        members: the groups whose members the engine wants to know.
        confirm_ms: how long a loss must last before it counts.
        timeout_s: how long an answer may take, in seconds.
    """

    def __init__(
        self,
        cluster: str,
        connections: Connections,
        addresses: tuple[str, ...],
        published: RocketMQRouteBook,
        *,
        silent: SilentServers,
        members: MemberLooks,
        confirm_ms: int,
        timeout_s: float,
    ) -> None:
        self._cluster = cluster
        self._connections = connections
        self._addresses = addresses
        self._published = published
        self._timeout_s = timeout_s
        self._silent = silent
        self._members = members
        self._lives = TopicLives(confirm_ms=confirm_ms)
        self._locks = DeadLocks(self._ask)

    def names(self) -> Iterable[str] | None:
        """Return the names of all topics; None if that failed."""
        try:
            return self._name_servers().topics()
        except EnvironmentMissingError as error:
            log.warning("look_up_failed", error=str(error))
            return None

    def find(
        self, topics: Sequence[str], *, now_ms: int, requested: Collection[str]
    ) -> list[Finding]:
        """Look at these topics, and return what each look means, in their order."""
        looks = self._look(topics)
        self._note_ends(looks, now_ms)
        findings = [
            self._published.find(look, now_ms=now_ms, requested=look.topic in requested)
            for look in looks
        ]
        for finding in findings:
            if finding.verdict in (Verdict.NEW, Verdict.DELETED):
                self._lives.begin(finding.topic)
        return findings

    def more_routes(self) -> Sequence[RouteChanged]:
        """Return nothing: a topic of RocketMQ has its own route, TBW102 too."""
        return ()

    def takes(self, request: Request, *, now_ms: int) -> bool:
        """Note whose members are wanted, and whose locks end; tell whether to answer otherwise.

        RocketMQ's brokers make retry topics themselves, and keep those of a forgotten group. The
        bridge tells its members until nobody asks: another program may have said that it is.
        """
        if request.what == "members":
            self._members.want(request.group, request.topic, now_ms=now_ms)
        elif request.what == "unlock":
            self._locks.note(request)
        return request.what not in ("members", "forgotten", "unlock")

    def asked_queues(self, request: Request, route: Route) -> list[MessageQueue]:
        """Return the readable queues that a request for offsets means."""
        queues = readable_queues(route)
        if request.queues is None:
            return list(queues)
        asked = {*request.queues}
        return [queue for queue in queues if queue in asked]

    def answers(
        self, route: Route, wanted: Sequence[tuple[Request, list[MessageQueue]]]
    ) -> list[Answer] | None:
        """Look offsets up on the masters; a queue whose commit is unknown has no entry."""
        masters = self._silent.without(dict(_masters_of(route.brokers)))
        found = [
            queue_facts(
                self._connections,
                masters,
                request.group,
                queues,
                timestamp_ms=request.consume_timestamp_ms,
                timeout_s=self._timeout_s,
            )
            for request, queues in wanted
        ]
        ends = {queue: facts.latest for each in found for queue, facts in each.items()}
        if self._lives.falls(route.topic, ends):
            return None
        return [
            _answer(request, route, queues, facts)
            for (request, queues), facts in zip(wanted, found, strict=True)
        ]

    def work(self, *, now_ms: int) -> None:
        """Free locks, tell who is in groups, and ask silent servers whether they answer again."""
        self._locks.work(self._masters)
        self._members.work(now_ms=now_ms)
        self._silent.work(self._needed)

    def _needed(self) -> Iterator[str]:
        """Return the servers that are asked: also those of brokers that are away."""
        yield from self._addresses
        for topic in self._published.own_topics():
            route = self._published.own_route(topic)
            yield from dict(_masters_of(route.brokers if route else ())).values()

    def _masters(self, topic: str) -> Mapping[str, str]:
        """Return broker name -> address of the masters that answer and have this topic."""
        route = self._published.own_route(topic)
        return self._silent.without(dict(_masters_of(route.brokers if route else ())))

    def _name_servers(self) -> NameServers:
        answering = self._silent.answering(self._addresses)
        return NameServers(self._connections, answering, self._timeout_s)

    def _look(self, topics: Sequence[str]) -> list[RouteLook | TopicRefused]:
        seen = self._name_servers().look(tuple(topics))
        for address, info in seen.infos.items():
            if isinstance(info, RemotingError):
                self._silent.note_answer(address, info)
        for error in seen.unread:
            self._silent.note_answer(error.address, error)
        view = self._view([each for each in seen.infos.values() if isinstance(each, ClusterInfo)])
        return [look_at_routes(topic, seen.routes[topic], view) for topic in topics]

    def _view(self, infos: Sequence[ClusterInfo]) -> ClusterView:
        registered = {name for info in infos for name in info.clusters.get(self._cluster, ())}
        return ClusterView(self._cluster, len(self._addresses), len(infos), frozenset(registered))

    def _note_ends(self, looks: Sequence[RouteLook | TopicRefused], now_ms: int) -> None:
        """Ask the masters where published topics end now: that shows another life of a topic."""
        asked = [
            (look.topic, address)
            for look in looks
            if isinstance(look, RouteLook) and self._published.own_route(look.topic) is not None
            for address in self._silent.without(dict(_masters_of(look.brokers))).values()
        ]
        questions = [Question(address, topic_ends_request(topic)) for topic, address in asked]
        heard = ask_all(self._connections, questions, self._timeout_s)
        ends: dict[str, dict[MessageQueue, QueueEnd]] = defaultdict(dict)
        for (topic, address), answer in zip(asked, heard, strict=True):
            found = read_answer(address, answer, topic_ends)
            if isinstance(found, RemotingError):
                self._silent.note_answer(address, found)
            else:
                ends[topic] |= found
        for topic, of_topic in ends.items():
            fallen = self._lives.note(topic, of_topic, now_ms=now_ms)
            if fallen:
                self._judge(topic, fallen)

    def _judge(self, topic: str, fallen: Sequence[MessageQueue]) -> None:
        """Decide whether ends fell because the topic was made again."""
        masters = self._masters(topic)
        asked = [queue for queue in fallen if queue.broker_name in masters]
        heard = self._ask(
            [Question(masters[each.broker_name], earliest_time_request(each)) for each in asked]
        )
        begins = {
            queue: earliest_time(answer)
            for queue, answer in zip(asked, heard, strict=True)
            if isinstance(answer, Command)
        }
        fall = self._lives.judge(topic, begins)
        if fall is Fall.MADE_AGAIN:
            self._published.end_life(topic)
            self._lives.begin(topic)
        log.warning("ends_fell", topic=topic, queues=len(fallen), why=str(fall))

    def _ask(self, questions: Sequence[Question]) -> list[Heard]:
        heard = ask_all(self._connections, questions, self._timeout_s)
        for question, answer in zip(questions, heard, strict=True):
            self._silent.note_answer(question.address, answer)
        return heard


def _masters_of(brokers: Iterable[RouteBroker]) -> Iterator[tuple[str, str]]:
    """Return broker name -> address of the master; a slave lags, so it is never asked.

    A name server of 5.x tells an acting master under the master's number
    (RouteInfoManager#pickupTopicRouteData).
    """
    for broker in brokers:
        if _MASTER in broker.addresses:
            yield broker.broker_name, broker.addresses[_MASTER]


def _answer(
    request: Request,
    route: Route,
    queues: Sequence[MessageQueue],
    found: Mapping[MessageQueue, QueueFacts],
) -> Answer:
    """Return the record of a request; a commit of RocketMQ carries no reset, so it has 0."""
    entries = tuple(
        QueueOffsets(
            queue,
            facts.earliest,
            max(facts.latest, facts.for_time or 0),
            None if facts.committed is None else Position(0, facts.committed),
            _for_time(request.consume_timestamp_ms, facts),
        )
        for queue in queues
        if (facts := found.get(queue)) is not None
    )
    left = tuple(queue for queue in queues if queue not in found)
    known = OffsetsKnown(request.group, route.topic, route.identity, entries) if entries else None
    return Answer(known, left)


def _for_time(timestamp_ms: int | None, facts: QueueFacts) -> tuple[int, int] | None:
    if timestamp_ms is None or facts.for_time is None:
        return None
    return timestamp_ms, facts.for_time
