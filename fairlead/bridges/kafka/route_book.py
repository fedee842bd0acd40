"""Decides which route record follows from a look at a topic: none, the whole route, or a deletion.

The book holds, per topic, the route that the routes topic currently holds. Additions are published
at once. Losses are not believed at once, because any node may answer and a node may lag: a topic
that is gone, or has another identity, must show the same again after ``confirm_ms``. Fewer
partitions under one identity are impossible (Kafka only adds partitions), so such a look is old and
proves nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from fairlead.bridges.finding import Finding, Verdict
from fairlead.bridges.kafka.default_route import default_route
from fairlead.bridges.kafka.snapshot import Racks, TopicAbsent, TopicLook, TopicSeen, TopicUnclear
from fairlead.core.model import Route, RouteBroker
from fairlead.core.records import RouteChanged
from fairlead.wire.texts import DEFAULT_TOPIC

__all__ = ["RouteBook"]

_READ_AND_WRITE = 6


@dataclass(frozen=True, slots=True)
class _Suspicion:
    """A loss first seen at ``since_ms``: the topic is gone (identity None) or has another id."""

    identity: str | None
    since_ms: int


class RouteBook:
    """The published routes, and the rule for the next one.

    Args:
        cluster: the cluster's name: the broker name of all its queues.
        address: where clients connect to the cluster; the route has it as address 0.
        confirm_ms: how long a loss must last before it is published.
    """

    def __init__(self, cluster: str, address: str, *, confirm_ms: int) -> None:
        self._cluster = cluster
        self._address = address
        self._confirm_ms = confirm_ms
        self._published: dict[str, Route] = {}
        self._suspicions: dict[str, _Suspicion] = {}

    def note(self, change: RouteChanged) -> None:
        """Note a record of the routes topic: read at start, or written since."""
        if change.route is None:
            self._published.pop(change.topic, None)
        else:
            self._published[change.topic] = change.route

    def own_topics(self) -> Iterator[str]:
        """Return the topics whose published route is this cluster's, without TBW102."""
        return (
            topic
            for topic, route in self._published.items()
            if self._is_own(route) and topic != DEFAULT_TOPIC
        )

    def find_default(self, queue_nums: int) -> RouteChanged | None:
        """Return what to publish so that the default route follows the settings.

        Args:
            queue_nums: its number of queues; 0: this bridge has no default route.

        Returns:
            The route, its deletion, or None if nothing changes or it is another cluster's.
        """
        published = self._published.get(DEFAULT_TOPIC)
        if self.is_foreign(DEFAULT_TOPIC):
            return None
        route = default_route(self._cluster, self._address, queue_nums) if queue_nums else None
        return None if route == published else RouteChanged(DEFAULT_TOPIC, route)

    def is_foreign(self, topic: str) -> bool:
        """Tell whether the published route of this topic is another cluster's."""
        route = self._published.get(topic)
        return route is not None and not self._is_own(route)

    def find(
        self, look: TopicLook, racks: Racks, *, now_ms: int, requested: bool = False
    ) -> Finding:
        """Decide what a look means.

        Args:
            look: the look.
            racks: the racks of the nodes, from the same look.
            now_ms: a monotonic clock.
            requested: somebody lacks the route, so publish it even if unchanged.
        """
        if isinstance(look, TopicUnclear):
            return Finding(look.topic, Verdict.UNCLEAR, why=look.why)
        if isinstance(look, TopicAbsent):
            return self._find_absent(look.topic, now_ms)
        published = self._published.get(look.topic)
        if published is not None and published.identity != look.identity:
            if not self._confirmed(look.topic, look.identity, now_ms):
                return Finding(look.topic, Verdict.UNCONFIRMED)
        else:
            self._suspicions.pop(look.topic, None)
        route = self._route(look, racks, published)
        if published is None:
            return Finding(look.topic, Verdict.NEW, route, RouteChanged(look.topic, route))
        if published.identity == route.identity and _queues(route) < _queues(published):
            return Finding(look.topic, Verdict.OUTDATED)
        if published != route:
            return Finding(look.topic, Verdict.CHANGED, route, RouteChanged(look.topic, route))
        again = RouteChanged(look.topic, route) if requested else None
        return Finding(look.topic, Verdict.UNCHANGED, route, again)

    def _find_absent(self, topic: str, now_ms: int) -> Finding:
        published = self._published.get(topic)
        if published is None or not self._is_own(published):
            return Finding(topic, Verdict.ABSENT)
        if not self._confirmed(topic, None, now_ms):
            return Finding(topic, Verdict.UNCONFIRMED)
        return Finding(topic, Verdict.DELETED, None, RouteChanged(topic, None))

    def _confirmed(self, topic: str, identity: str | None, now_ms: int) -> bool:
        """Tell whether every look has shown this loss for long enough."""
        suspicion = self._suspicions.get(topic)
        if suspicion is None or suspicion.identity != identity:
            suspicion = self._suspicions[topic] = _Suspicion(identity, now_ms)
        return now_ms - suspicion.since_ms >= self._confirm_ms

    def _is_own(self, route: Route) -> bool:
        return any(broker.broker_name == self._cluster for broker in route.brokers)

    def _route(self, seen: TopicSeen, racks: Racks, published: Route | None) -> Route:
        queues = len(seen.leaders)
        broker = RouteBroker(
            broker_name=self._cluster,
            perm=_READ_AND_WRITE,
            read_queue_nums=queues,
            write_queue_nums=queues,
            cluster=self._cluster,
            addresses={"0": self._address},
            leaders=tuple(None if node is None else str(node) for node in seen.leaders),
            zones=_zones(seen, racks, published),
        )
        return Route(seen.topic, seen.identity, (broker,))


def _zones(seen: TopicSeen, racks: Racks, published: Route | None) -> tuple[str | None, ...]:
    """Return the rack of each queue's preferred replica.

    A node that is down is missing from ``racks``. Its queues keep their published zone: a restart
    of a node must not look like a move of its queues to another zone.
    """
    before: tuple[str | None, ...] = ()
    if published is not None and published.identity == seen.identity:
        before = next((broker.zones for broker in published.brokers if broker.zones), ())
    return tuple(
        racks[node] if node in racks else before[queue] if queue < len(before) else None
        for queue, node in enumerate(seen.preferred)
    )


def _queues(route: Route) -> int:
    return sum(broker.read_queue_nums for broker in route.brokers)
