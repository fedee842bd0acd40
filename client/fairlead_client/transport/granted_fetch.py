"""One fetch of a consumer, without messages of topics that replaced the granted ones (ADR 0031).

It corrects an offset outside of its partition.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from kafka import KafkaConsumer
from kafka.errors import KafkaError, TopicAuthorizationFailedError
from kafka.structs import TopicPartition

from fairlead_client.model import Queue
from fairlead_client.session.session import Granted
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.missing_right import (
    denied_topics,
    hidden_topics,
    refresh_metadata,
    unreadable_topics_error,
)
from fairlead_client.transport.offset_correction import (
    ILLEGAL,
    corrected_offsets,
    illegal_partitions,
)
from fairlead_client.transport.queue_partition import partition_of_queue
from fairlead_client.transport.topic_identity import TopicIdentities


class Fetched(NamedTuple):
    """The result of a fetch.

    Attributes:
        records: the records by partition.
        moved: (old offset, new offset) of each partition that was outside of its bounds.
        changed: whether a topic was replaced, or may be: the caller must update what it reads.
        unsure: whether a topic may be replaced: the caller must fetch everything again.
    """

    records: Mapping[TopicPartition, list[Any]]
    moved: Mapping[TopicPartition, tuple[int, int]] = {}
    changed: bool = False
    unsure: bool = False


class GrantedFetch:
    """Fetches, and holds back queues whose topic has replaced the granted one.

    Args:
        settings: the client's settings.
        granted: returns the grant of a queue.
        queue_of: returns the queue that the consumer reads from a partition, or None.
        wait_ms: how long a look-up of topics or bounds may take.
    """

    def __init__(
        self,
        settings: Settings,
        granted: Callable[[Queue], Granted],
        queue_of: Callable[[TopicPartition], Queue | None],
        wait_ms: int,
    ) -> None:
        self._settings = settings
        self._granted_with = granted
        self._queue_of = queue_of
        self._wait_ms = wait_ms
        self.identities = TopicIdentities(lambda queue: granted(queue).identity, wait_ms)

    def poll(self, kafka: KafkaConsumer, timeout_ms: int) -> Fetched:
        """Fetch once.

        Raises:
            NotAllowedError: this user may not read a topic; the next fetch tries again.
        """
        self.identities.note_fetch_begin()
        try:
            fetched = dict(kafka.poll(timeout_ms=timeout_ms))
        except ILLEGAL as error:
            illegal = illegal_partitions(error)
        except TopicAuthorizationFailedError as error:
            denied = denied_topics(error)
            raise unreadable_topics_error(self._settings, denied, denied) or error from error
        else:
            if not fetched:
                self._check_seen(kafka)
            return self._granted(kafka, fetched)
        with suppress(KafkaError):
            # If this look-up fails, the next poll raises the same error again.
            replaced = self._replaced(kafka, illegal, at_once=True)
            left = [partition for partition in illegal if partition not in replaced]
            return Fetched({}, self._correct(kafka, left), bool(replaced))
        return Fetched({})

    def _check_seen(self, kafka: KafkaConsumer) -> None:
        """Raise if this user may not see a topic: the library would treat it as empty."""
        hidden = hidden_topics(kafka)
        if not hidden:
            return
        lack = unreadable_topics_error(
            self._settings, hidden, {partition.topic for partition in kafka.assignment()}
        )
        if lack is not None:
            refresh_metadata(kafka)
            raise lack

    def _correct(
        self, kafka: KafkaConsumer, illegal: Sequence[TopicPartition]
    ) -> dict[TopicPartition, tuple[int, int]]:
        # A partition with an illegal offset has a position, so this does not wait.
        offsets = {
            partition: kafka.position(partition, timeout_ms=self._wait_ms) or 0
            for partition in illegal
            if partition in kafka.assignment()
        }
        moved = {}
        for partition, (offset, _) in corrected_offsets(
            kafka, offsets, self._granted_at, self._wait_ms
        ).items():
            kafka.seek(partition, offset)
            if offset != offsets[partition]:
                moved[partition] = offsets[partition], offset
        return moved

    def _granted_at(self, partition: TopicPartition) -> Granted:
        queue = self._queue_of(partition)
        return Granted() if queue is None else self._granted_with(queue)

    def may_read_again(self, kafka: KafkaConsumer | None) -> bool:
        """Check the queues held back; return whether the consumer may read one again."""
        with suppress(KafkaError):
            return kafka is not None and self.identities.release(kafka)
        return False

    def _granted(self, kafka: KafkaConsumer, fetched: dict[TopicPartition, list[Any]]) -> Fetched:
        try:
            replaced = self._replaced(kafka, fetched)
        except KafkaError:
            return Fetched({}, changed=True, unsure=True)
        left = {
            partition: records
            for partition, records in fetched.items()
            if partition not in replaced
        }
        return Fetched(left, changed=bool(replaced))

    def _replaced(
        self, kafka: KafkaConsumer, partitions: Iterable[TopicPartition], *, at_once: bool = False
    ) -> set[TopicPartition]:
        queues = [queue for at in partitions if (queue := self._queue_of(at)) is not None]
        self.identities.note_fetch_end()
        replaced = self.identities.verify(kafka, queues, at_once=at_once)
        return {partition_of_queue(queue) for queue in replaced}
