"""Writes failed messages to the retry and dead-letter topics of their group, on Kafka."""

import logging
from threading import Lock
from typing import Final

from kafka import KafkaProducer
from kafka.errors import KafkaError, KafkaTimeoutError

from fairlead_client.clock import wall_ms
from fairlead_client.errors import SendBackError
from fairlead_client.message import Message
from fairlead_client.retry.delay_level import queue_of_level
from fairlead_client.retry.redelivery import SentBack, reconsume_limit, send_back
from fairlead_client.settings import Settings
from fairlead_client.topic_names import kafka_topic
from fairlead_client.transport.connection import close_in_background, connect, producer_options

logger = logging.getLogger(__name__)

METADATA_WAIT_MS: Final = 2_000
"""So long a thread that consumes waits to learn of a topic that may not be there yet."""
REQUEST_BYTES_MAX: Final = 100 * 1_024 * 1_024
"""As much as a broker takes at once (socket.request.max.bytes). What it took before it may take
again: how big a message may be is the topic's to say, not this client's.
"""


class KafkaFailedMessages:
    """Keeps failed messages in Kafka: in the group's retry topic, in the end in its DLQ.

    A message counts as kept when all replicas in sync have it. Only then may its offset be passed:
    a process that is killed between the two has the message twice, never not at all.

    Args:
        settings: where to connect to, and whose messages they are.
        client_id: what the connection is called.
        max_reconsume_times: how often a message may come back; -1: 16, and in ordered groups
            without an end.
    """

    def __init__(self, settings: Settings, client_id: str, max_reconsume_times: int = -1) -> None:
        self._settings = settings
        self._client_id = client_id
        self._limit = reconsume_limit(max_reconsume_times, ordered=settings.ordered)
        self._lock = Lock()
        self._producer: KafkaProducer | None = None
        self._closed = False

    def send_back(self, message: Message, attempt: int, delay: int) -> None:
        """Keep the message, so that the group gets it again; return when that is sure.

        Args:
            message: as it was handed out.
            attempt: how often it was handed out where it is, the failed time included.
            delay: RocketMQ's delay level; 0: by the number of attempts; negative: to the DLQ.

        Raises:
            SendBackError: it is not sure that the message is kept.
        """
        group = self._settings.group
        back = send_back(message, attempt, delay, group=group, limit=self._limit, now_ms=wall_ms())
        try:
            producer = self._connected()
            name = kafka_topic(back.topic)
            partition = self._partition(producer, name, back)
            producer.send(
                name,
                value=back.value,
                key=message.key,
                headers=list(back.headers),
                partition=partition,
            ).get(timeout=self._settings.lease_ms / 1_000)
        except (KafkaError, AssertionError) as error:
            raise SendBackError(
                f"{back.redelivery.message_id} was not written to {back.topic}: {error!r};"
                " is the topic there, and its max.message.bytes large enough?"
            ) from error
        if back.is_dead:
            logger.warning(
                "%s failed %d times and is in %s",
                back.redelivery.message_id,
                back.redelivery.reconsume_times + 1,
                back.topic,
            )

    def close(self) -> None:
        """Close the connection, in the background: what is under way may still be kept."""
        with self._lock:
            self._closed = True
        self._disconnect()

    def _disconnect(self) -> None:
        with self._lock:
            producer, self._producer = self._producer, None
        # It waits for what is unanswered, and whoever is here must not.
        close_in_background(producer, self._settings.lease_ms, "fairlead-send-back-close")

    def _connected(self) -> KafkaProducer:
        with self._lock:
            if self._closed:
                raise SendBackError("this client is closed; the message is read again elsewhere")
            if self._producer is None:
                options = producer_options(self._settings, self._client_id)
                options["max_block_ms"] = METADATA_WAIT_MS
                options["max_request_size"] = REQUEST_BYTES_MAX
                self._producer = connect(KafkaProducer, options, ())
            return self._producer

    def _partition(self, producer: KafkaProducer, name: str, back: SentBack) -> int | None:
        """Return where the message waits; None in the DLQ: by its key."""
        level = back.redelivery.delay_level
        try:
            partitions = producer.partitions_for(name)
        except KafkaTimeoutError:
            # It would go on asking for the topic that is not there, many times a second.
            self._disconnect()
            raise
        if level is None:
            return None
        return queue_of_level(level, len(partitions), back.redelivery.origin_offset)
