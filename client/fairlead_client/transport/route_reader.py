"""Reads all routes from Fairlead's routes topic, and follows their changes."""

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
from fairlead_client.session.failure import FailureLog
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
"""The longest poll. It cannot be woken, so a request may wait this long."""
RETRY_SECONDS: Final = 0.2
OnRoute = Callable[[str, TopicRoute | None], None]
"""`on_route(topic, route)` gets a topic's whole route; None: the topic is gone."""


class RouteReader(Thread):
    """Follows the routes topic from its first record on, until stopped.

    Args:
        settings: the connection's settings; a client's Settings will do.
        client_id: the client's id, which names the connection.
        on_route: called on this thread with each record in order; until `ready` it may get old
            routes of a topic too.
        who: who reads, in the plural, for errors.

    Attributes:
        ready: set when the reader has once read the topic to its end.
        last_error: the last error; the reader tries again.
        malformed: the number of unreadable records, which change nothing.
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
        """Return a future that is done when all records written before this call are read.

        It fails with ClientClosedError if the reader stops before.
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
        """Follow the topic until stopped; after an error, continue at the same place."""
        consumer: KafkaConsumer | None = None
        failures = FailureLog(logger)
        while not self._stopping.is_set():
            try:
                if consumer is None:
                    consumer = self._connect()
                self._follow(consumer)
            except Exception as failure:  # noqa: BLE001 - any error is reported and tried again
                error: Exception = failure
                if isinstance(failure, TopicAuthorizationFailedError):
                    error = self._unread
                failures.log(repr(error), "cannot read routes: %r; trying again", error)
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
        """The error if this user may not read the routes."""
        topic = f"topic {self._partition.topic}"
        return missing_right(self._settings, "Read", topic, who=self._who)

    def _follow(self, consumer: KafkaConsumer) -> None:
        asked = self._take_asked()
        if asked or not self.ready.is_set():
            try:
                self._read_to_end(consumer)
            except BaseException:
                for future in asked:
                    self._asked.put(future)
                raise
            if self._stopping.is_set():
                _refuse(asked)
                return
            self.ready.set()
            for future in asked:
                future.set_result(None)
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
                return [future for future in asked if not future.done()]

    def _refuse_all(self) -> None:
        _refuse(self._take_asked())


def _refuse(asked: list[Future[None]]) -> None:
    for future in asked:
        if not future.done():
            future.set_exception(ClientClosedError("the reader of routes was stopped"))
