"""A producer's topics and their queues; each topic is an immutable snapshot."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition
from typing import Final

from fairlead_client.errors import RouteError
from fairlead_client.model import Queue
from fairlead_client.produce.fair_selection import FairRoundRobin
from fairlead_client.produce.target import Target, targets
from fairlead_client.routes.default_route import from_default_route
from fairlead_client.routes.publish_info import TopicPublishInfo, publish_info
from fairlead_client.routes.topic_route import TopicRoute

logger = logging.getLogger(__name__)

DEFAULT_TOPIC: Final = "TBW102"
"""The topic whose route stands in for topics that do not exist yet."""


@dataclass(frozen=True, slots=True)
class Published:
    """The snapshot of a topic.

    Attributes:
        info: its queues; with `have_route` and no queues, the topic exists but takes no messages.
        turns: the round robin over its queues, from a random one on.
        is_default: whether this is the default topic's route, because the topic has none.
    """

    info: TopicPublishInfo
    turns: FairRoundRobin
    is_default: bool = False


class PublishTable:
    """The known routes, and the snapshots of topics. Several threads may use it.

    It creates a topic's snapshot when somebody sends to the topic, and again when the route
    changes. After a changed route that is unreadable a topic keeps its queues, as in RocketMQ.

    Args:
        random_start: returns where a topic's first turn begins, any whole number.
        zone: the producer's zone.
        unreadable: called with each topic that keeps its queues after an unreadable route.
    """

    def __init__(
        self,
        random_start: Callable[[], int],
        zone: str | None = None,
        unreadable: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._random_start = random_start
        self._zone = zone
        self._unreadable = unreadable
        self._routes: dict[str, TopicRoute] = {}
        self._published: dict[str, Published] = {}
        self._wanted: set[str] = set()
        self._changed = Condition()

    def set_route(self, topic: str, route: TopicRoute | None) -> None:
        """Store a topic's whole route; None: the topic is gone."""
        with self._changed:
            before = self._routes.get(topic)
            if route is None:
                self._routes.pop(topic, None)
            else:
                self._routes[topic] = route
            if before != route:
                self._renew(topic, route, is_default=False)
                if topic == DEFAULT_TOPIC:
                    for other in [name for name, at in self._published.items() if at.is_default]:
                        default = None if route is None else from_default_route(route)
                        self._renew(other, default, is_default=True)
            self._changed.notify_all()

    def set_leader(self, queue: Queue, broker: str | None) -> None:
        """Note a queue's leader that differs from its route, until the route changes."""
        with self._changed:
            known = self._published.get(queue.topic)
            if known is None:
                return
            moved = tuple(
                Target(queue, broker, target.zone) if target.queue == queue else target
                for target in known.turns.targets
            )
            if moved != known.turns.targets:
                turns = FairRoundRobin(moved, self._random_start(), self._zone)
                self._published[queue.topic] = Published(known.info, turns, known.is_default)

    def find(self, topic: str) -> Published | None:
        """Return the topic, or None if it has no route; then it is wanted until it has one.

        After `find_default` the default route may stand in for its own.

        Raises:
            RouteError: the route is unreadable by RocketMQ's rules.
        """
        known = self._published.get(topic)
        if known is not None:
            return known
        with self._changed:
            route = self._routes.get(topic)
            if route is None:
                self._wanted.add(topic)
                return None
            self._wanted.discard(topic)
            return self._publish(topic, route, is_default=False)

    @property
    def has_default(self) -> bool:
        """Whether a default route is known."""
        return DEFAULT_TOPIC in self._routes

    def find_default(self, topic: str) -> Published | None:
        """Let the default route stand in for the topic's own; None without a default route.

        Raises:
            RouteError: the default route is unreadable.
        """
        with self._changed:
            known = self._published.get(topic)
            if known is not None:
                return known
            default = self._routes.get(DEFAULT_TOPIC)
            if default is None:
                return None
            return self._publish(topic, from_default_route(default), is_default=True)

    def await_route(self, topic: str, timeout_ms: int) -> Published | None:
        """Wait for the topic's own route and return the topic; None after the timeout.

        Raises:
            RouteError: the route is unreadable by RocketMQ's rules.
        """
        with self._changed:
            self._changed.wait_for(lambda: topic in self._routes, timeout_ms / 1_000)
        return self.find(topic)

    def lacking(self) -> list[str]:
        """Return the wanted topics without a route, sorted."""
        with self._changed:
            return sorted(topic for topic in self._wanted if topic not in self._routes)

    def sent_to(self) -> list[str]:
        """Return the topics that somebody has sent to or wants to, sorted."""
        with self._changed:
            return sorted(self._wanted | self._published.keys())

    def brokers(self) -> frozenset[str]:
        """Return the brokers of all topics that somebody has sent to."""
        published = list(self._published.values())
        return frozenset(
            target.broker
            for known in published
            for target in known.turns.targets
            if target.broker is not None
        )

    def _publish(self, topic: str, route: TopicRoute, *, is_default: bool) -> Published:
        known = self._published.get(topic)
        if known is not None and known.is_default == is_default:
            return known
        info = publish_info(topic, route)
        turns = FairRoundRobin(targets(info, route), self._random_start(), self._zone)
        made = self._published[topic] = Published(info, turns, is_default)
        return made

    def _renew(self, topic: str, route: TopicRoute | None, *, is_default: bool) -> None:
        """Replace the snapshot of a topic that somebody has sent to; None: the route is gone."""
        known = self._published.pop(topic, None)
        if known is None or route is None:
            return
        try:
            self._publish(topic, route, is_default=is_default)
        except RouteError as error:
            logger.warning("topic %s keeps its queues; cannot use its new route: %s", topic, error)
            self._published[topic] = known
            self._notify_unreadable(topic)

    def _notify_unreadable(self, topic: str) -> None:
        """Call the observer; an error of it must not stop the reading of routes."""
        try:
            self._unreadable(topic)
        except Exception:
            logger.exception("the producer's observer raised")
