"""What a Consumer reads of Kafka: the partitions of its queues, and its own assignments."""

from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from kafka import KafkaConsumer
from kafka.errors import KafkaConfigurationError, KafkaError
from kafka.structs import TopicPartition

from fairlead_client.consume.in_flight import InFlight
from fairlead_client.consume.reading import Ownership, Taken
from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.session.observer import Observer
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.absent_topics import drop_absent_topics
from fairlead_client.transport.connection import connect, data_options, request_timeout_ms
from fairlead_client.transport.control_thread import ControlThread
from fairlead_client.transport.decoding import decode_key
from fairlead_client.transport.granted_fetch import GrantedFetch
from fairlead_client.transport.offset_correction import report_correction
from fairlead_client.transport.own_assignments import own_assignments
from fairlead_client.transport.queue_partition import known_topics, partition_of_queue
from fairlead_client.transport.topics import Topics

__all__ = ["KafkaReading"]

FETCH_WAIT_MS: Final = 250
"""How long a broker holds a fetch. It answers in turn, so a new queue waits for this fetch."""
GATEWAY_FETCH_WAIT_MS: Final = 100
SLICE_SECONDS: Final = 0.25
"""The longest fetch. Only a record ends a fetch early, so stop() may wait this long."""
GATEWAY_SLICE_SECONDS: Final = 0.05
"""With a gateway no record of the fetch says that a queue starts."""
RETRY_SECONDS: Final = 0.2
WATCH_SECONDS: Final = 0.15
"""How long the consumer waits for queues to start after it has read an assignment."""
WATCH_SLICE_SECONDS: Final = 0.05
"""How long one such wait takes before the consumer looks at its fetched records again."""


