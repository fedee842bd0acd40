"""Reads every topic's route from Fairlead's routes topic, and each change as it is written."""

import logging
from collections.abc import Callable, Collection
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, Final

from kafka import KafkaConsumer
from kafka.errors import TopicAuthorizationFailedError
from kafka.structs import TopicPartition

from fairlead_client.errors import (
    ClientClosedError,
    MalformedRecordError,
    NotAllowedError,
    StartFailedError,
)
from fairlead_client.routes.route_record import decode_route_record
from fairlead_client.routes.topic_route import TopicRoute
from fairlead_client.transport.connection import (
    Cluster,
    connect,
    consumer_options,
    partition_count,
)
from fairlead_client.transport.missing_right import hidden_topics, missing_right
from fairlead_client.transport.topic_consumer import TopicConsumer
from fairlead_client.transport.topics import Topics

logger = logging.getLogger(__name__)

POLL_MS: Final = 100
"""A poll cannot be woken: so long may a question wait."""
RETRY_SECONDS: Final = 0.2
OnRoute = Callable[[str, TopicRoute | None], None]
"""Takes a topic and its whole route, None when the topic is gone."""


class RouteReader(Thread):
    """Follows the routes topic from its first record on until stopped.

    Args:
        settings: where to connect to; a client's Settings will do.
        client_id: what the connection is called.
        on_route: takes each record in its order, old ones of the same topic included until `ready`;
            called on this thread.
        who: who reads, as a sentence begins with it.

    Attributes:
        ready: set when the topic was once read to its end.
        last_error: what went wrong last; reading is tried again.
        malformed: how many records could not be read; they change nothing.
    """

    def __init__(
        self, settings: Cluster, client_id: str, on_route: OnRoute, who: str = "clients"
    ) -> None:
        super().__init__(name="fairlead-route-reader", daemon=True)
        self._settings = settings
        self._client_id = client_id
        self._partition = TopicPartition(Topics(settings.prefix).routes, 0)
        self._on_route = on_route
        self._who = who
        self._stopping = Event()
        self._asked: SimpleQueue[Future[None]] = SimpleQueue()
        self.ready = Event()
        self.last_error: Exception | None = None
        self.malformed = 0

    def read_to_end(self) -> Future[None]:
        """Return what is done when all that was written before this call has been told.

        It fails with ClientClosedError when the reader stops before.
        """
        asked: Future[None] = Future()
        self._asked.put(asked)
        if self._stopping.is_set():
            self._refuse_all()
        return asked

    def stop(self) -> None:
        """End soon."""
        self._stopping.set()

    def run(self) -> None:
        """Follow the topic until stopped; after any error, begin again where it was."""
        consumer: KafkaConsumer | None = None
        told = ""
        while not self._stopping.is_set():
            try:
                if consumer is None:
                    consumer = self._connect()
                self._follow(consumer)
            except Exception as failure:  # noqa: BLE001 - whatever it was, reading is tried again
                error: Exception = failure
                if isinstance(failure, TopicAuthorizationFailedError):
                    error = self._unread
                again, told = repr(error) == told, repr(error)
                logger.log(logging.DEBUG if again else logging.WARNING, "reading routes: %s", told)
                self.last_error = error
                self._stopping.wait(RETRY_SECONDS)
        if consumer is not None:
            consumer.close(autocommit=False, timeout_ms=0)
        self._refuse_all()

    def _connect(self) -> KafkaConsumer:
        options = consumer_options(self._settings, self._client_id)
        options["fetch_max_wait_ms"] = POLL_MS
        consumer = connect(TopicConsumer, options, [self._partition.topic])
        try:
            self._begin(consumer, hidden_topics(consumer))
        except BaseException:
            consumer.close(autocommit=False, timeout_ms=0)
            raise
        return consumer

    def _begin(self, consumer: KafkaConsumer, hidden: Collection[str]) -> None:
        topic = self._partition.topic
        if not partition_count(consumer, topic):
            if topic in hidden:
                raise self._unread
            raise StartFailedError(
                f"topic {topic!r} does not exist; start the engine first, or check the prefix"
            )
        consumer.assign([self._partition])
        consumer.seek(self._partition, 0)

    @property
    def _unread(self) -> NotAllowedError:
        """What is wrong where the brokers do not let this user read routes."""
        topic = f"topic {self._partition.topic}"
        return missing_right(self._settings, "Read", topic, who=self._who)

    def _follow(self, consumer: KafkaConsumer) -> None:
        asked = self._take_asked()
        if asked or not self.ready.is_set():
            try:
                self._read_to_end(consumer)
            except BaseException:
                for one in asked:
                    self._asked.put(one)
                raise
            if self._stopping.is_set():
                _refuse(asked)
                return
            self.ready.set()
            for one in asked:
                one.set_result(None)
        self._deliver(consumer.poll(timeout_ms=POLL_MS))

    def _read_to_end(self, consumer: KafkaConsumer) -> None:
        end = consumer.end_offsets([self._partition])[self._partition]
        while not self._stopping.is_set():
            position = consumer.position(self._partition, timeout_ms=POLL_MS)
            if position is not None and position >= end:
                return
            self._deliver(consumer.poll(timeout_ms=POLL_MS))

    def _deliver(self, batches: dict[TopicPartition, list[Any]]) -> None:
        for batch in batches.values():
            for record in batch:
                try:
                    self._apply(record)
                except MalformedRecordError as error:
                    self.malformed += 1
                    logger.warning("ignored %s@%d: %s", record.topic, record.offset, error)

    def _apply(self, record: Any) -> None:
        if record.value is not None:
            read = decode_route_record(record.value)
            if read is not None:
                self._on_route(read.topic, read.route)
            return
        try:
            topic = (record.key or b"").decode()
        except UnicodeDecodeError as error:
            raise MalformedRecordError("key", "is no text") from error
        self._on_route(topic, None)

    def _take_asked(self) -> list[Future[None]]:
        asked = []
        while True:
            try:
                asked.append(self._asked.get_nowait())
            except Empty:
                return [one for one in asked if not one.done()]

    def _refuse_all(self) -> None:
        _refuse(self._take_asked())


def _refuse(asked: list[Future[None]]) -> None:
    for one in asked:
        if not one.done():
            one.set_exception(ClientClosedError("the reader of routes was stopped"))
