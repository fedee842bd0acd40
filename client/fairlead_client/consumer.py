"""The simplest client: an iterator over the messages of the queues that it owns."""

from collections.abc import Iterator, Sequence
from threading import get_ident
from time import monotonic
from types import TracebackType
from typing import ClassVar, Unpack

from fairlead_client.consume.in_flight import InFlight
from fairlead_client.consume.kafka_reading import KafkaReading
from fairlead_client.consume.member import Member
from fairlead_client.consume.pull.messages import message_of
from fairlead_client.consume.reading import Ownership, Reading
from fairlead_client.consume.source_reading import SourceReading
from fairlead_client.errors import ClientClosedError
from fairlead_client.message import Message
from fairlead_client.model import Queue, Subscription
from fairlead_client.rocketmq.data_plane import source_of, store_of
from fairlead_client.session.application import Application
from fairlead_client.session.failure import Failure
from fairlead_client.session.observer import Observer
from fairlead_client.settings.client_settings import Settings, SettingsArguments
from fairlead_client.settings.keywords import by_keyword
from fairlead_client.settings.setting_types import check_type
from fairlead_client.transport.control_thread import ControlThread
from fairlead_client.transport.offset_store import OffsetStore
from fairlead_client.transport.tags import TAG_HEADER, immediate_filter


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
        tag_header: the header that holds a message's tag.
        offset_store: where to commit positions instead of the group's offsets of the data plane.
        observer: receives events, such as a ClientMetrics.
        settings: see `Settings`.

    Raises:
        SettingsError: a setting cannot work, such as a filter that is no list of tags. Retry
            topics of Kafka are refused: this consumer would hand out their messages before they
            are due.
    """

    WATCHES_ASSIGNMENTS: ClassVar[bool] = True
    """Whether it fetches its own assignments on Kafka too, so that a new one ends a fetch early."""

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
        super().__init__(chosen, offset_store=store_of(chosen, offset_store), observer=observer)
        self._explicit_done = explicit_done
        self._in_flight = InFlight(self._observer)
        self._read_failure: Failure | None = None
        self._last: Message | None = None
        self._polling: int | None = None
        ownership = Ownership(self._epoch_of, self._granted)
        source = source_of(chosen, None, tag_header, self._granted)
        self._reading: Reading = (
            KafkaReading(
                chosen,
                self.client_id,
                self._in_flight,
                ownership,
                self._observer,
                watches=self.WATCHES_ASSIGNMENTS,
            )
            if source is None
            else SourceReading(
                source, self._in_flight, ownership, self._observer, self._read_failed
            )
        )

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
            self._reading.close()
            raise
        if self._stopping:
            self._reading.close()

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
            self._reading.fetch(left)
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
        self._reading.subscribe(self._subscribed)

    def close(self, timeout_ms: int | None = None) -> None:
        """Leave the group. From another thread it first waits for the messages in hand."""
        self._check_fork()
        self._stopping = True
        if self._polling in (None, get_ident()):
            # Nobody else finishes the messages in hand: their queues are released before them.
            self._in_flight.give_up()
        super().close(timeout_ms)
        if self._polling in (None, get_ident()):
            self._reading.close()

    def _finish_last(self) -> None:
        message, self._last = self._last, None
        if message is not None and not self._explicit_done:
            self._in_flight.done(message, self._epoch_of)

    def _next_fetched(self) -> Message | None:
        for queue in self._in_flight.rewind(self._epoch_of):
            self._reading.again(queue)
        self._reading.follow()
        while (taken := self._reading.take()) is not None:
            queue, epoch, record, after = taken
            if record is None:
                self._in_flight.skip(queue, epoch, after)
                continue
            message = message_of(queue, epoch, record)
            if self._in_flight.hand_out(message, self._epoch_of):
                if self._filter.wanted(queue.topic, (record,)):
                    return message
                offset = message.offset
                self._observer.passed(queue, epoch, offset, offset + 1, "filtered")
                self._in_flight.done(message, self._epoch_of)
                continue
            if self._in_flight.awaits_lease(message):
                self._reading.put_back(taken)
                return None
        return None

    @property
    def _last_failure(self) -> Failure | None:
        # An error of reading counts only if nothing else went wrong.
        return super()._last_failure or self._read_failure

    def _read_failed(self, error: Exception) -> None:
        self._read_failure = Failure.now(error)

    def _mark_doubtful(self, queue: Queue) -> None:
        self._in_flight.mark_doubtful(queue)

    def _application(self) -> Application:
        return self._in_flight

    def _new_thread(self) -> ControlThread:
        thread = super()._new_thread()
        self._in_flight.connect(thread.report)
        return thread

    def _connect(self, thread: ControlThread, deadline: float) -> None:
        """Connect to the data, and learn the queues before the engine grants the first one."""
        self._reading.connect(thread, deadline)
