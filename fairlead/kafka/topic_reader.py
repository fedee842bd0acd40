"""Reads topics, their first offsets and their ends: many questions through one connection.

A new consumer first asks the cluster for its brokers and topics. Without a shared connection, a
command that reads ten topics would wait for that ten times.
"""

import contextlib
import threading
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, Self

from kafka import KafkaConsumer, TopicPartition
from kafka.consumer.fetcher import ConsumerRecord
from kafka.errors import KafkaError, KafkaTimeoutError

from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.acls import Role
from fairlead.kafka.connection import REQUEST_TIMEOUT_MS, client_options
from fairlead.kafka.missing_rights import cluster_error, require_rights
from fairlead.kafka.reachability import require_reachable
from fairlead.kafka.reading_position import position_of
from fairlead.kafka.topic_consumer import TopicConsumer
from fairlead.settings import KafkaSettings

__all__ = ["TopicReader", "consumer_of", "unreadable"]

_POLL_MS: Final = 200
_POLL_RECORDS: Final = 5_000
_IDLE_POLLS_MAX: Final = 150
"""After half a minute without records, the broker counts as gone."""
_EMPTY_MS: Final = 10
"""How long a broker may wait for records; short, since the wanted records already exist."""


def consumer_of(kafka: KafkaSettings, name: str, **options: Any) -> TopicConsumer:
    """Return a consumer that only reads: it creates no topics and commits no offsets.

    ``name`` is its name in the broker's log; ``options`` are further options.
    """
    connection = client_options(kafka, name)
    require_reachable(connection)
    return TopicConsumer(
        **{
            **connection,
            "allow_auto_create_topics": False,
            "enable_auto_commit": False,
            # Nobody reads the library's own numbers.
            "metrics_enabled": False,
            **options,
        }
    )


def unreadable(
    kafka: KafkaSettings, topics: str, error: KafkaError | str
) -> EnvironmentMissingError:
    """Return the error of topics that cannot be read, with its cause if known."""
    return cluster_error(
        client_options(kafka, "causes"),
        f"{topics} cannot be read",
        error,
        prefix=kafka.topic_prefix,
        role=Role.READER,
    )


