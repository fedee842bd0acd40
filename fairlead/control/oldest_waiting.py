"""How long the oldest message of each queue has waited, as the data cluster shows.

The timestamp of the first message from a position on says it; the producer or the broker set that.
One message of each queue is fetched; nothing is committed.
"""

import contextlib
import time
from collections.abc import Mapping
from typing import Final

from fairlead_client.session.topic_names import kafka_topic
from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from fairlead.core.model import MessageQueue
from fairlead.kafka.connection import client_options
from fairlead.settings import KafkaSettings

__all__ = ["oldest_waiting"]

_SECONDS_MAX: Final = 5.0
_POLL_MS: Final = 100
_FETCH_BYTES: Final = 16 * 1024
"""For each queue: one message, or the beginning of a batch."""


def oldest_waiting(
    kafka: KafkaSettings, bootstrap: str, positions: Mapping[MessageQueue, int]
) -> dict[MessageQueue, int]:
    """Return how long, in milliseconds, the message at each position has waited.

    A queue is left out if its message could not be fetched in time.

    Args:
        kafka: how to connect to a cluster.
        bootstrap: the cluster with the messages.
        positions: queue -> offset; the queue holds a message from there on.
    """
    if not positions:
        return {}
    wanted = {
        TopicPartition(kafka_topic(queue.topic), queue.queue_id): queue for queue in positions
    }
    options = client_options(kafka.model_copy(update={"bootstrap": bootstrap}), "waiting")
    waited_ms: dict[MessageQueue, int] = {}
    with (
        contextlib.suppress(KafkaError),
        contextlib.closing(
            KafkaConsumer(
                **options,
                allow_auto_create_topics=False,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                max_partition_fetch_bytes=_FETCH_BYTES,
            )
        ) as consumer,
    ):
        consumer.assign([*wanted])
        for partition, queue in wanted.items():
            consumer.seek(partition, positions[queue])
        deadline = time.monotonic() + _SECONDS_MAX
        while len(waited_ms) < len(wanted) and time.monotonic() < deadline:
            for partition, records in consumer.poll(timeout_ms=_POLL_MS).items():
                age_ms = time.time_ns() // 1_000_000 - records[0].timestamp
                waited_ms.setdefault(wanted[partition], max(age_ms, 0))
                consumer.pause(partition)
    return waited_ms
