"""Writes failed messages to their group's retry and dead-letter topics on Kafka."""

import logging
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import Final

from kafka import KafkaProducer
from kafka.errors import KafkaError, KafkaTimeoutError, TopicAuthorizationFailedError

from fairlead_client.consume.retry.delay_level import queue_of_level
from fairlead_client.consume.retry.redelivery import SentBack, reconsume_limit, send_back
from fairlead_client.errors import SendBackError
from fairlead_client.message import Message
from fairlead_client.session.clock import now_ms, wall_ms
from fairlead_client.session.failure import FailureLog
from fairlead_client.session.topic_names import kafka_topic, retry_topic
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.connection import close_in_background, connect, producer_options
from fairlead_client.transport.missing_right import missing_right
from fairlead_client.transport.requester import Requester

logger = logging.getLogger(__name__)

METADATA_WAIT_MS: Final = 1_000
"""How long a consuming thread waits for the partitions of a topic that may not exist yet."""
MAKING_WAIT_MS: Final = 5_000
"""How long it waits for a bridge to create the topic."""
VAIN_MS: Final = 60_000
"""After a wait in vain nobody waits for a bridge for this long, so that other queues go on."""
REQUEST_BYTES_MAX: Final = 100 * 1_024 * 1_024
"""The broker's limit of one request (socket.request.max.bytes). The topic limits the size of a
message, not this client."""


class KafkaFailedMessages:
    """Keeps failed messages on Kafka, in the group's retry topic and at last in its DLQ.

    A message is kept when all replicas in sync have it, and only then does the consumer pass its
    offset. A process that is killed in between leaves the message twice, never not at all.

    If a topic does not exist, or takes no messages because its group was forgotten, this asks the
    bridges to create both topics, and waits for them.

    Args:
        settings: the client's settings.
        client_id: the client's id, which names the connection.
        max_reconsume_times: how often a message may come back; -1: 16, and without limit in
            ordered groups.
    """

    def __init__(self, settings: Settings, client_id: str, max_reconsume_times: int = -1) -> None:
        self._settings = settings
        self._client_id = client_id
        self._limit = reconsume_limit(max_reconsume_times, ordered=settings.ordered)
        self._lock = Lock()
        self._producer: KafkaProducer | None = None
        self._closed = False
        self._requester = Requester(settings, client_id, settings.group)
        # A connection may take long.
        self._asking = ThreadPoolExecutor(1, "fairlead-send-back-asking")
        self._asking_failures = FailureLog(logger)
        self._in_vain_ms: int | None = None

    def send_back(self, message: Message, attempt: int, delay: int) -> None:
        """Keep the message for the group; return when it is safely stored.

        Args:
            message: the message, as the consumer handed it out.
            attempt: how often this consumer has handed it out, including the failed time.
            delay: RocketMQ's delay level; 0: by the number of attempts; negative: to the DLQ.

        Raises:
            SendBackError: the message may not be stored.
        """
        group = self._settings.group
        back = send_back(message, attempt, delay, group=group, limit=self._limit, now_ms=wall_ms())
        try:
            producer = self._connected()
            name = kafka_topic(back.topic)
            partition = self._partition(producer, name, back)
            self._in_vain_ms = None
            producer.send(
                name,
                value=back.value,
                key=message.key,
                headers=list(back.headers),
                partition=partition,
            ).get(timeout=self._settings.lease_ms / 1_000)
        except TopicAuthorizationFailedError as error:
            lack = missing_right(self._settings, "Write", f"topic {kafka_topic(back.topic)}", error)
            raise SendBackError(
                f"{back.redelivery.message_id} was not written to {back.topic}: {lack}"
            ) from lack
        except (KafkaError, AssertionError) as error:
            # The topic may be gone or closed: have it created before the next attempt.
            self._ask()
            raise SendBackError(
                f"{back.redelivery.message_id} was not written to {back.topic}: {error!r};"
                " check that the topic exists, and that its max.message.bytes is large enough"
            ) from error
        if back.is_dead:
            logger.warning(
                "%s failed %d times and is in %s",
                back.redelivery.message_id,
                back.redelivery.reconsume_times + 1,
                back.topic,
            )

    def close(self) -> None:
        """Close the connection in the background, so that unfinished writes may still succeed."""
        with self._lock:
            self._closed = True
        self._disconnect()
        self._asking.shutdown(wait=False, cancel_futures=True)
        self._requester.close()

    def _disconnect(self) -> None:
        with self._lock:
            producer, self._producer = self._producer, None
        # A close waits for answers, and this thread must not.
        close_in_background(producer, self._settings.lease_ms, "fairlead-send-back-close")

    def _connected(self) -> KafkaProducer:
        with self._lock:
            if self._closed:
                raise SendBackError("this client is closed; another one reads the message again")
            if self._producer is None:
                options = producer_options(self._settings, self._client_id)
                options["max_block_ms"] = METADATA_WAIT_MS
                options["max_request_size"] = REQUEST_BYTES_MAX
                self._producer = connect(KafkaProducer, options, ())
            return self._producer

    def _partition(self, producer: KafkaProducer, name: str, back: SentBack) -> int | None:
        """Return the partition where the message waits; None: the DLQ's partition of its key."""
        level = back.redelivery.delay_level
        try:
            partitions = self._partitions(producer, name)
        except KafkaTimeoutError:
            self._in_vain_ms = now_ms()
            # Otherwise the producer asks for the missing topic many times a second.
            self._disconnect()
            raise
        except TopicAuthorizationFailedError:
            # Otherwise the producer remembers that it may not see the topic.
            self._disconnect()
            raise
        if level is None:
            return None
        return queue_of_level(level, len(partitions), back.redelivery.origin_offset)

    def _partitions(self, producer: KafkaProducer, name: str) -> Collection[int]:
        """Return a topic's partitions; have a missing topic created, and wait for it.

        Raises:
            KafkaTimeoutError: the topic does not exist.
        """
        begun_ms, in_vain_ms = now_ms(), self._in_vain_ms
        is_vain = in_vain_ms is not None and begun_ms < in_vain_ms + VAIN_MS
        while True:
            try:
                return producer.partitions_for(name)  # type: ignore[no-any-return]
            except KafkaTimeoutError:
                self._ask()
                if is_vain or self._closed or now_ms() >= begun_ms + MAKING_WAIT_MS:
                    raise

    def _ask(self) -> None:
        """Ask the bridges for the group's topics, in the background."""
        with suppress(RuntimeError):  # the client is closed
            self._asking.submit(self._ask_now)

    def _ask_now(self) -> None:
        group = self._settings.group
        topic = retry_topic(group)
        if self._settings.gateway:
            remedy = f"`fairlead group set {group} --retry-topics on_subscription`"
            self._asking_failures.log(
                topic,
                "%s is missing, and a client of a gateway cannot ask for it: %s",
                topic,
                remedy,
            )
            return
        try:
            self._requester.ask(topic, "retry")
        except Exception as error:  # noqa: BLE001 - the next message asks again
            self._asking_failures.log(str(error), "cannot ask the bridges for %s: %s", topic, error)
