"""What a producer knows of its topics: each topic's queues as a snapshot that is never changed."""

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
"""The topic whose route stands for that of topics which do not exist yet."""


@dataclass(frozen=True, slots=True)
class Published:
    """A topic at one moment.

    Attributes:
        info: its queues; `have_route` and no queues: it exists and cannot be written to.
        turns: the queues taking turns, from a random one on.
        is_default: the topic has no route of its own; this one is made of the default topic's.
    """

    info: TopicPublishInfo
    turns: FairRoundRobin
    is_default: bool = False


class PublishTable:
    """Routes as they become known, and what they say to a producer. Safe for several threads.

    A topic's publish info is made when somebody sends to it, so a producer that lacks one gets it
    although the route has not changed since; it is made anew when the route changes. A changed
    route that cannot be read changes nothing for those who have queues, as in RocketMQ.

    Args:
        random_start: returns where a topic's first turn begins, any whole number.
        zone: the producer's own.
        unreadable: is told of each topic that keeps its queues because its new route is no good.
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

    def note(self, topic: str, route: TopicRoute | None) -> None:
        """Take a topic's whole route; None: the topic is gone."""
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

    def note_leader(self, queue: Queue, broker: str | None) -> None:
        """Take word that a queue is led by another broker than its route says.

        It holds until the route changes.
        """
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
        """Return the topic by its own route, or by the default one if that was found good enough.

        None when neither is so. Nobody is asked; a topic stays wanted until it has a route.

        Raises:
            RouteError: the route cannot be read as RocketMQ reads it.
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
        """Return the topic by the default topic's route, and from now on, until it has its own.

        None when there is no default route.

        Raises:
            RouteError: the default route cannot be read.
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
        """Return the topic by its own route as soon as that is known, None after the timeout.

        Raises:
            RouteError: the route cannot be read as RocketMQ reads it.
        """
        with self._changed:
            self._changed.wait_for(lambda: topic in self._routes, timeout_ms / 1_000)
        return self.find(topic)

    def lacking(self) -> list[str]:
        """Return the topics that were asked for and have no route, sorted: those to ask about."""
        with self._changed:
            return sorted(topic for topic in self._wanted if topic not in self._routes)

    def brokers(self) -> frozenset[str]:
        """Return every broker that a topic which was sent to has."""
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
        """Make the publish info of a topic anew that somebody has sent to; None: it has none."""
        known = self._published.pop(topic, None)
        if known is None or route is None:
            return
        try:
            self._publish(topic, route, is_default=is_default)
        except RouteError as error:
            logger.warning("topic %s keeps its queues, its new route is no good: %s", topic, error)
            self._published[topic] = known
            self._notify_unreadable(topic)

    def _notify_unreadable(self, topic: str) -> None:
        """Tell who wants to know; whatever is raised, the routes behind this one are taken."""
        try:
            self._unreadable(topic)
        except Exception:
            logger.exception("the producer's observer raised")
