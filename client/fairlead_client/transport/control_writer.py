"""Writes one incarnation's records, and reports the result of each as an event."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock, Thread
from typing import Any

from kafka import KafkaProducer
from kafka.errors import KafkaError, TopicAuthorizationFailedError

from fairlead_client.session import actions, events
from fairlead_client.session.clock import now_ms
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.connection import connect, producer_options
from fairlead_client.transport.encoding import Encoder
from fairlead_client.transport.missing_right import missing_right
from fairlead_client.transport.partitioner import partition_of
from fairlead_client.transport.topics import Topics

logger = logging.getLogger(__name__)

SendAction = (
    actions.SendHeartbeat
    | actions.SendProgress
    | actions.SendClaims
    | actions.SendRelease
    | actions.SendLeave
    | actions.SendFormer
)
Report = Callable[[events.Event], None]


class ControlWriter:
    """A producer for one incarnation; unsent records of an earlier incarnation are dropped.

    `send` never waits for a broker, because the constructor reads the numbers of partitions.

    Args:
        settings: the client's settings.
        client_id: the client's id.
        encoder: writes the records.
        report: called with events, on this thread and on the producer's.

    Raises:
        KafkaError: no connection, or a topic is missing.
    """

    def __init__(
        self, settings: Settings, client_id: str, encoder: Encoder, report: Report
    ) -> None:
        self._settings = settings
        self._group = settings.group
        self._encoder = encoder
        self._report = report
        self._topics = Topics(settings.prefix)
        options = producer_options(settings, client_id)
        self._producer = connect(KafkaProducer, options, self._topics.written)
        try:
            self._counts = {topic: self._count(topic) for topic in self._topics.needed}
        except Exception:
            self._producer.close(timeout=0)
            raise
        try:
            self._counts[self._topics.handovers] = self._count(self._topics.handovers)
        except KafkaError as error:
            self._stop_handovers(error)

    def _count(self, topic: str) -> int:
        try:
            return len(self._producer.partitions_for(topic))
        except TopicAuthorizationFailedError as error:
            raise self._named(topic, error) from error

    def _named(self, topic: str, error: BaseException) -> BaseException:
        """Return an error that names the missing right, if a right is missing."""
        if not isinstance(error, TopicAuthorizationFailedError):
            return error
        return missing_right(self._settings, "Write", f"topic {topic}", error)

    def send(self, action: SendAction) -> None:
        """Write an action's records; `report` gets the result."""
        match action:
            case actions.SendHeartbeat(incarnation=incarnation, sequence=sequence):
                sent_at_ms = now_ms()
                self._send(
                    self._topics.heartbeats,
                    [self._encoder.heartbeat(action)],
                    events.HeartbeatAppended(incarnation, sequence, sent_at_ms),
                    events.HeartbeatFailed(incarnation, sequence),
                )
            case actions.SendProgress(incarnation=incarnation, entries=entries):
                self._send(
                    self._topics.heartbeats,
                    self._encoder.progress(action),
                    None,
                    events.ProgressFailed(incarnation, entries),
                )
            case actions.SendClaims(incarnation=incarnation, generation=generation):
                self._send(
                    self._topics.heartbeats,
                    self._encoder.claims(action),
                    events.ClaimsAppended(incarnation, generation),
                    events.ClaimsFailed(incarnation, generation),
                )
            case actions.SendFormer(incarnation=incarnation, epoch=epoch):
                self._send(
                    self._topics.heartbeats,
                    self._encoder.former(action),
                    events.FormerAppended(incarnation, epoch),
                    events.FormerFailed(incarnation, epoch),
                )
            case actions.SendRelease(incarnation, queue, epoch, position, successor=successor):
                value = self._encoder.release(action)
                self._send(
                    self._topics.releases,
                    [value],
                    events.ReleaseAppended(incarnation, queue, epoch, position),
                    events.ReleaseFailed(incarnation, queue, epoch),
                )
                self._send_handover(value, successor)
            case actions.SendLeave(incarnation=incarnation):
                self._send(
                    self._topics.heartbeats,
                    [self._encoder.leave(action)],
                    events.LeaveAppended(incarnation),
                    events.LeaveFailed(incarnation),
                )

    def _send(
        self,
        topic: str,
        values: Sequence[bytes],
        appended: events.Event | None,
        failed: events.Event,
    ) -> None:
        answers = _Answers(partial(self._named, topic), len(values), appended, failed, self._report)
        partition = partition_of(self._group, self._counts[topic])
        for value in values:
            try:
                future = self._producer.send(
                    topic, value=value, key=self._group.encode(), partition=partition
                )
            except KafkaError as error:
                answers.failed(error)
                return
            future.add_callback(answers.appended)
            future.add_errback(answers.failed)

    def _send_handover(self, value: bytes, successor: str | None) -> None:
        """Write a release to the client that waits for it, or to the group if that is unknown.

        A client that misses it gets the release from the engine, later.
        """
        topic = self._topics.handovers
        count = self._counts.get(topic)
        if count is None:
            return
        partition = partition_of(self._group + (successor or ""), count)
        try:
            sent = self._producer.send(
                topic, value=value, key=self._group.encode(), partition=partition
            )
        except KafkaError as error:
            self._stop_handovers(error)
        else:
            sent.add_errback(self._handover_failed)

    def _handover_failed(self, error: BaseException) -> None:
        if isinstance(error, TopicAuthorizationFailedError):
            self._stop_handovers(error)

    def _stop_handovers(self, error: KafkaError) -> None:
        """Write no handovers from now on: a new question for the topic would delay heartbeats."""
        if isinstance(error, TopicAuthorizationFailedError):
            error = self._named(self._topics.handovers, error)
        self._counts.pop(self._topics.handovers, None)
        logger.warning(
            "cannot hand releases over, so successors wait for the engine: topic %r: %s",
            self._topics.handovers,
            error,
        )

    def close(self, timeout_ms: int) -> Thread:
        """Close in the background, with some time for unfinished records; return the thread."""
        thread = Thread(
            target=self._close,
            args=(timeout_ms / 1_000,),
            name="fairlead-writer-close",
            daemon=True,
        )
        thread.start()
        return thread

    def _close(self, timeout: float) -> None:
        try:
            self._producer.close(timeout=timeout)
        except KafkaError as error:
            logger.debug("closing the producer: %s", error)
            self._producer.close(timeout=0)


class _Answers:
    """Waits for the answers to all records of one action, on the producer's thread."""

    def __init__(
        self,
        named: Callable[[BaseException], BaseException],
        count: int,
        appended: events.Event | None,
        failed: events.Event,
        report: Report,
    ) -> None:
        self._named = named
        self._missing = count
        self._appended = appended
        self._failed: events.Event | None = failed
        self._report = report
        self._lock = Lock()

    def appended(self, _metadata: Any) -> None:
        """Note that one more record is in the log."""
        with self._lock:
            self._missing -= 1
            done = self._missing == 0
        if done and self._appended is not None:
            self._report(self._appended)

    def failed(self, error: BaseException) -> None:
        """Report that a record may not be in the log; only the first failure counts."""
        with self._lock:
            event, self._failed = self._failed, None
        if event is not None:
            error = self._named(error)
            logger.warning("%s: %s: %s", type(event).__name__, type(error).__name__, error)
            self._report(event)
