"""What bridges write on a real broker, read back; and requests for them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fairlead.core.outputs import Request
from fairlead.core.records import BridgeSign, OffsetsKnown, RouteChanged, TopicAbsent
from fairlead.core.standby_records import MembersLook
from fairlead.kafka.topic_creation import READY_WAIT_MS
from fairlead.wire.decode import decode
from fairlead.wire.encode import encode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import Partitions, RawRecord
from tests.kit.awaiting import await_seen
from tests.kit.topic_reading import read_to_ends

if TYPE_CHECKING:
    from fairlead.wire.topics import TopicNames

SECONDS_MAX = 30.0


class Ledger:
    """Everything written to the routes and offsets topics, and a pen for requests."""

    def __init__(self, bootstrap: str, names: "TopicNames") -> None:
        from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

        self.names = names
        self.routes: list[RouteChanged] = []
        self.offsets: list[OffsetsKnown] = []
        self.absent: list[TopicAbsent] = []
        self.signs: list[BridgeSign] = []
        self.members: list[MembersLook] = []
        self.refused: list[bytes | None] = []
        self.admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        self._producer = KafkaProducer(bootstrap_servers=bootstrap)
        self._consumer = KafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
        self._read = [TopicPartition(names.name(suffix), 0) for suffix in ("routes", "offsets")]
        self._consumer.assign(self._read)
        self._consumer.seek_to_beginning()

    def close(self) -> None:
        """Close the connections."""
        self._consumer.close(autocommit=False)
        self._producer.close(timeout=5)
        self.admin.close()

    def write(self, topic: str, key: bytes, value: bytes | None) -> None:
        """Write one record to one of the topics that have one partition."""
        self._producer.send(self.names.name(topic), key=key, value=value, partition=0).get(10)

    def ask(self, request: Request) -> None:
        """Write a request, as the engine does."""
        for record in encode(request, self.names, Partitions(1, 1)):
            assert record.key is not None
            self.write("requests", record.key, record.value)

    def flood(self, requests: Iterable[Request]) -> None:
        """Write many requests at once."""
        topic = self.names.name("requests")
        for request in requests:
            for record in encode(request, self.names, Partitions(1, 1)):
                self._producer.send(topic, key=record.key, value=record.value, partition=0)
        self._producer.flush(SECONDS_MAX)

    def read(self, wait_ms: int = 0) -> None:
        """Take in what was written since."""
        self._take(self._consumer.poll(timeout_ms=wait_ms))

    def _take(self, polled: Mapping[Any, Sequence[Any]]) -> None:
        for records in polled.values():
            for record in records:
                suffix = self.names.suffix(record.topic)
                assert suffix is not None
                raw = RawRecord(
                    record.topic,
                    record.partition,
                    record.offset,
                    record.timestamp,
                    append_time_is_log=False,
                    key=record.key,
                    value=record.value,
                )
                try:
                    said = decode(suffix, raw, WireLimits(shards=1))
                except WireError:
                    self.refused.append(record.value)
                    continue
                if isinstance(said, RouteChanged):
                    self.routes.append(said)
                elif isinstance(said, OffsetsKnown):
                    self.offsets.append(said)
                elif isinstance(said, TopicAbsent):
                    self.absent.append(said)
                elif isinstance(said, MembersLook):
                    self.members.append(said)
                elif isinstance(said, BridgeSign):
                    self.signs.append(said)

    def read_all(self) -> None:
        """Take in everything written up to now."""
        read_to_ends(self._consumer, self._take)

    def await_that(self, holds: Callable[[], Any]) -> None:
        """Read until something holds; fail if it does not in good time."""

        def look() -> tuple[list[RouteChanged], list[OffsetsKnown]]:
            self.read(200)
            return self.routes, self.offsets

        if not holds():
            await_seen(look, lambda _: holds(), what="such record", seconds=SECONDS_MAX, pause=0)

    def await_route(self, topic: str, queues: int | None, *, after: int = 0) -> RouteChanged:
        """Return the first route of a topic with so many queues (None: its deletion).

        Args:
            topic: the topic.
            queues: how many.
            after: the number of route records to pass over.
        """

        def found() -> RouteChanged | None:
            for change in self.routes[after:]:
                if change.topic == topic and queues_of(change) == queues:
                    return change
            return None

        self.await_that(found)
        change = found()
        assert change is not None
        return change

    def make_topic(self, topic: str, partitions: int) -> str:
        """Make a topic and return its id as the brokers tell it, in Kafka's notation."""
        from fairlead.bridges.kafka.snapshot import kafka_topic_id

        self.admin.create_topics({topic: {"num_partitions": partitions, "replication_factor": 1}})
        self.admin.wait_for_topics([topic], timeout_ms=READY_WAIT_MS)
        return kafka_topic_id(self.admin.describe_topics([topic])[0]["topic_id"])


def queues_of(change: RouteChanged) -> int | None:
    """How many queues a route has; None for a deletion."""
    return None if change.route is None else change.route.brokers[0].read_queue_nums