class TopicReader:
    """Reads topics of one cluster; connects at the first question, and keeps the connection.

    An iterator of records occupies a connection until it ends or is closed; questions in between
    use another one. All connections are closed when the reader is garbage collected. The reader
    creates no topics and commits no offsets. It is for one thread.
    """

    def __init__(self, kafka: KafkaSettings) -> None:
        """Read from this cluster."""
        self._kafka = kafka
        self._idle: list[KafkaConsumer] = []
        self._known: set[str] = set()
        weakref.finalize(self, _close_collected, self._idle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next question opens a new one."""
        _close(self._idle)

    def partition_counts(
        self, topics: Collection[str], also: Collection[str] = ()
    ) -> dict[str, int]:
        """Return the number of partitions of some topics.

        Args:
            topics: topics that must exist.
            also: further topics; those that do not exist are left out.

        Raises:
            EnvironmentMissingError: a topic does not exist, or the cluster does not answer.
        """
        with self._connected(()) as consumer:
            # Not by name, since that may make the broker create the topic.
            there = consumer.topics()
            counts = {
                topic: len(consumer.partitions_for_topic(topic))
                for topic in (*topics, *also)
                if topic in there
            }
        self._known.update(counts)
        missing = [topic for topic in topics if topic not in counts]
        if missing:
            # A topic that this user may not see looks like a missing one.
            require_rights(
                client_options(self._kafka, "rights"), self._kafka.topic_prefix, Role.READER
            )
            raise EnvironmentMissingError(
                f"topics: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing at "
                f"{self._kafka.bootstrap}.",
                remedy="Check kafka.bootstrap and kafka.topic_prefix; an engine creates them.",
            )
        return counts

    def read_to_end(
        self, topic: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> Iterator[ConsumerRecord]:
        """Yield the records of some partitions up to their current ends, in order within each.

        Args:
            topic: a topic that exists.
            partitions: its partitions to read.
            since_ms: begin in each with the first record of this timestamp or a later one; None:
                with the first record.

        Raises:
            EnvironmentMissingError: the topic cannot be read.
        """
        places = [TopicPartition(topic, partition) for partition in partitions]
        with self._connected([topic]) as consumer:
            ends = consumer.end_offsets(places, timeout_ms=REQUEST_TIMEOUT_MS)
            if since_ms is None:
                begins = consumer.beginning_offsets(places, timeout_ms=REQUEST_TIMEOUT_MS)
            else:
                begins = _since(consumer, ends, dict.fromkeys(places, since_ms))
            left = [place for place, end in ends.items() if begins[place] < end]
            _assign(consumer, {place: begins[place] for place in left})
            idle = 0
            while left:
                batches = consumer.poll(timeout_ms=_POLL_MS, max_records=_POLL_RECORDS)
                idle = 0 if batches else idle + 1
                if idle > _IDLE_POLLS_MAX:
                    raise unreadable(self._kafka, topic, "the broker stopped answering")
                # By position, not by record: the last offsets of a compacted topic may be empty.
                while left and position_of(consumer, left[-1]) >= ends[left[-1]]:
                    left.pop()
                for records in batches.values():
                    yield from records

    def bounds(self, places: Collection[tuple[str, int]]) -> dict[tuple[str, int], tuple[int, int]]:
        """Return the first offset and the end of each partition (topic and number).

        Raises:
            EnvironmentMissingError: the cluster does not answer.
        """
        partitions = [TopicPartition(*place) for place in places]
        with self._connected({topic for topic, _ in places}) as consumer:
            firsts = consumer.beginning_offsets(partitions, timeout_ms=REQUEST_TIMEOUT_MS)
            ends = consumer.end_offsets(partitions, timeout_ms=REQUEST_TIMEOUT_MS)
        return {(each.topic, each.partition): (firsts[each], ends[each]) for each in partitions}

    def first_since(self, since_ms: Mapping[tuple[str, int], int]) -> dict[tuple[str, int], int]:
        """Return each partition's first offset with this timestamp or a later one, or else its end.

        Raises:
            EnvironmentMissingError: the cluster does not answer.
        """
        wanted = {TopicPartition(*place): max(since, 0) for place, since in since_ms.items()}
        with self._connected({topic for topic, _ in since_ms}) as consumer:
            ends = consumer.end_offsets([*wanted], timeout_ms=REQUEST_TIMEOUT_MS)
            begins = _since(consumer, ends, wanted)
        return {(each.topic, each.partition): offset for each, offset in begins.items()}

    def newest(self, topic: str, partition: int) -> ConsumerRecord | None:
        """Return the newest record of a partition of an uncompacted topic; None if there is none.

        Raises:
            EnvironmentMissingError: the topic cannot be read.
        """
        first, end = self.bounds([(topic, partition)])[topic, partition]
        if first == end:
            return None
        place, back = TopicPartition(topic, partition), 1
        with self._connected([topic]) as consumer:
            # The last offset may be a transaction marker, or unreadable.
            while True:
                begin = max(first, end - back)
                record = _newest_from(consumer, place, begin, end)
                if record is not None or begin == first:
                    return record
                back *= 2

    def records_at(
        self,
        places: Collection[tuple[str, int, int]],
        bounds: Mapping[tuple[str, int], tuple[int, int]],
    ) -> dict[tuple[str, int, int], ConsumerRecord]:
        """Return the existing records at some places (topic, partition, offset).

        Args:
            places: the places.
            bounds: the result of `bounds` for their partitions.

        Raises:
            EnvironmentMissingError: a topic cannot be read.
        """
        wanted: dict[TopicPartition, list[int]] = {}
        for topic, partition, offset in sorted(places):
            first, end = bounds[topic, partition]
            if first <= offset < end:
                wanted.setdefault(TopicPartition(topic, partition), []).append(offset)
        records: dict[tuple[str, int, int], ConsumerRecord] = {}
        with self._connected({each.topic for each in wanted}) as consumer:
            for place, offsets in wanted.items():
                for record in _read_offsets(consumer, place, offsets):
                    records[record.topic, record.partition, record.offset] = record
        return records

    @contextlib.contextmanager
    def _connected(self, topics: Collection[str]) -> Iterator[KafkaConsumer]:
        """Lend a connection that knows these topics; a connection that failed is not lent again.

        Raises:
            EnvironmentMissingError: no broker answers, or the library failed with these topics.
        """
        consumer: KafkaConsumer | None = None
        try:
            consumer = self._idle.pop() if self._idle else self._opened()
            self._make_known(consumer, topics)
            yield consumer
        except GeneratorExit:
            # The caller has closed the iterator of records.
            self._idle += [] if consumer is None else [consumer]
            raise
        except BaseException as error:
            if consumer is not None:
                consumer.close()
            if isinstance(error, KafkaError):
                names = ", ".join(sorted(topics)) or "the list of topics"
                raise unreadable(self._kafka, names, error) from error
            raise
        self._idle.append(consumer)

    def _opened(self) -> KafkaConsumer:
        return consumer_of(self._kafka, "reader", fetch_max_wait_ms=_EMPTY_MS)

    def _make_known(self, consumer: KafkaConsumer, topics: Collection[str]) -> None:
        """Let the library learn of all topics at once; one by one, each costs a tenth of a second.

        It keeps the assigned topics until others are assigned.
        """
        if not self._known.issuperset(topics) or not consumer.assignment():
            self._known.update(topics)
            consumer.assign([TopicPartition(topic, 0) for topic in sorted(self._known)])


def _close(consumers: list[KafkaConsumer]) -> None:
    while consumers:
        consumers.pop().close()


def _close_collected(consumers: list[KafkaConsumer]) -> None:
    """Close the consumers of a reader that was garbage collected.

    Python may collect it on the library's own thread, on which the library refuses to close
    anything. So only the main thread, which also exists at the end of the process, closes directly.
    """
    if not consumers or threading.current_thread() is threading.main_thread():
        _close(consumers)
        return

    def close() -> None:
        # Nobody has this reader any more, so nobody could handle an error.
        with contextlib.suppress(Exception):
            _close(consumers)

    threading.Thread(target=close, name="reader-close", daemon=True).start()


def _assign(consumer: KafkaConsumer, begins: Mapping[TopicPartition, int]) -> None:
    if begins:
        consumer.assign([*begins])
    for place, offset in begins.items():
        consumer.seek(place, offset)


def _since(
    consumer: KafkaConsumer,
    ends: Mapping[TopicPartition, int],
    since_ms: Mapping[TopicPartition, int],
) -> dict[TopicPartition, int]:
    first = consumer.offsets_for_times(dict(since_ms), timeout_ms=REQUEST_TIMEOUT_MS)
    return {
        place: ends[place] if first.get(place) is None else first[place].offset
        for place in since_ms
    }


def _newest_from(
    consumer: KafkaConsumer, place: TopicPartition, begin: int, end: int
) -> ConsumerRecord | None:
    _assign(consumer, {place: begin})
    newest, idle = None, 0
    while (reached := position_of(consumer, place)) < end:
        for records in consumer.poll(timeout_ms=_POLL_MS).values():
            newest = records[-1]
        idle = 0 if position_of(consumer, place) > reached else idle + 1
        if idle > _IDLE_POLLS_MAX:
            raise KafkaTimeoutError("it stopped to answer")
    return newest


def _read_offsets(
    consumer: KafkaConsumer, partition: TopicPartition, offsets: Sequence[int]
) -> Iterator[ConsumerRecord]:
    """Yield the records of a partition at some offsets, which ascend and are below its end."""
    consumer.assign([partition])
    wanted, left, idle = frozenset(offsets), list(offsets), 0
    while left:
        if idle == 0:
            consumer.seek(partition, left[0])
        records = consumer.poll(timeout_ms=_POLL_MS).get(partition, ())
        yield from (record for record in records if record.offset in wanted)
        # By position, not by record: an offset of a compacted topic may be empty.
        reached = position_of(consumer, partition)
        idle = 0 if reached > left[0] else idle + 1
        if idle > _IDLE_POLLS_MAX:
            raise KafkaTimeoutError("it stopped to answer")
        left = [offset for offset in left if offset >= reached]
