"""A bridge that answers the engine's requests and publishes routes, at times late."""

from collections import deque
from typing import Protocol

from fairlead.core.model import MessageQueue, Position
from fairlead.core.outputs import Request
from fairlead.core.records import OffsetsKnown, QueueOffsets, RouteChanged
from fairlead.wire.decode import decode_request
from fairlead.wire.encode_bridge import encode_offsets, encode_route
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import OutgoingRecord, RawRecord
from fairlead.wire.topics import TopicNames
from fairlead_proof.sim.chance import Chance
from fairlead_proof.sim.data_plane import DataPlane, Topic
from fairlead_proof.sim.kafka import Kafka
from fairlead_proof.sim.scenario import Scenario
from fairlead_proof.sim.timeline import Timeline

__all__ = ["Bridge", "BridgeEnvironment"]

LIMITS = WireLimits(1)
NAMES = TopicNames()
ANSWER_MS = (10, 200)


class BridgeEnvironment(Protocol):
    """The environment of a bridge."""

    timeline: Timeline
    chance: Chance
    kafka: Kafka
    data: DataPlane
    scenario: Scenario

    def narrate(self, who: str, what: str, *values: object) -> None:
        """Add a line to the story."""


class Bridge:
    """Reads requests and the data plane; writes routes and offsets.

    Attributes:
        away_until_ms: until then it answers and publishes nothing.
        late_ms: by how much its next answers are late.
        late_answers: how many answers are late.
    """

    def __init__(self, world: BridgeEnvironment) -> None:
        self._world = world
        self.away_until_ms = 0
        self.late_ms = 0
        self.late_answers = 0
        self._busy_ms = 0
        self._unsent: deque[list[OutgoingRecord]] = deque()
        world.kafka.partition("requests").followers.append(self._asked)

    def publish(self, topic: Topic) -> None:
        """Publish a topic's present route."""
        route = topic.route if topic.readable else None
        self._send([encode_route(RouteChanged(topic.name, route), NAMES)])

    def _asked(self, record: RawRecord) -> None:
        request = decode_request(record, LIMITS)
        topic = self._world.data.topics.get(request.topic)
        if topic is None or self._world.timeline.now_ms < self.away_until_ms:
            return
        if request.what == "forgotten":
            return
        if request.what in ("route", "retry"):
            self.publish(topic)
        elif topic.readable:
            self._send(encode_offsets(self._offsets(request, topic), NAMES))

    def _offsets(self, request: Request, topic: Topic) -> OffsetsKnown:
        queues = topic.readable_queues() if request.queues is None else request.queues
        known = tuple(self._known(queue) for queue in queues if self._world.data.has(queue))
        return OffsetsKnown(request.group, topic.name, topic.identity, known)

    def _known(self, queue: MessageQueue) -> QueueOffsets:
        data, now_ms = self._world.data, self._world.timeline.now_ms
        return QueueOffsets(queue, 0, data.end_offset(queue, now_ms), self._committed(queue), None)

    def _committed(self, queue: MessageQueue) -> Position | None:
        """Return the group's commit for the queue's present identity, or for none named."""
        data = self._world.data
        identity, position = data.committed.get(queue, (None, None))
        return position if identity in (None, data.topics[queue.topic].identity) else None

    def _send(self, records: list[OutgoingRecord]) -> None:
        world = self._world
        wait_ms = world.chance.between(*ANSWER_MS)
        if self.late_answers:
            self.late_answers -= 1
            wait_ms += self.late_ms
        # The log keeps the order in which a bridge writes.
        self._busy_ms = max(self._busy_ms, world.timeline.now_ms + wait_ms)
        self._unsent.append(records)

        def arrive() -> None:
            if not world.kafka.up or self._unsent[0] is not records:
                world.timeline.after(ANSWER_MS[0], arrive)
                return
            self._unsent.popleft()
            for record in records:
                suffix = NAMES.suffix(record.topic)
                assert suffix is not None
                world.kafka.append(world.kafka.partition(suffix), record.key, record.value)

        world.timeline.at(self._busy_ms, arrive)
