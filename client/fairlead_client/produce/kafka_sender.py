"""Sends messages to Kafka: each one once, to the leader of the chosen partition.

By default kafka-python retries, waits and looks for leaders. Here it does not: an attempt fails
when its time is over, and the producer decides what to try next.
"""

from concurrent.futures import Future, InvalidStateError
from contextlib import closing, suppress
from functools import partial
from threading import Event, Thread
from typing import Any, Final

from kafka import KafkaAdminClient, KafkaProducer
from kafka import errors as kafka_errors
from kafka.admin import NewTopic
from kafka.errors import (
    KafkaError,
    TopicAlreadyExistsError,
    TopicAuthorizationFailedError,
)
from kafka.structs import TopicPartition

from fairlead_client.produce.outgoing import OutgoingMessage
from fairlead_client.produce.send_error import Fault, SendingError
from fairlead_client.produce.sender import Accepted
from fairlead_client.produce.target import Target
from fairlead_client.session.clock import now_ms
from fairlead_client.session.topic_names import kafka_topic
from fairlead_client.transport.connection import (
    Cluster,
    close_producer,
    connect,
    connection_options,
)
from fairlead_client.transport.missing_right import missing_right
from fairlead_client.transport.queue_partition import partition_of_queue
from fairlead_client.transport.withdrawal import Withdrawal

OVERHEAD_BYTES: Final = 64 * 1024
"""Room for a message's key, headers and frame beside its value."""
_NOT_OF_ADMIN: Final = frozenset({"allow_auto_create_topics", "metrics_enabled"})
_NOT_LEADER: Final = (
    kafka_errors.NotLeaderForPartitionError,
    kafka_errors.LeaderNotAvailableError,
    kafka_errors.UnknownTopicOrPartitionError,
)
_UNREACHABLE: Final = (
    kafka_errors.KafkaTimeoutError,
    kafka_errors.KafkaConnectionError,
    kafka_errors.RequestTimedOutError,
    kafka_errors.NetworkExceptionError,
    kafka_errors.NodeNotReadyError,
    kafka_errors.Cancelled,
)


