"""Pulls from Kafka, with one consumer for all queues of a client.

It pauses partitions that nobody asks for, so flow control also stops their fetches. It corrects an
offset outside of its partition, and never restarts at the beginning by itself.
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
"""How long a broker holds a fetch. It answers in turn, so a new queue waits for this fetch."""


class KafkaSource:
    """A MessageSource of topic partitions; it ignores the queues' broker names.

    Args:
        settings: the client's settings.
        client_id: the client's id.
        tag_header: the header that holds a message's tag.
        granted: returns the grant of a queue; the source pulls nothing of a topic that has
            replaced the granted one.

    Raises:
        SettingsError: the source cannot evaluate a subscription.
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
        """Connect, and learn the topics before the engine grants the first queue."""
        if self._consumer is None:
            self._consumer = self._connected()

    def check(self, subscriptions: Iterable[Subscription]) -> None:
        """Refuse an expression that is no list of tags."""
        TagFilter(subscriptions, self._tag_header)

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """Use these filters from now on."""
        self._filter = TagFilter(subscriptions, self._tag_header)

    def follow(self, queues: Collection[Queue]) -> None:
        """Forget other queues."""
        followed = {partition_of_queue(queue): queue for queue in queues}
        if followed.keys() - self._followed.keys():
            self._identities.note_grant()
        self._followed = followed
        self._retry_schedule.follow(queues)

    def pull(
        self, offsets: Mapping[Queue, int], wait_ms: int, most: int | None = None
    ) -> Mapping[Queue, PullResult]:
        """Poll the partitions of these queues, each from its offset on.

        A retry topic returns no message before it is due; its queue waits.
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
            # The consumer may be behind records that nobody got: the next pull seeks back.
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
            # The positions of the others are unchanged: the poll returned none of their records.
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
        """Drop requests for topics that have replaced the granted ones."""
        self._identities.note_fetch_end()
        queues = [requested[partition][0] for partition in partitions if partition in requested]
        for queue in self._identities.verify(consumer, queues, at_once=at_once):
            partition = partition_of_queue(queue)
            del requested[partition]
            # Its position is an offset of another topic.
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
        """Fetch the requested partitions, from the requested offsets, and no others."""
        # A partition without a position must not be assigned before somebody requests it.
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
        """Return errors for the queues of topics that this user may not read."""
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
            # Transaction markers and compacted offsets have no records to return.
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
            # The consumer cannot continue at its old offset.
            consumer.seek(partition, offset)
            self._positions[partition] = offset
            if offset != offsets[partition]:
                queue = requested[partition][0]
                results[queue] = PullResult(PullStatus.OFFSET_ILLEGAL, offset, end=end)
        return results


def _release_parked_batch(consumer: KafkaConsumer) -> None:
    """Let kafka-python continue with a batch that it parked for a paused partition.

    It does so only while it has no current batch, and it keeps a used-up one as the current batch.
    A resumed partition would stay unread after all others have reached their ends.
    """
    fetcher = consumer._fetcher  # noqa: SLF001 - the library has no other way
    if fetcher._next_partition_records is not None and not fetcher._next_partition_records:  # noqa: SLF001
        fetcher._next_partition_records = None  # noqa: SLF001
