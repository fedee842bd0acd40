"""Looks up on Kafka what queues hold, for a client that works out itself where to begin."""

from collections.abc import Collection

from kafka import KafkaConsumer

from fairlead_client.consume.broadcast.start_offset import Bounds
from fairlead_client.model import Queue
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.connection import connect, consumer_options
from fairlead_client.transport.missing_right import hidden_topics, unreadable_topics_error
from fairlead_client.transport.queue_partition import partition_of_queue


class QueueBounds:
    """Connects when it is first asked, and anew after each failure."""

    def __init__(self, settings: Settings, client_id: str) -> None:
        self._settings = settings
        self._client_id = client_id
        self._consumer: KafkaConsumer | None = None

    def look_up(self, queues: Collection[Queue]) -> dict[Queue, Bounds]:
        """Return what each of these queues holds.

        Raises:
            KafkaError: it could not be learnt of one of them; a NotAllowedError where this user may
                not see its topic.
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
                # The library would wait for what it cannot see.
                raise lack
        wanted = [*partitions.values()]
        least = self._consumer.beginning_offsets(wanted)
        # Before the offsets for a time: what is written in between may be young enough.
        end = self._consumer.end_offsets(wanted)
        found = {}
        if self._settings.consume_timestamp_ms is not None:
            times = dict.fromkeys(wanted, self._settings.consume_timestamp_ms)
            found = self._consumer.offsets_for_times(times)
        return {
            queue: Bounds(
                least[partition],
                end[partition],
                None if (first := found.get(partition)) is None else first.offset,
            )
            for queue, partition in partitions.items()
        }
