"""Pulls from Kafka: one consumer for all queues of a client.

Partitions that are not asked for are paused, so that what holds a queue back holds its fetches
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
from fairlead_client.consume.retry.retry_schedule import Parking
from fairlead_client.model import Queue, Subscription
from fairlead_client.session.clock import wall_ms
from fairlead_client.session.session import Granted
from fairlead_client.session.topic_names import retried_group
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.absent_topics import ask_no_more_for_absent
from fairlead_client.transport.connection import connect, data_options, request_timeout_ms
from fairlead_client.transport.missing_right import (
    denied_topics,
    hidden_topics,
    look_again,
    unreadable,
)
from fairlead_client.transport.offset_correction import ILLEGAL, corrected, illegal_partitions
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
        self._at: dict[TopicPartition, int] = {}
        self._paused: set[TopicPartition] = set()
        self._parking = Parking()
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
            self._identities.begun()
        self._followed = followed
        self._parking.follow(queues)

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
        asked = {
            partition_of_queue(queue): (queue, offset)
            for queue, offset in offsets.items()
            if not self._parking.waits(queue, offset, at_ms) and not self._identities.holds(queue)
        }
        due_ms = self._parking.next_due_ms(at_ms)
        if due_ms is not None:
            wait_ms = max(1, min(wait_ms, due_ms - at_ms))
        if not asked:
            time.sleep(wait_ms / 1_000)
            return {}
        try:
            return self._poll(consumer, asked, wait_ms, most)
        except BaseException:
            # The consumer may stand behind records that nobody gets: the next pull seeks.
            for partition in asked:
                self._at.pop(partition, None)
            raise

    def close(self) -> None:
        """Close the connection."""
        if self._consumer is not None:
            self._consumer.close(autocommit=False, timeout_ms=0)
            self._consumer = None

    def _poll(
        self,
        consumer: KafkaConsumer,
        asked: dict[TopicPartition, tuple[Queue, int]],
        wait_ms: int,
        most: int | None,
    ) -> Mapping[Queue, PullResult]:
        self._point(consumer, asked)
        self._identities.fetches()
        try:
            fetched = consumer.poll(timeout_ms=wait_ms, max_records=most)
        except ILLEGAL as error:
            illegal = illegal_partitions(error)
            self._let_go(consumer, asked, illegal, at_once=True)
            return self._correct(consumer, asked, illegal)
        except TopicAuthorizationFailedError as error:
            # Where the others stand is as it was: of them nothing was taken.
            return self._refused(asked, denied_topics(error))
        self._let_go(consumer, asked, fetched)
        if not fetched:
            hidden = hidden_topics(consumer)
            if hidden and (refused := self._refused(asked, hidden)):
                look_again(consumer)
                return refused
            return {
                queue: self._nothing(consumer, partition, offset)
                for partition, (queue, offset) in asked.items()
            }
        return {
            asked[partition][0]: self._found(consumer, partition, asked[partition][0], records)
            for partition, records in fetched.items()
            if partition in asked
        }

    def _let_go(
        self,
        consumer: KafkaConsumer,
        asked: dict[TopicPartition, tuple[Queue, int]],
        partitions: Iterable[TopicPartition],
        *,
        at_once: bool = False,
    ) -> None:
        """Take back what was asked of topics that have replaced the granted ones."""
        self._identities.fetched()
        queues = [asked[partition][0] for partition in partitions if partition in asked]
        for queue in self._identities.verify(consumer, queues, at_once=at_once):
            partition = partition_of_queue(queue)
            del asked[partition]
            # It stands at an offset of another topic.
            self._at.pop(partition, None)

    def _connected(self) -> KafkaConsumer:
        options = {
            **data_options(self._settings, self._client_id),
            "fetch_max_wait_ms": FETCH_WAIT_MS,
            **self._settings.fetch,
        }
        self._at.clear()
        self._paused.clear()
        consumer = connect(KafkaConsumer, options, known_topics(self._subscribed))
        ask_no_more_for_absent(consumer)
        return consumer

    def _point(
        self, consumer: KafkaConsumer, asked: Mapping[TopicPartition, tuple[Queue, int]]
    ) -> None:
        """Fetch what is asked for, from where it is asked for, and nothing else."""
        # A partition without a position must not be assigned: it is, once it is asked for.
        reading = {*asked, *(partition for partition in self._at if partition in self._followed)}
        if reading != self._at.keys():
            consumer.assign(sorted(reading))
            self._at = {
                partition: offset for partition, offset in self._at.items() if partition in reading
            }
            self._paused &= reading
        for partition, (_, offset) in asked.items():
            if self._at.get(partition) != offset:
                consumer.seek(partition, offset)
                self._at[partition] = offset
        paused = reading - asked.keys()
        if paused != self._paused:
            consumer.pause(*(paused - self._paused))
            consumer.resume(*(self._paused - paused))
            self._paused = paused
        _unpark(consumer)

    def _found(
        self, consumer: KafkaConsumer, partition: TopicPartition, queue: Queue, records: list[Any]
    ) -> PullResult:
        after = self._at[partition] = records[-1].offset + 1
        due = records
        if retried_group(queue.topic) is not None:
            due = list(self._parking.due(queue, records, wall_ms()))
            after = after if len(due) == len(records) else records[len(due)].offset
        wanted = self._filter.wanted(queue.topic, due)
        status = PullStatus.FOUND if wanted else PullStatus.NO_MATCHED_MSG
        if not due:
            status = PullStatus.NO_NEW_MSG
        return PullResult(status, after, wanted, consumer.highwater(partition))

    def _refused(
        self, asked: Mapping[TopicPartition, tuple[Queue, int]], denied: Collection[str]
    ) -> Mapping[Queue, PullResult]:
        """Return why queues of topics that this user may not read are not pulled."""
        lacks = {
            partition: unreadable(self._settings, denied, [partition.topic]) for partition in asked
        }
        return {
            asked[partition][0]: PullResult(PullStatus.NO_NEW_MSG, asked[partition][1], error=lack)
            for partition, lack in lacks.items()
            if lack is not None
        }

    def _nothing(
        self, consumer: KafkaConsumer, partition: TopicPartition, offset: int
    ) -> PullResult:
        end = consumer.highwater(partition)
        if end is not None and end > offset:
            # Marks of transactions, and what compaction removed, are passed without a record.
            position = consumer.position(partition, timeout_ms=0)
            if position is not None and position > offset:
                offset = self._at[partition] = position
        return PullResult(PullStatus.NO_NEW_MSG, offset, end=end)

    def _correct(
        self,
        consumer: KafkaConsumer,
        asked: Mapping[TopicPartition, tuple[Queue, int]],
        illegal: Collection[TopicPartition],
    ) -> Mapping[Queue, PullResult]:
        offsets = {partition: asked[partition][1] for partition in illegal if partition in asked}
        results = {}
        bounds = corrected(
            consumer,
            offsets,
            lambda partition: self._granted(asked[partition][0]),
            request_timeout_ms(self._settings),
        )
        for partition, (offset, end) in bounds.items():
            # The consumer stands at an offset that it will not go on from.
            consumer.seek(partition, offset)
            self._at[partition] = offset
            if offset != offsets[partition]:
                queue = asked[partition][0]
                results[queue] = PullResult(PullStatus.OFFSET_ILLEGAL, offset, end=end)
        return results


def _unpark(consumer: KafkaConsumer) -> None:
    """Let kafka-python take up what it parked of a partition that was paused.

    It does so only while it has no batch in line, and one that is used up stays in line: a
    partition that was resumed would be read no more once the others have come to their ends.
    """
    fetcher = consumer._fetcher  # noqa: SLF001 - there is no other way to let go of that batch
    if fetcher._next_partition_records is not None and not fetcher._next_partition_records:  # noqa: SLF001
        fetcher._next_partition_records = None  # noqa: SLF001
