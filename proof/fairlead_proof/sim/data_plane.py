"""The topics whose queues the group shares; each recreation of a topic has its own identity."""

from dataclasses import dataclass, field

from fairlead.core.model import MessageQueue, Position, Route, RouteBroker

__all__ = ["DataPlane", "Topic"]

BROKER_NAME = "main"
_READ_WRITE = 6


@dataclass(slots=True)
class Topic:
    """One topic: how many queues it has, and how many are readable (0: it is deleted)."""

    name: str
    queues: int
    readable: int = 0
    version: int = 1
    first_ends: dict[int, int] = field(default_factory=dict)
    """Queue id -> how many messages it held when it was created."""
    made_ms: dict[int, int] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """The identity, which differs after each recreation."""
        return f"{self.name}-{self.version}"

    @property
    def route(self) -> Route:
        """The topic's whole route."""
        broker = RouteBroker(BROKER_NAME, _READ_WRITE, self.readable, self.readable)
        return Route(self.name, self.identity, (broker,))

    def queue(self, number: int) -> MessageQueue:
        """Return the queue of this number."""
        return MessageQueue(self.name, BROKER_NAME, number)

    def readable_queues(self) -> list[MessageQueue]:
        """Return the readable queues."""
        return [self.queue(number) for number in range(self.readable)]


class DataPlane:
    """Topics by name, and the group's commits in them."""

    def __init__(self) -> None:
        self.topics: dict[str, Topic] = {}
        self.committed: dict[MessageQueue, tuple[str | None, Position]] = {}
        """Queue -> (identity that the commit named, position)."""

    def make(self, name: str, queues: int, held: int, now_ms: int) -> Topic:
        """Create a topic whose queues hold this many messages."""
        topic = self.topics[name] = Topic(name, 0)
        self.grow(topic, queues, held, now_ms)
        return topic

    def grow(self, topic: Topic, queues: int, held: int, now_ms: int) -> None:
        """Add queues to a topic, up to this number."""
        for number in range(topic.queues, queues):
            topic.first_ends[number] = held
            topic.made_ms[number] = now_ms
        topic.queues = topic.readable = queues

    def recreate(self, topic: Topic, queues: int, now_ms: int) -> None:
        """Delete a topic and create an empty one of its name: old offsets become meaningless."""
        topic.version += 1
        topic.queues = 0
        for queue in [queue for queue in self.committed if queue.topic == topic.name]:
            del self.committed[queue]
        self.grow(topic, queues, 0, now_ms)

    def end_offset(self, queue: MessageQueue, now_ms: int) -> int:
        """Return the offset of the queue's next message; each queue gets twenty a second."""
        topic = self.topics[queue.topic]
        number = queue.queue_id
        return topic.first_ends.get(number, 0) + (now_ms - topic.made_ms.get(number, now_ms)) // 50

    def has(self, queue: MessageQueue) -> bool:
        """Tell whether this queue exists now."""
        return queue.queue_id < self.topics[queue.topic].queues

    def commit(self, queue: MessageQueue, position: Position, identity: str | None) -> None:
        """Keep the group's newest commit; the data plane knows queues by name only."""
        if self.has(queue):
            self.committed[queue] = (identity, position)
