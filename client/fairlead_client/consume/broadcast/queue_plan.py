"""Plans which queues a broadcasting member reads: all readable queues of its topics."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fairlead_client.consume.broadcast.local_offsets import LocalOffset
from fairlead_client.model import Queue
from fairlead_client.routes.subscribe_info import subscribe_info
from fairlead_client.routes.topic_route import TopicRoute


@dataclass(frozen=True, slots=True)
class QueueStart:
    """A queue to start.

    Attributes:
        queue: the queue.
        identity: the identity of its topic.
        stored: the member's own offset under that identity; None if it has none.
        late: whether the queue was added after the member first read the topic.
    """

    queue: Queue
    identity: str | None
    stored: int | None
    late: bool


@dataclass(frozen=True, slots=True)
class QueuePlan:
    """The changes to make: queues to stop, to abandon at once, and to start."""

    stop: tuple[Queue, ...] = ()
    abandon: tuple[Queue, ...] = ()
    start: tuple[QueueStart, ...] = ()


class QueuePlanner:
    """Compares the queues that a member reads with those of its topics.

    A member does not read a topic without a route, but keeps its offsets, since the route may come
    back. Only a route with another identity of the topic makes an offset void.

    Args:
        known: the member's offsets at its start.
    """

    def __init__(self, known: Mapping[Queue, LocalOffset]) -> None:
        # The first known queues of a topic; None: the member read it before its last restart.
        self._first: dict[str, frozenset[tuple[Queue, str | None]] | None] = {
            queue.topic: None for queue in known
        }

    def plan(
        self,
        topics: Iterable[str],
        routes: Mapping[str, TopicRoute],
        held: Mapping[Queue, str | None],
        offsets: Mapping[Queue, LocalOffset],
    ) -> QueuePlan:
        """Return the changes to make.

        Args:
            topics: the member's topics.
            routes: the known routes, without deleted topics.
            held: the queues that the member reads, with their topics' identities.
            offsets: the member's own offsets.

        Raises:
            RouteError: a route has too many queues.
        """
        wanted: dict[Queue, str | None] = {}
        for topic in topics:
            route = routes.get(topic)
            if route is not None:
                queues = dict.fromkeys(subscribe_info(topic, route), route.identity)
                self._first.setdefault(topic, frozenset(queues.items()))
                wanted |= queues
        other = [
            queue for queue, identity in held.items() if wanted.get(queue, identity) != identity
        ]
        return QueuePlan(
            stop=tuple(queue for queue in held if queue not in wanted),
            abandon=tuple(other),
            start=tuple(
                self._start(queue, identity, offsets.get(queue))
                for queue, identity in wanted.items()
                if queue not in held or queue in other
            ),
        )

    def _start(self, queue: Queue, identity: str | None, stored: LocalOffset | None) -> QueueStart:
        # An offset without an identity counts for any identity.
        holds = stored is not None and stored.identity in (None, identity)
        first = self._first[queue.topic]
        late = first is None or (queue, identity) not in first
        return QueueStart(queue, identity, stored.offset if stored and holds else None, late)
