"""A real broker, a topic that is replaced at once, and positions nobody reached."""

import base64
from collections.abc import Callable, Mapping, Sequence
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from fairlead_client import ConsumeContext, Consumer, ConsumeResult, Message, PushConsumer, Queue
from fairlead_client.model import Position
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic
from kafka.errors import TopicAlreadyExistsError

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

WAIT_SECONDS = 30
OLD, NEW = 20, 5
ABSURD = 10**9
Member = Callable[..., Any]


class Topic:
    """The data topic, which can be replaced by another one of its name."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self._place = {"bootstrap_servers": bootstrap}
        self.name = name

    def identity(self) -> str:
        """Return the topic id as Kafka's own tools print it."""
        admin = KafkaAdminClient(**self._place)
        (found,) = admin.describe_topics([self.name])
        admin.close()
        return base64.urlsafe_b64encode(UUID(found["topic_id"]).bytes).rstrip(b"=").decode()

    def replace(self, messages: int) -> None:
        """Delete it, create it again as soon as the broker lets us, and write messages."""
        admin = KafkaAdminClient(**self._place)
        admin.delete_topics([self.name])
        deadline = monotonic() + WAIT_SECONDS
        while True:
            try:
                admin.create_topics([NewTopic(self.name, num_partitions=2, replication_factor=1)])
            except TopicAlreadyExistsError:
                assert monotonic() < deadline
                continue
            break
        admin.close()
        producer = KafkaProducer(**self._place, max_block_ms=WAIT_SECONDS * 1_000)
        for number in range(messages):
            producer.send(self.name, f"new {number}".encode(), partition=0)
        producer.flush()
        producer.close()


class Taker:
    """A consumer of either kind that notes the messages which it is handed."""

    def __init__(self, member: Member, kind: str) -> None:
        self._taken: SimpleQueue[Message] = SimpleQueue()
        self._polled: Consumer | None = None
        if kind == "push":
            self.client = member(PushConsumer, "a", listener=self._listen)
        else:
            self.client = self._polled = member(Consumer, "a")

    def _listen(self, messages: Sequence[Message], _context: ConsumeContext) -> ConsumeResult:
        for message in messages:
            self._taken.put(message)
        return ConsumeResult.CONSUME_SUCCESS

    def take(self, seconds: float = WAIT_SECONDS) -> Message | None:
        """Return the next message, None if none comes in time."""
        if self._polled is not None:
            return self._polled.poll(int(seconds * 1_000))
        try:
            return self._taken.get(timeout=seconds)
        except Empty:
            return None

    def values(self, count: int) -> list[bytes]:
        """Return the values of the next messages."""
        found = [self.take() for _ in range(count)]
        return [message.value or b"" for message in found if message is not None]


@pytest.mark.parametrize("kind", ["poll", "push"])
def test_a_topic_made_again_is_not_read_under_the_grant_of_the_former(
    engine: "ScriptedEngine", member: Member, bootstrap: str, data_topic: str, kind: str
) -> None:
    """Rule C15: the holder stops; the new topic's messages come once, under its own grant."""
    topic, queue = Topic(bootstrap, data_topic), Queue(data_topic, "main", 0)
    former = topic.identity()
    taker = Taker(member, kind)
    beat = engine.heartbeat("a")
    engine.grant(beat, queue, 1, identity=former)
    assert taker.values(OLD) == [str(number).encode() for number in range(OLD)]
    # More than before: the offset of the former topic is one of the new one.
    topic.replace(OLD + NEW)
    assert taker.take(2) is None
    engine.revoke(beat, queue, 1, 2)
    released = engine.release(queue, 1)
    assert (released["position"], released["identity"]) == ([0, OLD], former)
    engine.grant(beat, queue, 3, identity=topic.identity())
    assert taker.values(OLD + NEW) == [f"new {number}".encode() for number in range(OLD + NEW)]
    assert taker.take(0.5) is None


@pytest.mark.parametrize("kind", ["poll", "push"])
def test_nobody_starts_beyond_the_end(
    engine: "ScriptedEngine", member: Member, data_topic: str, handover: Any, kind: str
) -> None:
    """Rule C16: nobody can have reached that, so it starts where the engine itself said."""
    queue, taker = Queue(data_topic, "main", 0), Taker(member, kind)
    beat = engine.heartbeat("a")
    other = {"client_id": "z", "incarnation": str(UUID(int=1))}
    engine.grant(beat, queue, 2, Position(0, 5), after=((other, 1),))
    handover(other, queue, 1, ABSURD)
    assert taker.values(OLD - 5) == [str(number).encode() for number in range(5, OLD)]
    assert taker.take(0.5) is None
    engine.revoke(beat, queue, 2, 3)
    assert engine.release(queue, 2)["position"] == [0, OLD]


@pytest.fixture
def handover(engine: "ScriptedEngine") -> Callable[[Mapping[str, str], Queue, int, int], None]:
    """Write the copy of a release that whoever waits for it reads."""

    def write(sender: Mapping[str, str], queue: Queue, number: int, offset: int) -> None:
        value = {
            "v": 1,
            "kind": "release",
            "group": engine.group,
            **sender,
            "queue": queue,
            "epoch": (engine.generation, number),
            "position": (0, offset),
        }
        engine.write("handovers", engine.group + "a", engine.group.encode(), value)

    return write
