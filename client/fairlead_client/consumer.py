"""The client for Kafka data: an iterator over the messages of the queues that it owns."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from threading import get_ident
from time import monotonic
from types import TracebackType
from typing import Any, Final, Unpack

from kafka import KafkaConsumer
from kafka.errors import KafkaConfigurationError, KafkaError
from kafka.structs import TopicPartition

from fairlead_client.consume.in_flight import InFlight
from fairlead_client.consume.member import Member
from fairlead_client.consume.pull.messages import message_of
from fairlead_client.errors import ClientClosedError
from fairlead_client.message import Message
from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.session.application import Application
from fairlead_client.session.observer import Observer
from fairlead_client.settings.client_settings import Settings, SettingsArguments
from fairlead_client.settings.keywords import by_keyword
from fairlead_client.settings.setting_types import check_type
from fairlead_client.transport.absent_topics import drop_absent_topics
from fairlead_client.transport.connection import (
    connect,
    data_options,
    request_timeout_ms,
)
from fairlead_client.transport.control_thread import ControlThread
from fairlead_client.transport.decoding import decode_key
from fairlead_client.transport.granted_fetch import GrantedFetch
from fairlead_client.transport.offset_correction import report_correction
from fairlead_client.transport.offset_store import OffsetStore
from fairlead_client.transport.own_assignments import own_assignments
from fairlead_client.transport.queue_partition import known_topics, partition_of_queue
from fairlead_client.transport.tags import TAG_HEADER, immediate_filter
from fairlead_client.transport.topics import Topics

SLICE_SECONDS: Final = 0.25
"""The longest fetch. Only a record ends a fetch early, so stop() may wait this long."""
FETCH_WAIT_MS: Final = 250
"""How long a broker holds a fetch. It answers in turn, so a new queue waits for this fetch."""
GATEWAY_SLICE_SECONDS: Final = 0.05
"""With a gateway no record of the fetch says that a queue starts."""
GATEWAY_FETCH_WAIT_MS: Final = 100
RETRY_SECONDS: Final = 0.2
WATCH_SECONDS: Final = 0.15
"""How long the consumer waits for queues to start after it has read an assignment."""
WATCH_SLICE_SECONDS: Final = 0.05
"""How long one such wait takes before the consumer looks at its fetched records again."""


class Consumer(Member):
    """Joins a group and hands out the messages of the queues it owns, each queue in order.

    When you ask for the next message, the one before counts as processed; with `explicit_done`
    only `done(message)` counts. When a queue moves, the consumer first waits for the messages in
    hand, then releases the queue at the next offset. It skips messages whose tag the subscription
    does not want, and counts them as processed.

    One thread calls `poll` and `done` and iterates. Any thread may call `stop`, `close` and
    `still_mine`.

    Args:
        explicit_done: whether only `done` finishes a message.
        tag_header: the Kafka header that holds a message's tag.
        offset_store: where to commit positions instead of Kafka's group offsets.
        observer: receives events, such as a ClientMetrics.
        settings: see `Settings`.

    Raises:
        SettingsError: a setting cannot work, such as a filter that is no list of tags. Retry
            topics are refused: this consumer would hand out their messages before they are due.
    """

    @by_keyword("topics", "group", "bootstrap")
    def __init__(
        self,
        *,
        explicit_done: bool = False,
        tag_header: str = TAG_HEADER,
        offset_store: OffsetStore | None = None,
        observer: Observer | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> None:
        chosen = Settings.of(type(self), settings, message_model=self.MESSAGE_MODEL)
        self._tag_header = tag_header
        self._filter = immediate_filter(chosen, chosen.topics, tag_header)
        super().__init__(chosen, offset_store=offset_store, observer=observer)
        self._explicit_done = explicit_done
        self._slice_seconds = GATEWAY_SLICE_SECONDS if chosen.gateway else SLICE_SECONDS
        self._in_flight = InFlight(self._observer)
        self._kafka: KafkaConsumer | None = None
        self._seen_changes = -1
        self._seen_starts = 0
        self._reading: dict[TopicPartition, tuple[Queue, Epoch]] = {}
        self._assignments: tuple[TopicPartition, ...] = ()
        self._fetched: deque[Any] = deque()
        self._last: Message | None = None
        self._polling: int | None = None
        self._watch_until = 0.0
        self._watched_starts = -1
        wait_ms = request_timeout_ms(chosen)
        self._granted_fetch = GrantedFetch(chosen, self._granted, self._queue_of, wait_ms)

    def __iter__(self) -> Iterator[Message]:
        """Yield messages until `stop` or `close`; raise the error that closed the client."""
        self._check_fork()
        while not self._stopping:
            message = self.poll()
            if message is not None:
                yield message
            elif self._in_flight.over:
                return
        self._finish_last()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close; unless the block raised, the message in hand counts as processed."""
        if kind is None and not self._forked:
            self._finish_last()
        super().__exit__(kind, error, traceback)

    def start(self) -> None:
        """Join the group as `Member.start` does, and connect to the data."""
        self._check_fork()
        try:
            super().start()
        except BaseException:
            self._disconnect()
            raise
        if self._stopping:
            self._disconnect()

    def poll(self, timeout_ms: int = 1_000) -> Message | None:
        """Return the next message, or None if none comes within `timeout_ms`.

        Raises:
            ClientClosedError: nobody has started the consumer.
            NotAllowedError: this user may not read a topic; a later poll tries again.
            FairleadClientError: the error that closed the client, such as DuplicateClientIdError.
        """
        self._check_fork()
        if self._thread is None:
            raise ClientClosedError("this consumer is not started; use `with`, or start()")
        self._polling = get_ident()
        self._observer.polled()
        self._finish_last()
        if self._stopping:
            # No message will come: a loop that polls on must not spin.
            self._thread.ended.wait(timeout_ms / 1_000)
            return None
        deadline = monotonic() + timeout_ms / 1_000
        while not self._stopping:
            message = self._next_fetched()
            if message is not None:
                self._last = message
                return message
            if self._in_flight.over:
                self.wait()
                return None
            left = deadline - monotonic()
            if left <= 0:
                return None
            self._fetch(min(left, self._slice_seconds))
        return None

    def done(self, message: Message) -> bool:
        """Report that this message is processed; return whether that counts.

        It does not count if the queue has moved meanwhile, or after `still_mine` returned None for
        the queue. The message is then read again.
        """
        self._check_fork()
        check_type("message", message, Message)
        return self._in_flight.done(message, self._epoch_of)

    def subscribe(self, topics: Sequence[str | Subscription]) -> None:
        """Change the subscription and its filters; the client tells the engine at once.

        Raises:
            SettingsError: as for the setting `topics`; the old subscription stays.
        """
        self._check_fork()
        wanted = immediate_filter(self._settings, topics, self._tag_header)
        super().subscribe(topics)
        self._filter = wanted

    def close(self, timeout_ms: int | None = None) -> None:
        """Leave the group. From another thread it first waits for the messages in hand."""
        self._check_fork()
        self._stopping = True
        if self._polling in (None, get_ident()):
            # Nobody else finishes the messages in hand: their queues are released before them.
            self._in_flight.give_up()
        super().close(timeout_ms)
        if self._polling in (None, get_ident()):
            self._disconnect()

    def _finish_last(self) -> None:
        message, self._last = self._last, None
        if message is not None and not self._explicit_done:
            self._in_flight.done(message, self._epoch_of)

    def _next_fetched(self) -> Message | None:
        for queue in self._in_flight.rewind(self._epoch_of):
            # Fetch again from the rewound offset: the fetched records lie behind it.
            self._reading.pop(partition_of_queue(queue), None)
        self._follow_changes()
        while self._fetched:
            record = self._fetched.popleft()
            known = self._reading.get(_partition(record))
            if known is None:
                continue
            queue, epoch = known
            message = message_of(queue, epoch, record)
            if self._in_flight.hand_out(message, self._epoch_of):
                if self._filter.wanted(queue.topic, (record,)):
                    return message
                offset = message.offset
                self._observer.passed(queue, epoch, offset, offset + 1, "filtered")
                self._in_flight.done(message, self._epoch_of)
                continue
            if self._in_flight.awaits_lease(message):
                self._fetched.appendleft(record)
                return None
        return None

    def _follow_changes(self) -> None:
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

    def _fetch(self, seconds: float) -> None:
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
            mine = (self._settings.group, self.client_id)
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
        return any(self._epoch_of(queue) == epoch for queue, epoch in self._reading.values())

    def _watch_assignments(self, kafka: KafkaConsumer) -> None:
        """Fetch this client's assignments too, so that a new one ends a fetch early.

        The session reads what they say.
        """
        if self._assignments:
            return
        partition = own_assignments(kafka, self._settings, self.client_id)
        if partition is not None:
            end = kafka.end_offsets([partition])[partition]
            self._assignments = (partition,)
            kafka.assign([*self._reading, partition])
            kafka.seek(partition, end)

    def _disconnect(self) -> None:
        if self._kafka is not None:
            self._kafka.close(autocommit=False, timeout_ms=0)
            self._kafka = None

    def _mark_doubtful(self, queue: Queue) -> None:
        self._in_flight.mark_doubtful(queue)

    def _application(self) -> Application:
        return self._in_flight

    def _new_thread(self) -> ControlThread:
        thread = super()._new_thread()
        self._in_flight.connect(thread.report)
        return thread

    def _connect(self, thread: ControlThread, deadline: float) -> None:
        """Connect to the data, and learn the partitions before the engine grants the first one."""
        options = {
            **data_options(self._settings, self.client_id),
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


def _partition(record: Any) -> TopicPartition:
    return TopicPartition(record.topic, record.partition)
