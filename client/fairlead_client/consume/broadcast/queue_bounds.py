"""Looks up the bounds of queues on Kafka, for a client that decides itself where to begin."""

from collections.abc import Collection

from kafka import KafkaConsumer

from fairlead_client.consume.broadcast.start_offset import Bounds
from fairlead_client.model import Queue
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.connection import connect, consumer_options
from fairlead_client.transport.missing_right import hidden_topics, unreadable_topics_error
from fairlead_client.transport.queue_partition import partition_of_queue


class QueueBounds:
    """Connects at the first look-up, and again after each failure."""

    def __init__(self, settings: Settings, client_id: str) -> None:
        self._settings = settings
        self._client_id = client_id
        self._consumer: KafkaConsumer | None = None

    def look_up(self, queues: Collection[Queue]) -> dict[Queue, Bounds]:
        """Return the bounds of these queues.

        Raises:
            KafkaError: the look-up of a queue failed.
            NotAllowedError: this user may not see a topic.
        """
        try:
            return self._look_up(queues)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            consumer.close(autocommit=False, timeout_ms=0)

    def _look_up(self, queues: Collection[Queue]) -> dict[Queue, Bounds]:
        partitions = {queue: partition_of_queue(queue) for queue in queues}
        if self._consumer is None:
            options = consumer_options(self._settings, self._client_id)
            topics = sorted({partition.topic for partition in partitions.values()})
            self._consumer = connect(KafkaConsumer, options, topics)
            lack = unreadable_topics_error(self._settings, hidden_topics(self._consumer), topics)
            if lack is not None:
                # The library would wait for a topic that it cannot see.
                raise lack
        wanted = [*partitions.values()]
        least = self._consumer.beginning_offsets(wanted)
        # Before the offsets of the time: a message written in between may be new enough.
        end = self._consumer.end_offsets(wanted)
        at_time = {}
        if self._settings.consume_timestamp_ms is not None:
            times = dict.fromkeys(wanted, self._settings.consume_timestamp_ms)
            at_time = self._consumer.offsets_for_times(times)
        return {
            queue: Bounds(
                least[partition],
                end[partition],
                None if (first := at_time.get(partition)) is None else first.offset,
            )
            for queue, partition in partitions.items()
        }
