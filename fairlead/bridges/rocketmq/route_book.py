"""Decides which route record follows from a look at a topic of RocketMQ.

What is new is published at once. What is missing (the topic, a broker, queues) must be missing in a
look with answers of all name servers, and in another one after ``confirm_ms``.

RocketMQ's topics have no id. The bridge gives each a life id, so that offsets of a deleted topic
never count for the next one of its name.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from fairlead.bridges.finding import Finding, Verdict
from fairlead.bridges.rocketmq.route_look import RouteLook, TopicRefused
from fairlead.core.model import MessageQueue, Route, RouteBroker
from fairlead.core.records import RouteChanged

__all__ = ["RocketMQRouteBook"]

_FALLEN: Final = "fallen"


@dataclass(frozen=True, slots=True)
class _Suspicion:
    """What seems to be lost, first seen at ``since_ms``."""

    what: object
    since_ms: int


class RocketMQRouteBook:
    """The published routes, and the rule for the next one.

    Args:
        cluster: the cluster whose brokers count.
        confirm_ms: how long a loss must last before it is published.
        new_life: makes a life id, another one at each call.
    """

    def __init__(self, cluster: str, *, confirm_ms: int, new_life: Callable[[], str]) -> None:
        self._cluster = cluster
        self._confirm_ms = confirm_ms
        self._new_life = new_life
        self._published: dict[str, Route] = {}
        self._losses: dict[str, _Suspicion] = {}
        self._falls: dict[str, _Suspicion] = {}
        self._ends: dict[str, dict[MessageQueue, int]] = {}
        self._ended_lives: set[str] = set()

    def note(self, change: RouteChanged) -> None:
        """Note a record of the routes topic: read at start, or written since."""
        before = self._published.pop(change.topic, None)
        if change.route is not None:
            self._published[change.topic] = change.route
        if before is None or change.route is None or before.identity != change.route.identity:
            self._ends.pop(change.topic, None)
            self._falls.pop(change.topic, None)
            self._ended_lives.discard(change.topic)

    def own_topics(self) -> Iterator[str]:
        """Return the topics whose published route is this cluster's."""
        return (topic for topic, route in self._published.items() if self._is_own(route))

    def note_ends(self, topic: str, ends: Mapping[MessageQueue, int], *, now_ms: int) -> None:
        """Note the ends of queues, as masters report them.

        An end below a former one shows another topic of the same name, or a broker that lost
        messages. If it is still below after ``confirm_ms``, the next route has another life id.
        """
        known = self._ends.setdefault(topic, {})
        fallen = [queue for queue, end in ends.items() if end < known.get(queue, 0)]
        if not fallen:
            if ends.keys() >= known.keys():
                self._falls.pop(topic, None)
            for queue, end in ends.items():
                known[queue] = end
        elif self._lasts(self._falls, topic, _FALLEN, now_ms):
            self._ended_lives.add(topic)

    def find(
        self, look: RouteLook | TopicRefused, *, now_ms: int, requested: bool = False
    ) -> Finding:
        """Decide what a look means.

        Args:
            look: the look.
            now_ms: a monotonic clock.
            requested: somebody lacks the route, so publish it even if unchanged.
        """
        topic = look.topic
        if isinstance(look, TopicRefused):
            return Finding(topic, Verdict.UNCLEAR)
        published = self._published.get(topic)
        if not look.brokers:
            return self._find_absent(look, published, now_ms)
        if published is not None and not self._is_own(published):
            # Another bridge has given this name a life; two bridges must not take turns.
            return Finding(topic, Verdict.UNCLEAR)
        if published is None:
            route = Route(topic, self._new_life(), look.brokers, look.order_conf)
            return Finding(topic, Verdict.NEW, route, RouteChanged(topic, route))
        if _lost(published.brokers, look.brokers):
            if not look.complete:
                return Finding(topic, Verdict.UNCLEAR)
            if not self._lasts(self._losses, topic, look.brokers, now_ms):
                return Finding(topic, Verdict.UNCONFIRMED)
        else:
            self._losses.pop(topic, None)
        life = self._new_life() if topic in self._ended_lives else published.identity
        route = Route(topic, life, look.brokers, look.order_conf)
        if route != published:
            return Finding(topic, Verdict.CHANGED, route, RouteChanged(topic, route))
        again = RouteChanged(topic, route) if requested else None
        return Finding(topic, Verdict.UNCHANGED, route, again)

    def _find_absent(self, look: RouteLook, published: Route | None, now_ms: int) -> Finding:
        if not look.complete:
            return Finding(look.topic, Verdict.UNCLEAR)
        if published is None or not self._is_own(published):
            return Finding(look.topic, Verdict.ABSENT)
        if not self._lasts(self._losses, look.topic, (), now_ms):
            return Finding(look.topic, Verdict.UNCONFIRMED)
        self._losses.pop(look.topic, None)
        return Finding(look.topic, Verdict.DELETED, None, RouteChanged(look.topic, None))

    def _lasts(
        self, suspicions: dict[str, _Suspicion], topic: str, what: object, now_ms: int
    ) -> bool:
        """Tell whether every look has shown the same loss for long enough."""
        suspicion = suspicions.get(topic)
        if suspicion is None or suspicion.what != what:
            suspicion = suspicions[topic] = _Suspicion(what, now_ms)
        return now_ms - suspicion.since_ms >= self._confirm_ms

    def _is_own(self, route: Route) -> bool:
        return any(broker.cluster == self._cluster for broker in route.brokers)


def _lost(before: tuple[RouteBroker, ...], now: tuple[RouteBroker, ...]) -> bool:
    """Tell whether a broker, or queues of one, are missing now."""
    queues = {broker.broker_name: broker.read_queue_nums for broker in now}
    return any(queues.get(each.broker_name, -1) < each.read_queue_nums for each in before)
