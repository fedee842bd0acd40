"""How far a group is in each queue, and what each queue holds: read, and nothing else.

Decides which position counts: the greatest of what the group has committed in the data plane and of
what its members and operators told (`fairlead.observed.positions`). Positions are pairs, so a reset
wins over everything older. Only positions of the identity that the route tells count.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from fairlead.control.data_plane import DataPlane
from fairlead.control.group_names import named_groups, unknown_group
from fairlead.control.queue_place import PositionTeller, QueuePlace
from fairlead.core.model import MessageQueue, Position, Route
from fairlead.core.ordering import queue_order
from fairlead.core.topics.routes import readable_queues
from fairlead.errors import UsageError, Way
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.observed_group import ObservedGroup
from fairlead.observed.reading import observe_positions

__all__ = ["GroupOffsets"]

_NEW_GROUP: Final = (
    "To let a new group begin there, ",
    Way("add --new-group.", 'send "new_group": true.'),
)


class GroupOffsets:
    """Reads where one group is in its queues, when somebody asks."""

    def __init__(self, source: TopicSource, data: DataPlane, group: str) -> None:
        """Take Fairlead's topics, and the cluster with the messages."""
        self._source = source
        self._data = data
        self._group = group
        self._known: ObservedGroup | None = None

    def require_known(self) -> None:
        """Refuse a group that nobody knows: the user has probably mistyped its name.

        Raises:
            UsageError: the group has no member, rule, reset or commit.
            EnvironmentMissingError: a cluster does not answer.
        """
        if self._observed.is_recorded or self._committed_topics():
            return
        known = named_groups(self._source)
        if not known.has(self._group) and self._group not in (self._data.groups() or ()):
            raise unknown_group(self._group, known.names, self._source.place, or_else=_NEW_GROUP)

    def topics(self) -> set[str]:
        """Return the routed topics that members subscribe to or that the group has commits in.

        Raises:
            EnvironmentMissingError: a cluster does not answer.
        """
        return self._topics() & self._observed.facts.routes.keys()

    def queues(self, topic: str) -> list[MessageQueue]:
        """Return the readable queues of a topic; of all the group's topics if it is empty.

        Raises:
            EnvironmentMissingError: a cluster does not answer.
        """
        routes = self._observed.facts.routes
        topics = [topic] if topic else sorted(self._topics())
        return [
            queue for each in topics if each in routes for queue in readable_queues(routes[each])
        ]

    def places(
        self, topics: Sequence[str], queues: Collection[MessageQueue], times: Sequence[int]
    ) -> list[QueuePlace]:
        """Return the queues asked for, in RocketMQ's order.

        Args:
            topics: all queues of these; if neither topics nor queues are named, of every topic that
                a member subscribes to or that the group has commits in.
            queues: and these.
            times: the times whose offsets to look up, in milliseconds.

        Raises:
            UsageError: a topic or queue is unknown, or nothing is known of the group.
            EnvironmentMissingError: a cluster does not answer, or not for one of the queues.
        """
        named = {*topics, *(queue.topic for queue in queues)}
        wanted = named or self._topics()
        if not wanted:
            raise UsageError(
                f"{self._group}: no member has heartbeat and nothing was committed.",
                remedy=Way("Name a topic (--topic).", 'Name topics ("topics").'),
                kind="no_topics",
                field="topics",
            )
        routes = self._observed.facts.routes
        if not named:
            # A topic that was read once and is gone is no reason to refuse the others.
            wanted &= routes.keys()
        places: list[QueuePlace] = []
        for topic in sorted(wanted):
            if topic not in routes:
                raise UsageError(
                    f"{topic}: no bridge has published a route of it.",
                    remedy=(
                        "Check its name, and that a bridge runs and watches it",
                        Way(" (--topics).", "."),
                    ),
                    kind="unknown_topic",
                    field="topics",
                )
            picked = None if topic in topics or not named else queues
            places += self._of_topic(routes[topic], picked, times)
        return sorted(places, key=lambda place: queue_order(place.queue))

    @property
    def _observed(self) -> ObservedGroup:
        """What the topics told when they were read first."""
        if self._known is None:
            self._known = observe_positions(self._source, self._group)
        return self._known

    def _topics(self) -> set[str]:
        members = self._observed.members.heard.values()
        return {topic for each in members for topic in each.member.topics} | {
            *self._committed_topics()
        }

    def _committed_topics(self) -> Iterable[str]:
        topics = self._data.committed_topics(self._group)
        if topics is None:
            raise self._data.unanswered(f"it did not say what {self._group} committed")
        return topics

    def _of_topic(
        self, route: Route, picked: Collection[MessageQueue] | None, times: Sequence[int]
    ) -> Iterator[QueuePlace]:
        topic, readable = route.topic, readable_queues(route)
        asked = readable if picked is None else [each for each in picked if each.topic == topic]
        for queue in asked:
            if queue not in readable:
                raise _no_such_queue(queue, readable)
        looks = self._data.look(self._group, route, asked, times)
        for queue in asked:
            look = looks[queue]
            position, told_by = self._greatest(queue, look.committed)
            yield QueuePlace(
                queue,
                route.identity,
                look.earliest,
                look.latest,
                position,
                told_by,
                look.for_times,
                look.committed,
            )

    def _greatest(
        self, queue: MessageQueue, committed: Position | None
    ) -> tuple[Position | None, PositionTeller | None]:
        """Return the greatest position; of equal ones, the one that members or operators told."""
        observed = self._observed.positions.queues.get(queue)
        if observed is None or observed.position is None:
            return committed, None if committed is None else "committed"
        if committed is not None and committed > observed.position:
            return committed, "committed"
        return observed.position, observed.told_by


def _no_such_queue(queue: MessageQueue, readable: Sequence[MessageQueue]) -> UsageError:
    brokers = [each.broker_name for each in readable]
    known = [f"{name}/0 to {brokers.count(name) - 1}" for name in dict.fromkeys(brokers)]
    return UsageError(
        f"{'/'.join(map(str, queue))}: no route has this queue.",
        remedy=f"{queue.topic} has {', '.join(known) or 'no queues'}.",
        kind="unknown_queue",
        field="queues",
    )