class KafkaReading:
    """A Reading with one KafkaConsumer.

    Args:
        settings: the client's settings.
        client_id: its id.
        in_flight: the work on its queues.
        ownership: what it may read.
        observer: receives events.
        watches: whether it fetches the assignments too, so that a new one ends a fetch early.
    """

    def __init__(
        self,
        settings: Settings,
        client_id: str,
        in_flight: InFlight,
        ownership: Ownership,
        observer: Observer,
        *,
        watches: bool,
    ) -> None:
        self._settings = settings
        self._client_id = client_id
        self._in_flight = in_flight
        self._ownership = ownership
        self._observer = observer
        self._slice_seconds = GATEWAY_SLICE_SECONDS if settings.gateway else SLICE_SECONDS
        self._watches_own = watches and not settings.gateway
        self._thread: ControlThread | None = None
        self._kafka: KafkaConsumer | None = None
        self._seen_changes = -1
        self._seen_starts = 0
        self._reading: dict[TopicPartition, tuple[Queue, Epoch]] = {}
        self._assignments: tuple[TopicPartition, ...] = ()
        self._fetched: deque[Any] = deque()
        self._watch_until = 0.0
        self._watched_starts = -1
        wait_ms = request_timeout_ms(settings)
        self._granted_fetch = GrantedFetch(settings, ownership.granted, self._queue_of, wait_ms)

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """Do nothing: the consumer filters."""

    def again(self, queue: Queue) -> None:
        """Fetch again from the rewound offset: the fetched records lie behind it."""
        self._reading.pop(partition_of_queue(queue), None)

    def take(self) -> Taken | None:
        """Return the next record that is fetched already; None: none is."""
        while self._fetched:
            record = self._fetched.popleft()
            known = self._reading.get(_partition(record))
            if known is not None:
                return Taken(*known, record)
        return None

    def put_back(self, taken: Taken) -> None:
        """Take this record again next time."""
        self._fetched.appendleft(taken.record)

    def close(self) -> None:
        """Close the connection."""
        if self._kafka is not None:
            self._kafka.close(autocommit=False, timeout_ms=0)
            self._kafka = None

    def connect(self, thread: ControlThread, deadline: float) -> None:
        """Connect to the data, and learn the partitions before the engine grants the first one."""
        self._thread = thread
        options = {
            **data_options(self._settings, self._client_id),
            "fetch_max_wait_ms": GATEWAY_FETCH_WAIT_MS if self._settings.gateway else FETCH_WAIT_MS,
            **self._settings.fetch,
        }
        own = () if self._settings.gateway else (Topics(self._settings.prefix).assignments,)
        topics = [*known_topics(self._settings.subscriptions(0)), *own]
        while self._kafka is None:
            try:
                self._kafka = connect(KafkaConsumer, options, topics)
            except KafkaConfigurationError:
                raise
            except KafkaError:
                if thread.ended.wait(RETRY_SECONDS) or monotonic() > deadline:
                    raise
        drop_absent_topics(self._kafka)
        # If this fails, the consumer tries again when it gets its first queue.
        with suppress(KafkaError):
            self._watch_assignments(self._kafka)

    def follow(self) -> None:
        """Read the queues that may be read, from where each goes on."""
        changes, starts = self._in_flight.changes, self._in_flight.starts
        if changes == self._seen_changes or self._kafka is None:
            return
        if self._was_assigned_now() and starts == self._seen_starts and self._may_read():
            # A queue that stops hands out nothing; it can stay in the fetch a little longer.
            return
        readable = {
            queue: place
            for queue, place in self._in_flight.readable().items()
            if not self._granted_fetch.identities.holds(queue)
        }
        reading = {
            partition_of_queue(queue): (queue, epoch) for queue, (epoch, _) in readable.items()
        }
        begun = [
            partition for partition, work in reading.items() if self._reading.get(partition) != work
        ]
        # Records fetched for an earlier tenure would leave a gap before the new start.
        self._fetched = deque(
            record
            for record in self._fetched
            if (partition := _partition(record)) in reading and partition not in begun
        )
        self._watch_assignments(self._kafka)
        self._kafka.assign([*reading, *self._assignments])
        if begun:
            self._granted_fetch.identities.note_grant()
        for partition in begun:
            queue, epoch = reading[partition]
            offset = readable[queue][1]
            self._kafka.seek(partition, offset)
            self._observer.reading(queue, epoch, offset)
        self._reading = reading
        self._seen_changes, self._seen_starts = changes, starts

    def fetch(self, seconds: float) -> None:
        """Fetch, and wait for the first record of it, for at most this long."""
        seconds = min(seconds, self._slice_seconds)
        if self._granted_fetch.may_read_again(self._kafka):
            self._seen_changes = -1
        if self._kafka is None or not self._may_read():
            self._in_flight.wait_for_change(self._seen_changes, seconds)
            return
        left = self._watch_until - monotonic()
        if left > 0 and self._watched_starts == self._seen_starts:
            # A queue that starts now would have to wait for the end of a fetch.
            self._in_flight.wait_for_start(self._seen_starts, min(seconds, left))
            return
        watches = self._watches()
        timeout_ms = 0 if watches else int(seconds * 1_000)
        for partition, records in self._poll_kafka(self._kafka, timeout_ms).items():
            if partition not in self._assignments:
                self._fetched.extend(records)
                continue
            mine = (self._settings.group, self._client_id)
            if any(decode_key(record.key or b"") == mine for record in records):
                self._watch_until = monotonic() + WATCH_SECONDS
                self._watched_starts = self._seen_starts
        for partition, (queue, epoch) in self._reading.items():
            end = self._kafka.highwater(partition)
            if end is not None:
                self._in_flight.note_end(queue, epoch, end)
        if watches and not self._fetched:
            self._in_flight.wait_for_start(self._seen_starts, min(seconds, WATCH_SLICE_SECONDS))

    def _poll_kafka(
        self, kafka: KafkaConsumer, timeout_ms: int
    ) -> Mapping[TopicPartition, list[Any]]:
        """Poll once, and correct an offset that lies outside of its partition.

        A topic that has replaced the granted one returns nothing, and no offset of it is corrected.
        """
        fetched = self._granted_fetch.poll(kafka, timeout_ms)
        for partition, (offset, corrected) in fetched.moved.items():
            self._correct(partition, offset, corrected)
        if fetched.changed:
            self._seen_changes = -1
        if fetched.unsure:
            self._reading = {}
        return fetched.records

    def _queue_of(self, partition: TopicPartition) -> Queue | None:
        return self._reading.get(partition, (None,))[0]

    def _correct(self, partition: TopicPartition, offset: int, corrected: int) -> None:
        """Continue a queue at its corrected offset, before or behind its fetched records."""
        known = self._reading.get(partition)
        if known is None:
            return
        queue, epoch = known
        report_correction(self._observer, queue, epoch, offset, corrected)
        buffered = [record for record in self._fetched if _partition(record) == partition]
        if not buffered or corrected < offset:
            self._fetched = deque(
                record for record in self._fetched if _partition(record) != partition
            )
            self._in_flight.correct(queue, epoch, corrected)

    def _watches(self) -> bool:
        """Whether the queues to read may change at any moment, which a fetch does not notice."""
        return self._was_assigned_now() or (self._thread is not None and self._thread.gated)

    def _was_assigned_now(self) -> bool:
        """Whether this client has just read an assignment."""
        return monotonic() < self._watch_until

    def _may_read(self) -> bool:
        """Test the lease before each poll: the process may have been suspended meanwhile."""
        return any(
            self._ownership.epoch_of(queue) == epoch for queue, epoch in self._reading.values()
        )

    def _watch_assignments(self, kafka: KafkaConsumer) -> None:
        """Fetch this client's assignments too, so that a new one ends a fetch early.

        The session reads what they say.
        """
        if self._assignments or not self._watches_own:
            return
        partition = own_assignments(kafka, self._settings, self._client_id)
        if partition is not None:
            end = kafka.end_offsets([partition])[partition]
            self._assignments = (partition,)
            kafka.assign([*self._reading, partition])
            kafka.seek(partition, end)


def _partition(record: Any) -> TopicPartition:
    return TopicPartition(record.topic, record.partition)
