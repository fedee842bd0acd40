"""Commits positions as offsets of the Kafka group, where lag tools find them."""

import logging
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Protocol

from kafka import KafkaConsumer
from kafka.errors import GroupAuthorizationFailedError, TopicAuthorizationFailedError
from kafka.structs import OffsetAndMetadata

from fairlead_client.errors import OffsetStoreError
from fairlead_client.model import Progress, Queue
from fairlead_client.session.actions import CommitProgress
from fairlead_client.session.clock import now_ms
from fairlead_client.session.events import CommitFinished
from fairlead_client.session.topic_names import kafka_topic
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.connection import consumer_options
from fairlead_client.transport.encoding import commit_metadata
from fairlead_client.transport.missing_right import missing_right
from fairlead_client.transport.queue_partition import partition_of_queue

logger = logging.getLogger(__name__)


class OffsetStore(Protocol):
    """The interface of a store for a group's positions. One thread of its own calls it."""

    def commit(self, entries: Mapping[Queue, Progress], timeout_ms: int) -> None:
        """Store the positions; raise if they may not be stored within `timeout_ms`.

        Store each position with its `identity`: a topic that is deleted and created again gets a
        new one, and the old position must not count for it.
        """

    def close(self) -> None:
        """Close the connections."""


class KafkaOffsetStore:
    """Commits to Kafka's own offsets of the group.

    Each offset's metadata has the reset that it follows, and its topic's identity. The Kafka group
    has no members; a consumer that joins it under the same name makes every commit fail.
    """

    def __init__(self, settings: Settings, client_id: str) -> None:
        self._settings = settings
        self._client_id = client_id
        self._consumer: KafkaConsumer | None = None

    def commit(self, entries: Mapping[Queue, Progress], timeout_ms: int) -> None:
        """Commit the positions; the first call connects."""
        if self._consumer is None:
            options = consumer_options(self._settings, self._client_id)
            self._consumer = KafkaConsumer(group_id=self._settings.group, **options)
        try:
            self._consumer.commit(
                {
                    partition_of_queue(queue): OffsetAndMetadata(
                        entry.position.offset, commit_metadata(entry), -1
                    )
                    for queue, entry in entries.items()
                },
                timeout_ms=timeout_ms,
            )
        except GroupAuthorizationFailedError as error:
            resource = f"group {self._settings.group}"
            raise missing_right(self._settings, "Read", resource, error) from error
        except TopicAuthorizationFailedError as error:
            topics = ", ".join(sorted({kafka_topic(queue.topic) for queue in entries}))
            raise missing_right(self._settings, "Read", f"topic {topics}", error) from error

    def close(self) -> None:
        """Close the connection."""
        if self._consumer is not None:
            self._consumer.close(autocommit=False, timeout_ms=0)
            self._consumer = None


class Committer(Thread):
    """Does commits one after another; it joins waiting commits, and drops those that are too late.

    Args:
        store: the store of positions.
        report: called on this thread with the end of each commit.
        failed: called on this thread with each error.
    """

    def __init__(
        self,
        store: OffsetStore,
        report: Callable[[CommitFinished], None],
        failed: Callable[[Exception], None],
    ) -> None:
        super().__init__(name="fairlead-committer", daemon=True)
        self._store = store
        self._report = report
        self._failed = failed
        self._waiting: SimpleQueue[CommitProgress | None] = SimpleQueue()

    def commit(self, action: CommitProgress) -> None:
        """Commit soon."""
        self._waiting.put(action)

    def stop(self) -> None:
        """End after the commits that wait now."""
        self._waiting.put(None)

    def run(self) -> None:
        """Serve until stopped."""
        stopping = False
        while not stopping:
            batch = [self._waiting.get()]
            while True:
                try:
                    batch.append(self._waiting.get_nowait())
                except Empty:
                    break
            stopping = None in batch
            self._serve([action for action in batch if action is not None])
        self._store.close()

    def _serve(self, batch: list[CommitProgress]) -> None:
        now = now_ms()
        timely = [action for action in batch if action.not_after_ms > now]
        committed = bool(timely)
        if timely:
            left_ms = min(action.not_after_ms for action in timely) - now
            # Later actions of one batch are newer: the last entry of a queue counts.
            entries = {entry.queue: entry for action in timely for entry in action.entries}
            try:
                self._store.commit(entries, left_ms)
            except Exception as error:  # noqa: BLE001 - any error of a store is reported
                committed = False
                self._report_failure(error)
        for action in batch:
            done = committed and action in timely
            self._report(CommitFinished(action.entries, committed=done))

    def _report_failure(self, error: Exception) -> None:
        logger.warning("commit failed: %s: %s", type(error).__name__, error)
        failure = OffsetStoreError(f"positions were not committed: {error!r}; the client retries")
        failure.__cause__ = error
        self._failed(failure)
