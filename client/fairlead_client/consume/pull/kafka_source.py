"""Pulls from Kafka: one consumer for all queues of a client.

Partitions that are not requested for are paused, so that what holds a queue back holds its fetches
back too. A position outside of the partition is noticed and answered; it never starts at the
beginning by itself.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from kafka import KafkaConsumer
from kafka.errors import TopicAuthorizationFailedError
from kafka.structs import TopicPartition

from fairlead_client.consume.pull.message_source import PullResult, PullStatus
from fairlead_client.consume.retry.retry_schedule import RetrySchedule
from fairlead_client.model import Queue, Subscription
from fairlead_client.session.clock import wall_ms
from fairlead_client.session.session import Granted
from fairlead_client.session.topic_names import retried_group
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.absent_topics import drop_absent_topics
from fairlead_client.transport.connection import connect, data_options, request_timeout_ms
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
from fairlead_client.transport.queue_partition import known_topics, partition_of_queue
from fairlead_client.transport.tags import TAG_HEADER, TagFilter
from fairlead_client.transport.topic_identity import TopicIdentities

FETCH_WAIT_MS: Final = 100
"""A broker answers one fetch after the other, so a new queue waits for the fetch under way."""


class KafkaSource:
    """A MessageSource of topic partitions; its queues' broker names are not looked at.

    Args:
        settings: what the application chose.
        client_id: who connects.
        tag_header: the header that holds a message's tag.
        granted: what a queue was granted with: nothing is pulled of a topic that has replaced the
            granted one.

    Raises:
        SettingsError: a subscription that cannot be evaluated.
    """

    def __init__(
        self,
        settings: Settings,
        client_id: str,
        *,
        tag_header: str = TAG_HEADER,
        granted: Callable[[Queue], Granted] = lambda _queue: Granted(),
    ) -> None:
        self._settings = settings
        self._client_id = client_id
        self._tag_header = tag_header
        self._subscribed = settings.subscriptions(0)
        self._filter = TagFilter(self._subscribed, tag_header)
        self._consumer: KafkaConsumer | None = None
        self._followed: dict[TopicPartition, Queue] = {}
        self._positions: dict[TopicPartition, int] = {}
        self._paused: set[TopicPartition] = set()
        self._retry_schedule = RetrySchedule()
        self._granted = granted
        self._identities = TopicIdentities(
            lambda queue: granted(queue).identity, request_timeout_ms(settings)
        )

    def connect(self) -> None:
        """Connect, and learn of the topics before the first of their queues is granted."""
        if self._consumer is None:
            self._consumer = self._connected()

    def check(self, subscriptions: Iterable[Subscription]) -> None:
        """Refuse what is no list of tags."""
        TagFilter(subscriptions, self._tag_header)

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """Evaluate these from now on."""
        self._filter = TagFilter(subscriptions, self._tag_header)

    def follow(self, queues: Collection[Queue]) -> None:
        """Let go of what is buffered of other queues."""
        followed = {partition_of_queue(queue): queue for queue in queues}
        if followed.keys() - self._followed.keys():
            self._identities.note_grant()
        self._followed = followed
        self._retry_schedule.follow(queues)

    def pull(
        self, offsets: Mapping[Queue, int], wait_ms: int, most: int | None = None
    ) -> Mapping[Queue, PullResult]:
        """Poll the partitions of these queues, each from its offset on.

        Of a retry topic no message is returned before it is due; its queue waits.
        """
        self.connect()
        consumer = self._consumer
        assert consumer is not None
        self._identities.release(consumer)
        at_ms = wall_ms()
        requested = {
            partition_of_queue(queue): (queue, offset)
            for queue, offset in offsets.items()
            if not self._retry_schedule.waits(queue, offset, at_ms)
            and not self._identities.holds(queue)
        }
        due_ms = self._retry_schedule.next_due_ms(at_ms)
        if due_ms is not None:
            wait_ms = max(1, min(wait_ms, due_ms - at_ms))
        if not requested:
            time.sleep(wait_ms / 1_000)
            return {}
        try:
            return self._poll(consumer, requested, wait_ms, most)
        except BaseException:
            # The consumer may stand behind records that nobody gets: the next pull seeks.
            for partition in requested:
                self._positions.pop(partition, None)
            raise

    def close(self) -> None:
        """Close the connection."""
        if self._consumer is not None:
            self._consumer.close(autocommit=False, timeout_ms=0)
            self._consumer = None

    def _poll(
        self,
        consumer: KafkaConsumer,
        requested: dict[TopicPartition, tuple[Queue, int]],
        wait_ms: int,
        most: int | None,
    ) -> Mapping[Queue, PullResult]:
        self._seek_and_pause(consumer, requested)
        self._identities.note_fetch_begin()
        try:
            fetched = consumer.poll(timeout_ms=wait_ms, max_records=most)
        except ILLEGAL as error:
            illegal = illegal_partitions(error)
            self._drop_replaced(consumer, requested, illegal, at_once=True)
            return self._correct(consumer, requested, illegal)
        except TopicAuthorizationFailedError as error:
            # Where the others stand is as it was: of them nothing was taken.
            return self._denied_results(requested, denied_topics(error))
        self._drop_replaced(consumer, requested, fetched)
        if not fetched:
            hidden = hidden_topics(consumer)
            if hidden and (refused := self._denied_results(requested, hidden)):
                refresh_metadata(consumer)
                return refused
            return {
                queue: self._empty_result(consumer, partition, offset)
                for partition, (queue, offset) in requested.items()
            }
        return {
            requested[partition][0]: self._result(
                consumer, partition, requested[partition][0], records
            )
            for partition, records in fetched.items()
            if partition in requested
        }

    def _drop_replaced(
        self,
        consumer: KafkaConsumer,
        requested: dict[TopicPartition, tuple[Queue, int]],
        partitions: Iterable[TopicPartition],
        *,
        at_once: bool = False,
    ) -> None:
        """Take back what was requested of topics that have replaced the granted ones."""
        self._identities.note_fetch_end()
        queues = [requested[partition][0] for partition in partitions if partition in requested]
        for queue in self._identities.verify(consumer, queues, at_once=at_once):
            partition = partition_of_queue(queue)
            del requested[partition]
            # It stands at an offset of another topic.
            self._positions.pop(partition, None)

    def _connected(self) -> KafkaConsumer:
        options = {
            **data_options(self._settings, self._client_id),
            "fetch_max_wait_ms": FETCH_WAIT_MS,
            **self._settings.fetch,
        }
        self._positions.clear()
        self._paused.clear()
        consumer = connect(KafkaConsumer, options, known_topics(self._subscribed))
        drop_absent_topics(consumer)
        return consumer

    def _seek_and_pause(
        self, consumer: KafkaConsumer, requested: Mapping[TopicPartition, tuple[Queue, int]]
    ) -> None:
        """Fetch what is requested for, from where it is requested for, and nothing else."""
        # A partition without a position must not be assigned: it is, once it is requested for.
        reading = {
            *requested,
            *(partition for partition in self._positions if partition in self._followed),
        }
        if reading != self._positions.keys():
            consumer.assign(sorted(reading))
            self._positions = {
                partition: offset
                for partition, offset in self._positions.items()
                if partition in reading
            }
            self._paused &= reading
        for partition, (_, offset) in requested.items():
            if self._positions.get(partition) != offset:
                consumer.seek(partition, offset)
                self._positions[partition] = offset
        paused = reading - requested.keys()
        if paused != self._paused:
            consumer.pause(*(paused - self._paused))
            consumer.resume(*(self._paused - paused))
            self._paused = paused
        _release_parked_batch(consumer)

    def _result(
        self, consumer: KafkaConsumer, partition: TopicPartition, queue: Queue, records: list[Any]
    ) -> PullResult:
        after = self._positions[partition] = records[-1].offset + 1
        due = records
        if retried_group(queue.topic) is not None:
            due = list(self._retry_schedule.due(queue, records, wall_ms()))
            after = after if len(due) == len(records) else records[len(due)].offset
        wanted = self._filter.wanted(queue.topic, due)
        status = PullStatus.FOUND if wanted else PullStatus.NO_MATCHED_MSG
        if not due:
            status = PullStatus.NO_NEW_MSG
        return PullResult(status, after, wanted, consumer.highwater(partition))

    def _denied_results(
        self, requested: Mapping[TopicPartition, tuple[Queue, int]], denied: Collection[str]
    ) -> Mapping[Queue, PullResult]:
        """Return why queues of topics that this user may not read are not pulled."""
        lacks = {
            partition: unreadable_topics_error(self._settings, denied, [partition.topic])
            for partition in requested
        }
        return {
            requested[partition][0]: PullResult(
                PullStatus.NO_NEW_MSG, requested[partition][1], error=lack
            )
            for partition, lack in lacks.items()
            if lack is not None
        }

    def _empty_result(
        self, consumer: KafkaConsumer, partition: TopicPartition, offset: int
    ) -> PullResult:
        end = consumer.highwater(partition)
        if end is not None and end > offset:
            # Marks of transactions, and what compaction removed, are passed without a record.
            position = consumer.position(partition, timeout_ms=0)
            if position is not None and position > offset:
                offset = self._positions[partition] = position
        return PullResult(PullStatus.NO_NEW_MSG, offset, end=end)

    def _correct(
        self,
        consumer: KafkaConsumer,
        requested: Mapping[TopicPartition, tuple[Queue, int]],
        illegal: Collection[TopicPartition],
    ) -> Mapping[Queue, PullResult]:
        offsets = {
            partition: requested[partition][1] for partition in illegal if partition in requested
        }
        results = {}
        bounds = corrected_offsets(
            consumer,
            offsets,
            lambda partition: self._granted(requested[partition][0]),
            request_timeout_ms(self._settings),
        )
        for partition, (offset, end) in bounds.items():
            # The consumer stands at an offset that it will not go on from.
            consumer.seek(partition, offset)
            self._positions[partition] = offset
            if offset != offsets[partition]:
                queue = requested[partition][0]
                results[queue] = PullResult(PullStatus.OFFSET_ILLEGAL, offset, end=end)
        return results


def _release_parked_batch(consumer: KafkaConsumer) -> None:
    """Let kafka-python take up what it parked of a partition that was paused.

    It does so only while it has no batch in line, and one that is used up stays in line: a
    partition that was resumed would be read no more once the others have come to their ends.
    """
    fetcher = consumer._fetcher  # noqa: SLF001 - there is no other way to let go of that batch
    if fetcher._next_partition_records is not None and not fetcher._next_partition_records:  # noqa: SLF001
        fetcher._next_partition_records = None  # noqa: SLF001
