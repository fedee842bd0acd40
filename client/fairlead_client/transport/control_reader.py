"""Reads the control topics for one client: assignments, releases and generations.

It has its own thread because a poll cannot be woken. The session's thread only waits for its inbox,
and so acts at once on each event.
"""

import logging
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any

from kafka import KafkaConsumer
from kafka.errors import KafkaError, TopicAuthorizationFailedError
from kafka.structs import TopicPartition

from fairlead_client.errors import FairleadClientError, MalformedRecordError, StartFailedError
from fairlead_client.session import events
from fairlead_client.session.clock import now_ms
from fairlead_client.session.failure import FailureLog
from fairlead_client.session.observer import Observer
from fairlead_client.session.records import Assignment
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.connection import connect, consumer_options, partition_count
from fairlead_client.transport.decoding import (
    decode_assignment,
    decode_key,
    decode_release,
    is_generation,
)
from fairlead_client.transport.missing_right import (
    denied_topics,
    hidden_topics,
    unreadable_topics_error,
)
from fairlead_client.transport.partitioner import partition_of
from fairlead_client.transport.topic_consumer import TopicConsumer, UnreadableBatch
from fairlead_client.transport.topics import Topics

logger = logging.getLogger(__name__)

POLL_MS = 500
FETCH_WAIT_MS = 500
RETRY_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """The reader has read all generations, and follows the other partitions from their ends."""

    generation: int


