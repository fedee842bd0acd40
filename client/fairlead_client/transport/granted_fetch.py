"""One fetch of a consumer, without what is not of the granted topics (ADR 0031).

An offset outside of its partition is corrected, never silently begun anew.
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
    """What a fetch brought.

    `moved` says of partitions that stood outside of their bounds where they were, and where they
    are read on. `changed`: a topic was replaced, or nobody could tell: what is read must be worked
    out again. `unsure`: nobody could tell, so everything is fetched again.
    """

    records: Mapping[TopicPartition, list[Any]]
    moved: Mapping[TopicPartition, tuple[int, int]] = {}
    changed: bool = False
    unsure: bool = False


class GrantedFetch:
    """Fetches, and holds back queues whose topic is not the one that they were granted of.

    Args:
        settings: as whom the brokers know this process.
        granted: what a queue was granted with.
        queue_of: the queue that is read from a partition; None: none is.
        wait_ms: how long a look at topics or bounds may take.
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
            NotAllowedError: this user may not read a topic. The next fetch tries it again.
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
            # If topics or bounds cannot be had now, the next poll says the same again.
            replaced = self._replaced(kafka, illegal, at_once=True)
            left = [partition for partition in illegal if partition not in replaced]
            return Fetched({}, self._correct(kafka, left), bool(replaced))
        return Fetched({})

    def _check_seen(self, kafka: KafkaConsumer) -> None:
        """Raise if a topic cannot be seen: the library would go on as if it held nothing."""
        hidden = hidden_topics(kafka)
        if not hidden:
            return
        lack = unreadable_topics_error(
            self._settings, hidden, {each.topic for each in kafka.assignment()}
        )
        if lack is not None:
            refresh_metadata(kafka)
            raise lack

    def _correct(
        self, kafka: KafkaConsumer, illegal: Sequence[TopicPartition]
    ) -> dict[TopicPartition, tuple[int, int]]:
        # A partition that stands at an illegal offset has one: the wait is for form's sake.
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
        """Look again at what is held back; tell whether any of it may be read after all."""
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
        queues = [queue for one in partitions if (queue := self._queue_of(one)) is not None]
        self.identities.note_fetch_end()
        found = self.identities.verify(kafka, queues, at_once=at_once)
        return {partition_of_queue(queue) for queue in found}
