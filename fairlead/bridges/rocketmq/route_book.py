"""Decides which route record follows from a look at a topic of RocketMQ.

What is new is published at once. What is missing (the topic, a broker, queues) must be missing in a
look with answers of all name servers, and in another one after ``confirm_ms``. A broker that no
name server knows is away, and keeps its queues (ADR 0240).

RocketMQ's topics have no id. The bridge gives each a life id, so that offsets of a deleted topic
never count for the next one of its name.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from fairlead.bridges.finding import Finding, Verdict
from fairlead.bridges.rocketmq.route_look import RouteLook, TopicRefused
from fairlead.core.model import Route, RouteBroker
from fairlead.core.records import RouteChanged

__all__ = ["RocketMQRouteBook"]


@dataclass(frozen=True, slots=True)
class _Loss:
    """What seems to be left of a topic, first seen at ``since_ms``."""

    left: tuple[RouteBroker, ...]
    since_ms: int


class RocketMQRouteBook:
    """The published routes, and the rule for the next one.

    Args:
        cluster: the cluster whose brokers count.
        confirm_ms: how long a loss must last before it is published.
        away_ms: how long a broker that no name server knows keeps its queues while the topic has
            other brokers; without others it keeps them for good.
        new_life: makes a life id, another one at each call.
    """

    def __init__(
        self, cluster: str, *, confirm_ms: int, away_ms: int, new_life: Callable[[], str]
    ) -> None:
        self._cluster = cluster
        self._confirm_ms = confirm_ms
        self._away_ms = away_ms
        self._new_life = new_life
        self._published: dict[str, Route] = {}
        self._losses: dict[str, _Loss] = {}
        self._away: dict[str, int] = {}
        self._ended_lives: set[str] = set()

    def note(self, change: RouteChanged) -> None:
        """Note a record of the routes topic: read at start, or written since."""
        before = self._published.pop(change.topic, None)
        if change.route is not None:
            self._published[change.topic] = change.route
        if before is None or change.route is None or before.identity != change.route.identity:
            self._ended_lives.discard(change.topic)

    def own_topics(self) -> Iterator[str]:
        """Return the topics whose published route is this cluster's."""
        return (topic for topic, route in self._published.items() if self._is_own(route))

    def is_foreign(self, topic: str) -> bool:
        """Tell whether the published route of this topic is another cluster's."""
        route = self._published.get(topic)
        return route is not None and not self._is_own(route)

    def own_route(self, topic: str) -> Route | None:
        """Return the published route of this topic, if it is this cluster's."""
        route = self._published.get(topic)
        return route if route is not None and self._is_own(route) else None

    def end_life(self, topic: str) -> None:
        """Note that the topic was deleted and made again: its next route has another life id."""
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
        published = self._published.get(topic)
        if isinstance(look, TopicRefused):
            return Finding(topic, Verdict.REFUSED, why=look.why)
        if not look.view.answered:
            return Finding(topic, Verdict.UNCLEAR, why="no name server answers")
        if published is not None and not self._is_own(published):
            return _foreign(look)
        brokers = self._with_away(look, published, now_ms)
        if published is None or not brokers:
            return self._find_without(replace(look, brokers=brokers), published, now_ms)
        unproven = self._unproven(look, published, brokers, now_ms)
        if unproven is not None:
            return unproven
        life = self._new_life() if topic in self._ended_lives else published.identity
        order_conf = look.order_conf if look.brokers else published.order_topic_conf
        route = Route(topic, life, brokers, order_conf)
        if route != published:
            return Finding(topic, Verdict.CHANGED, route, RouteChanged(topic, route))
        again = RouteChanged(topic, route) if requested else None
        return Finding(topic, Verdict.UNCHANGED, route, again)

    def _find_without(self, look: RouteLook, published: Route | None, now_ms: int) -> Finding:
        """Decide about a topic that has no route yet, or no brokers any more."""
        topic = look.topic
        if look.brokers:
            route = Route(topic, self._new_life(), look.brokers, look.order_conf)
            return Finding(topic, Verdict.NEW, route, RouteChanged(topic, route))
        if not look.view.complete:
            return self._unheard(look)
        if published is None:
            return Finding(topic, Verdict.ABSENT)
        if not self._lasts(topic, (), now_ms):
            return Finding(topic, Verdict.UNCONFIRMED)
        self._losses.pop(topic, None)
        return Finding(topic, Verdict.DELETED, None, RouteChanged(topic, None))

    def _unproven(
        self, look: RouteLook, published: Route, brokers: tuple[RouteBroker, ...], now_ms: int
    ) -> Finding | None:
        """Return the finding of a loss that is not proven yet; None: nothing is, or it is."""
        if not _lost(published.brokers, brokers):
            self._losses.pop(look.topic, None)
            return None
        if not look.view.complete:
            return self._unheard(look)
        proven = self._lasts(look.topic, brokers, now_ms)
        return None if proven else Finding(look.topic, Verdict.UNCONFIRMED)

    def _unheard(self, look: RouteLook) -> Finding:
        view = look.view
        why = f"{view.answered} of {view.servers} name servers answer"
        return Finding(look.topic, Verdict.UNCONFIRMED, why=why)

    def _with_away(
        self, look: RouteLook, published: Route | None, now_ms: int
    ) -> tuple[RouteBroker, ...]:
        """Return the brokers of a look, and published ones that are away, by name.

        A broker that restarts is unknown to the name servers meanwhile, as is every broker to a
        name server that restarts. Its queues must neither change owners nor begin another life.
        """
        seen = {broker.broker_name for broker in look.brokers}
        for name in look.view.registered:
            self._away.pop(name, None)
        kept: list[RouteBroker] = []
        for broker in () if published is None else published.brokers:
            name = broker.broker_name
            if name in seen or name in look.view.registered:
                continue
            since_ms = self._away.setdefault(name, now_ms)
            if not seen or not look.view.complete or now_ms - since_ms < self._away_ms:
                kept.append(broker)
        return tuple(sorted((*look.brokers, *kept), key=lambda broker: broker.broker_name))

    def _lasts(self, topic: str, left: tuple[RouteBroker, ...], now_ms: int) -> bool:
        """Tell whether every look has shown the same loss for long enough."""
        loss = self._losses.get(topic)
        if loss is None or loss.left != left:
            loss = self._losses[topic] = _Loss(left, now_ms)
        return now_ms - loss.since_ms >= self._confirm_ms

    def _is_own(self, route: Route) -> bool:
        return any(broker.cluster == self._cluster for broker in route.brokers)


def _foreign(look: RouteLook) -> Finding:
    if not look.brokers:
        return Finding(look.topic, Verdict.ABSENT)
    # Another bridge has given this name a life; two bridges must not take turns.
    return Finding(look.topic, Verdict.REFUSED, why="its route is another bridge's")


def _lost(before: tuple[RouteBroker, ...], now: tuple[RouteBroker, ...]) -> bool:
    """Tell whether a broker, or queues of one, are missing now."""
    queues = {broker.broker_name: broker.read_queue_nums for broker in now}
    return any(queues.get(each.broker_name, -1) < each.read_queue_nums for each in before)