class KafkaSender:
    """A Sender with one KafkaProducer.

    Args:
        settings: where the messages go.
        client_id: the producer's id, which names the connection.
        attempt_timeout_ms: how long an attempt may take if others may follow.
        longest_attempt_ms: how long any attempt may take.
        max_message_bytes: the longest value.

    Raises:
        KafkaError: no broker answered in time.
    """

    def __init__(
        self,
        settings: Cluster,
        client_id: str,
        *,
        attempt_timeout_ms: int,
        longest_attempt_ms: int,
        max_message_bytes: int,
    ) -> None:
        self._settings = settings
        self._options = connection_options(settings, client_id)
        options = {
            **self._options,
            "acks": "all",
            # The message of a failed attempt goes elsewhere. It would leave a gap in Kafka's
            # numbering, and Kafka would refuse all messages behind the gap.
            "enable_idempotence": False,
            "retries": 0,
            "request_timeout_ms": longest_attempt_ms,
            "delivery_timeout_ms": longest_attempt_ms,
            "max_block_ms": attempt_timeout_ms,
            "max_request_size": max_message_bytes + OVERHEAD_BYTES,
        }
        self._attempt_timeout_ms = attempt_timeout_ms
        self._longest_attempt_ms = longest_attempt_ms
        self._producer = connect(KafkaProducer, options, ())
        self._withdrawal = Withdrawal(self._producer)
        self._cluster = self._producer._metadata  # noqa: SLF001 - only here are the leaders

    def knows(self, topic: str) -> bool:
        """Return whether the topic's partitions are known, so that kafka-python does not wait."""
        return self._cluster.partitions_for_topic(kafka_topic(topic)) is not None

    def learn(self, topic: str, timeout_ms: int, queues: int | None = None) -> None:
        """Ask for the topic's partitions, and wait for the answer.

        With `queues`, create a missing topic with the brokers' default number of replicas.

        Raises:
            SendingError: no broker answered, or the topic does not exist.
        """
        name = kafka_topic(topic)
        ends_ms = now_ms() + timeout_ms
        try:
            if queues is not None:
                self._create(name, queues, timeout_ms)
            # One ms more, because kafka-python rounds waits down.
            left_ms = max(0, ends_ms - now_ms()) + 1
            self._producer._wait_on_metadata(name, left_ms)  # noqa: SLF001 - partitions_for in time
            if queues is not None:
                self._await_leaders(name, ends_ms)
        except (KafkaError, ValueError) as error:
            raise sending_error(self._named(error, name), None) from error

    def _create(self, name: str, queues: int, timeout_ms: int) -> None:
        topic = NewTopic(name=name, num_partitions=queues, replication_factor=-1)
        options = {name: self._options[name] for name in self._options.keys() - _NOT_OF_ADMIN}
        for limit in ("bootstrap_timeout_ms", "request_timeout_ms"):
            options[limit] = min(options[limit], timeout_ms)
        with (
            suppress(TopicAlreadyExistsError),
            closing(connect(KafkaAdminClient, options, ())) as admin,
        ):
            try:
                admin.create_topics([topic], timeout_ms=timeout_ms)
            except TopicAuthorizationFailedError as error:
                resource = f"topic {name}"
                raise missing_right(
                    self._settings, "Create", resource, error, who="producers"
                ) from error

    def _named(self, error: BaseException, topic: str) -> BaseException:
        """Return an error that names the missing right, if a right is missing."""
        if not isinstance(error, TopicAuthorizationFailedError):
            return error
        return missing_right(self._settings, "Write", f"topic {topic}", error, who="producers")

    def _await_leaders(self, name: str, ends_ms: int) -> None:
        """Wait until each partition of a new topic has a leader, or the time is over."""
        while now_ms() < ends_ms:
            numbers = self._cluster.partitions_for_topic(name) or ()
            if numbers and all(self._leader(TopicPartition(name, number)) for number in numbers):
                return
            learnt = Event()
            asked = self._cluster.request_update()
            asked.add_callback(lambda _, learnt=learnt: learnt.set())
            asked.add_errback(lambda _, learnt=learnt: learnt.set())
            learnt.wait(max(0, ends_ms - now_ms()) / 1_000)

    def send(self, target: Target, message: OutgoingMessage, timeout_ms: int) -> Future[Accepted]:
        """Begin to send to the partition's present leader.

        Without a known leader, ask the cluster once more. To cancel the returned future takes the
        message back, unless it has left.
        """
        del timeout_ms
        ended: Future[Accepted] = Future()
        partition = partition_of_queue(target.queue)
        if self._leader(partition) is None:
            again = partial(self._send, ended, target, partition, message)
            asked = self._cluster.request_update()
            asked.add_callback(again)
            asked.add_errback(again)
        else:
            self._send(ended, target, partition, message)
        return ended

    def _leader(self, partition: TopicPartition) -> str | None:
        leader = self._cluster.leader_for_partition(partition)
        return None if leader is None or leader < 0 else str(leader)

    def _send(
        self,
        ended: Future[Accepted],
        target: Target,
        partition: TopicPartition,
        message: OutgoingMessage,
        *_: object,
    ) -> None:
        if ended.cancelled():
            return
        broker = self._leader(partition)
        if broker is None:
            # Its broker is gone, and no other one leads it.
            why = f"partition {partition.partition} of {partition.topic} has no leader"
            _fail(ended, SendingError(Fault.UNREACHABLE, why, target.broker))
            return
        try:
            sent = self._producer.send(
                partition.topic,
                value=message.value,
                key=message.key,
                headers=message.all_headers,
                partition=partition.partition,
                timestamp_ms=message.timestamp_ms,
            )
        except Exception as error:  # noqa: BLE001 - this may run on the connection's thread
            _fail(ended, sending_error(self._named(error, partition.topic), broker))
            return
        sent.add_callback(partial(_accepted, ended, broker))
        sent.add_errback(partial(self._refused, ended, partition.topic, broker))
        ended.add_done_callback(partial(self._given_up, sent))

    def _refused(
        self, ended: Future[Accepted], topic: str, broker: str, error: BaseException
    ) -> None:
        _fail(ended, sending_error(self._named(error, topic), broker))

    def _given_up(self, sent: Any, ended: Future[Accepted]) -> None:
        if ended.cancelled():
            self._withdrawal.take_back(sent)

    def close(self, timeout_ms: int) -> None:
        """Wait for unfinished sendings, at least for an attempt's time, then close.

        If a broker takes longer, the close ends on a background thread.
        """
        closing_ms = max(timeout_ms, self._longest_attempt_ms)
        name = f"{self._options['client_id']}-closing"
        closer = Thread(
            target=close_producer, args=(self._producer, closing_ms), name=name, daemon=True
        )
        closer.start()
        closer.join(max(timeout_ms, self._attempt_timeout_ms) / 1_000)


def sending_error(error: BaseException, broker: str | None) -> SendingError:
    """Return the SendingError for an error of kafka-python."""
    why = f"{type(error).__name__}: {error}"
    if isinstance(error, _NOT_LEADER):
        return SendingError(Fault.NOT_LEADER, why, broker)
    if isinstance(error, _UNREACHABLE):
        return SendingError(Fault.UNREACHABLE, why, broker)
    if isinstance(error, KafkaError) and getattr(error, "retriable", False):
        return SendingError(Fault.BUSY, why, broker)
    return SendingError(Fault.REFUSED, why, broker)


def _accepted(ended: Future[Accepted], broker: str, metadata: Any) -> None:
    with suppress(InvalidStateError):  # the producer gave the attempt up
        ended.set_result(Accepted(metadata.offset, broker))


def _fail(ended: Future[Accepted], error: SendingError) -> None:
    with suppress(InvalidStateError):  # the producer gave the attempt up
        ended.set_exception(error)
