"""Which queues a member of a broadcasting group reads: all readable ones of its topics."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fairlead_client.consume.broadcast.local_offsets import LocalOffset
from fairlead_client.model import Queue
from fairlead_client.routes.subscribe_info import subscribe_info
from fairlead_client.routes.topic_route import TopicRoute


@dataclass(frozen=True, slots=True)
class QueueStart:
    """A queue to begin to read.

    Attributes:
        queue: the queue.
        identity: the life of its topic.
        stored: the member's own offset in that life; None: it has none.
        late: whether the queue came after the member first read the topic.
    """

    queue: Queue
    identity: str | None
    stored: int | None
    late: bool


@dataclass(frozen=True, slots=True)
class QueuePlan:
    """What is to change: queues to stop, those to forget at once, and those to start."""

    stop: tuple[Queue, ...] = ()
    abandon: tuple[Queue, ...] = ()
    start: tuple[QueueStart, ...] = ()


class QueuePlanner:
    """Compares what a member reads with what its topics have.

    A topic without a route is not read, and its offsets stay: the route may come back. Only a route
    that tells another life of the topic makes an offset void. So does nothing else.

    Args:
        known: the offsets that the member had when it began.
    """

    def __init__(self, known: Mapping[Queue, LocalOffset]) -> None:
        # What a topic had when it was first seen; None: it was read before this member began.
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
        """Return what is to change.

        Args:
            topics: what the member subscribes to.
            routes: the routes known, without those of deleted topics.
            held: the queues that it reads, and of which life of their topics.
            offsets: its own offsets.

        Raises:
            RouteError: a route that has too many queues.
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

    def _start(self, queue: Queue, identity: str | None, told: LocalOffset | None) -> QueueStart:
        # An offset that names no life counts in whatever life there is.
        holds = told is not None and told.identity in (None, identity)
        first = self._first[queue.topic]
        late = first is None or (queue, identity) not in first
        return QueueStart(queue, identity, told.offset if told and holds else None, late)