class ControlReader(Thread):
    """Follows a client's partitions of the control topics from its start on.

    Args:
        settings: the client's settings.
        client_id: the client's id.
        report: called on this thread with events and CaughtUp.
        failed: called on this thread with each error.
        observer: receives each unreadable batch, on this thread.
    """

    def __init__(
        self,
        settings: Settings,
        client_id: str,
        report: Callable[[events.Event | CaughtUp], None],
        failed: Callable[[Exception], None],
        observer: Observer,
    ) -> None:
        super().__init__(name="fairlead-reader", daemon=True)
        self._settings = settings
        self._client_id = client_id
        self._topics = Topics(settings.prefix)
        self._all = ", ".join(self._topics.followed)
        self._report = report
        self._failed = failed
        self._observer = observer
        self._stopping = Event()
        self._catch_up = Event()
        self._catch_up.set()
        self._generation = 0
        self._reads_handovers = True
        self._hidden: frozenset[str] = frozenset()
        self._confirmed_at_ms = 0
        self._has_caught_up = False
        self._asked = self._all
        self._failures = FailureLog(logger)
        self.malformed = 0
        self.passed_over = 0
        self.records = 0

    def catch_up(self) -> None:
        """Read generations and assignments to their present ends, then report CaughtUp again."""
        self._catch_up.set()

    def stop(self) -> None:
        """End soon."""
        self._stopping.set()

    def run(self) -> None:
        """Follow the partitions until stopped; after an error, continue at the same place."""
        consumer: KafkaConsumer | None = None
        partitions: _Partitions | None = None
        while not self._stopping.is_set():
            try:
                if consumer is None:
                    options = consumer_options(self._settings, self._client_id)
                    # A broker answers requests in turn, so a question for the end waits for the
                    # fetch under way.
                    wait_ms = min(FETCH_WAIT_MS, self._settings.lease_ms // 12)
                    options["fetch_max_wait_ms"] = wait_ms
                    options["on_unreadable"] = self._note_unreadable
                    consumer = connect(TopicConsumer, options, self._topics.followed)
                    self._hidden = hidden_topics(consumer)
                if partitions is None:
                    self._asked = self._all
                    partitions = _assign(
                        consumer,
                        self._settings,
                        self._client_id,
                        self._hidden,
                        self._reads_handovers,
                    )
                self._follow(consumer, partitions)
                # Somebody may have granted the right to see hidden topics.
                self._hidden = frozenset()
            except Exception as failure:  # noqa: BLE001 - any error is reported and tried again
                needed = (self._topics.assignments, self._topics.generations)
                error = unreadable_topics_error(self._settings, self._hidden, needed) or failure
                if isinstance(failure, TopicAuthorizationFailedError):
                    denied = denied_topics(failure)
                    error = unreadable_topics_error(self._settings, denied, denied) or failure
                    if denied == {self._topics.handovers}:
                        # The client needs no handovers: the engine reports releases too, later.
                        self._reads_handovers, partitions = False, None
                self._log_failure(error)
                self._failed(error)
                self._stopping.wait(RETRY_SECONDS)
        if consumer is not None:
            consumer.close(autocommit=False, timeout_ms=0)

    def _log_failure(self, error: Exception) -> None:
        """Log why the client cannot read, once for each reason."""
        # Errors of other libraries may not name themselves.
        plain = isinstance(error, FairleadClientError | KafkaError)
        why = str(error) if plain else f"{type(error).__name__}: {error}"
        self._failures.log(
            why,
            "%s of %s cannot read %s: %s; it tries again",
            *(self._client_id, self._settings.group, self._asked, why),
        )

    def _follow(self, consumer: KafkaConsumer, partitions: "_Partitions") -> None:
        if self._catch_up.is_set():
            self._read_to_end(consumer, partitions.generations)
            if self._has_caught_up:
                # A client that cannot read must begin no new incarnation: it would get queues again
                # and again without knowing. Before the first one, the ends are fresh.
                self._confirm_assignments(consumer, partitions)
            self._catch_up.clear()
            self._has_caught_up = True
            self._report(CaughtUp(self._generation))
        left_ms = self._confirmed_at_ms + self._settings.lease_ms // 10 - now_ms()
        if left_ms <= 0:
            self._confirm_assignments(consumer, partitions)
            left_ms = self._settings.lease_ms // 10
        self._deliver(consumer.poll(timeout_ms=min(POLL_MS, left_ms)))

    def _confirm_assignments(self, consumer: KafkaConsumer, partitions: "_Partitions") -> None:
        """Read the assignments to their end, and report when that end was asked for."""
        at_ms = now_ms()
        self._read_to_end(consumer, partitions.assignments)
        self._confirmed_at_ms = at_ms
        self._report(events.AssignmentsReadToEnd(at_ms))

    def _read_to_end(self, consumer: KafkaConsumer, partition: TopicPartition) -> None:
        self._asked = partition.topic
        end = consumer.end_offsets([partition])[partition]
        self._asked = self._all
        while not self._stopping.is_set():
            position = consumer.position(partition, timeout_ms=POLL_MS)
            if position is not None and position >= end:
                return
            self._deliver(consumer.poll(timeout_ms=POLL_MS))

    def _note_unreadable(self, _batch: UnreadableBatch) -> None:
        self.passed_over += 1
        self._observer.batch_passed_over()

    def _deliver(self, batches: dict[TopicPartition, list[Any]]) -> None:
        for partition, batch in batches.items():
            for record in batch:
                self.records += 1
                try:
                    read = list(self._events(partition.topic, record))
                except (MalformedRecordError, RecursionError) as error:
                    # The records behind it must still be read.
                    self.malformed += 1
                    logger.warning(
                        "ignored %s-%d@%d: %s",
                        record.topic,
                        record.partition,
                        record.offset,
                        error,
                    )
                    continue
                for event in read:
                    self._report(event)

    def _events(self, topic: str, record: Any) -> Iterator[events.Event]:
        if record.value is None:
            return
        if topic == self._topics.assignments:
            if decode_key(record.key or b"") != (self._settings.group, self._client_id):
                return
            read = decode_assignment(record.value)
            if isinstance(read, Assignment):
                yield events.AssignmentRead(read)
            elif read is not None:
                yield events.NoticeRead(read)
        elif topic == self._topics.handovers:
            release = decode_release(record.value)
            if release is not None and release.group == self._settings.group:
                yield events.ReleaseRead(release)
        elif is_generation(record.value):
            self._generation = max(self._generation, record.offset + 1)
            yield events.GenerationRead(record.offset + 1)


@dataclass(frozen=True, slots=True)
class _Partitions:
    assignments: TopicPartition
    handovers: frozenset[TopicPartition]
    """The partitions of handovers to this client and to its group, which may be the same one. None
    without such a topic; then the engine reports releases."""
    generations: TopicPartition


def _assign(
    consumer: KafkaConsumer,
    settings: Settings,
    client_id: str,
    hidden: Collection[str],
    reads_handovers: bool,  # noqa: FBT001 - of one caller
) -> _Partitions:
    """Follow the client's partitions: generations from the start, the others from their end."""
    topics = Topics(settings.prefix)
    group = settings.group
    member = group + client_id
    readable = reads_handovers and partition_count(consumer, topics.handovers)
    keys = (member, group) if readable else ()
    unread = None if keys else unreadable_topics_error(settings, hidden, [topics.handovers])
    if unread is not None:
        logger.warning("learning of others' releases later, from the engine: %s", unread)
    partitions = _Partitions(
        _partition(consumer, settings, topics.assignments, member, hidden),
        frozenset(_partition(consumer, settings, topics.handovers, key, hidden) for key in keys),
        TopicPartition(topics.generations, 0),
    )
    followed = [partitions.assignments, *partitions.handovers]
    ends = consumer.end_offsets(followed)
    consumer.assign([*followed, partitions.generations])
    for partition in followed:
        consumer.seek(partition, ends[partition])
    consumer.seek(partitions.generations, 0)
    return partitions


def _partition(
    consumer: KafkaConsumer, settings: Settings, topic: str, text: str, hidden: Collection[str]
) -> TopicPartition:
    count = partition_count(consumer, topic)
    if not count:
        unread = unreadable_topics_error(settings, hidden, [topic])
        if unread is not None:
            raise unread
        raise StartFailedError(
            f"topic {topic!r} does not exist; start the engine first, or check the prefix"
        )
    return TopicPartition(topic, partition_of(text, count))
