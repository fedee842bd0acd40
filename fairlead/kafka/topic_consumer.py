"""The client's consumer of Fairlead's topics, with the engine's log and counter (ADR 0163)."""

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Final

import structlog
from fairlead_client.transport import topic_consumer
from fairlead_client.transport.topic_consumer import UnreadableBatch

__all__ = ["BATCHES_PASSED_OVER", "PassedOver", "TopicConsumer"]

log = structlog.get_logger(__name__)


class PassedOver:
    """The number of batches that this process has skipped, by topic; for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def add(self, topic: str) -> None:
        """Count one batch of a topic."""
        with self._lock:
            self._counts[topic] += 1

    def counts(self) -> Mapping[str, int]:
        """Return the current numbers, by the topic's full name."""
        with self._lock:
            return dict(self._counts)


BATCHES_PASSED_OVER: Final = PassedOver()
"""The counts of all readers of this process."""


class TopicConsumer(topic_consumer.TopicConsumer):
    """The client's consumer, with the engine's log; it counts in `BATCHES_PASSED_OVER`."""

    def note_passed_over(self, batch: UnreadableBatch) -> None:
        """Count the batch and log `batch_passed_over`."""
        BATCHES_PASSED_OVER.add(batch.topic)
        log.warning(
            "batch_passed_over",
            topic=batch.topic,
            partition=batch.partition,
            offset=batch.offset,
            end=batch.end,
            reason=batch.reason,
        )
