"""The client's consumer of Fairlead's topics, with the engine's log and counter (ADR 0163)."""

import threading
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Final

import structlog
from fairlead_client.transport import topic_consumer
from fairlead_client.transport.topic_consumer import UnreadableBatch

from fairlead.kafka.fetch_sessions import FetchSessions
from fairlead.kafka.topic_ids import TopicIds, known_ids

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

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # The library has no setting for it; a test counts what it compares with this version.
        self._fetcher._session_handlers = FetchSessions()  # noqa: SLF001 - nowhere else

    def topic_ids(self, topics: Collection[str]) -> TopicIds:
        """Return the ids of topics that it reads, as the brokers told them last; asks nobody."""
        return known_ids({topic: self._cluster.topic_id(topic) for topic in topics})

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
