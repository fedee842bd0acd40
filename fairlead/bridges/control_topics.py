"""A bridge's access to Fairlead's topics: reads routes and requests, writes routes and answers."""

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

import structlog
from kafka import KafkaProducer, TopicPartition
from kafka.errors import KafkaError, KafkaTimeoutError

from fairlead.bridges.connection import bridge_connection
from fairlead.bridges.figures import BridgeFigures
from fairlead.core.outputs import Request
from fairlead.core.records import RouteChanged
from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.acls import Role
from fairlead.kafka.missing_rights import cluster_error, require_rights
from fairlead.kafka.reading_position import position_of
from fairlead.kafka.topic_consumer import TopicConsumer
from fairlead.wire.decode import decode, decode_request
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import OutgoingRecord, raw_record
from fairlead.wire.topics import TopicNames

__all__ = ["ControlTopics"]

_LIMITS: Final = WireLimits(shards=1)
"""Routes and requests do not depend on the number of shards."""

_READ_S: Final = 2.0
"""How long one turn reads requests: some ten thousand, as many as the bridge keeps."""
_POLLED_MAX: Final = 50
"""After this many requests a turn checks its time; the largest request takes some milliseconds."""
_NEXT_MS: Final = 100
"""How long to wait for records that are known to exist."""

log = structlog.get_logger(__name__)


class ControlTopics:
    """A connection to Fairlead's topics; as a context it connects on entry and closes on exit.

    Args:
        bootstrap: host:port, several separated by commas.
        names: the names of the topics.
        timeout_ms: how long the cluster may take to answer, and a write to be acknowledged.
        options: further keyword arguments of kafka-python's clients, for security.
    """

    def __init__(
        self, bootstrap: str, names: TopicNames, *, timeout_ms: int, options: Mapping[str, Any]
    ) -> None:
        self._bootstrap = bootstrap
        self._names = names
        self._timeout_ms = timeout_ms
        self._config = bridge_connection(bootstrap, timeout_ms, options)
        self.figures = BridgeFigures()
        """The counts of requests, refused records and writes."""

    def __enter__(self) -> Self:
        """Connect.

        Raises:
            EnvironmentMissingError: the cluster does not answer, or the topics do not exist.
        """
        require_rights(self._config, self._names.prefix, Role.BRIDGE)
        with contextlib.ExitStack() as opened, self._named_errors():
            self._consumer = TopicConsumer(
                **self._config,
                group_id=None,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                max_poll_records=_POLLED_MAX,
            )
            opened.callback(self._consumer.close, autocommit=False)
            self._producer = KafkaProducer(
                **self._config,
                acks="all",
                linger_ms=0,
                delivery_timeout_ms=self._timeout_ms,
                max_block_ms=self._timeout_ms,
                # The idempotent producer of kafka-python 3.0.12 never sends again after a record
                # has timed out while the broker was down. A repeated record does no harm here; one
                # request in flight keeps the order.
                enable_idempotence=False,
                max_in_flight_requests_per_connection=1,
            )
            opened.callback(self._close_producer)
            self._routes = self._partitions(self._names.name("routes"))
            self._requests = self._partitions(self._names.name("requests"))
            self._partitions(self._names.name("offsets"))
            self._open = opened.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections."""
        self._open.close()

    def routes(self) -> Iterator[RouteChanged]:
        """Yield the current records of the routes topic, in order.

        Raises:
            EnvironmentMissingError: the topic cannot be read.
        """
        with self._named_errors():
            ends = self._consumer.end_offsets(self._routes)
            self._consumer.assign(self._routes)
            self._consumer.seek_to_beginning(*self._routes)
            while any(position_of(self._consumer, one) < end for one, end in ends.items()):
                before = [position_of(self._consumer, one) for one in self._routes]
                # A poll without progress although there are records means an outage.
                yield from self._readable_routes(self._poll(self._timeout_ms))
                if before == [position_of(self._consumer, one) for one in self._routes]:
                    raise KafkaTimeoutError(f"no records within {self._timeout_ms} ms")

    def follow_requests(self, look_back_ms: int) -> None:
        """Begin to read the requests topic, from ``look_back_ms`` ago on.

        Raises:
            EnvironmentMissingError: the topic cannot be read.
        """
        since_ms = int(time.time() * 1000) - look_back_ms
        with self._named_errors():
            # The ends first: records written between the two look-ups must not be skipped.
            ends = self._begun = self._consumer.end_offsets(self._requests)
            firsts = self._consumer.offsets_for_times(dict.fromkeys(self._requests, since_ms))
            self._consumer.assign(self._requests)
            for partition in self._requests:
                first = firsts.get(partition)
                self._consumer.seek(partition, ends[partition] if first is None else first.offset)

    def requests(self, wait_ms: int) -> list[Request]:
        """Return the new requests, as soon as there is one; wait at most ``wait_ms``.

        It reads up to the end if that does not take too long, since the newest requests come last
        in a flood. Invalid records are logged and skipped. An ``unlock`` of before the start is
        left out: another bridge may have done it, and its id may be in use again (rule H34).

        Raises:
            KafkaError: the topic cannot be read.
        """
        requests = []
        end_s = None
        while records := self._poll(wait_ms):
            for record in records:
                try:
                    request = decode_request(raw_record(record), _LIMITS)
                except WireError as refused:
                    self.figures.refused += 1
                    _log_refused(record, refused)
                    continue
                self.figures.requests += 1
                if request.what != "unlock" or not self._is_of_before(record):
                    requests.append(request)
            end_s = end_s or time.monotonic() + _READ_S
            if time.monotonic() > end_s or not self._is_behind():
                break
            wait_ms = _NEXT_MS
        return requests

    def _is_of_before(self, record: Any) -> bool:
        """Tell whether a request was there when the bridge began to read."""
        begun: int = self._begun[TopicPartition(record.topic, record.partition)]
        return bool(record.offset < begun)

    def _is_behind(self) -> bool:
        """Tell whether the last fetch has seen requests that are not read yet."""
        return any(
            position_of(self._consumer, each) < (self._consumer.highwater(each) or 0)
            for each in self._requests
        )

    def write(self, records: Sequence[OutgoingRecord], *, answers: bool = True) -> list[bool]:
        """Write records in order; return for each whether the cluster has it.

        ``answers``: they are routes, or answers to requests.
        """
        futures = []
        for record in records:
            try:
                future = self._producer.send(
                    record.topic, value=record.value, key=record.key, partition=record.partition
                )
            except KafkaError as error:
                log.warning("write_failed", topic=record.topic, error=repr(error))
                future = None
            futures.append(future)
        written = [
            future is not None and self._is_written(record, future)
            for record, future in zip(records, futures, strict=True)
        ]
        self.figures.failed_writes += written.count(False)
        if answers and any(written):
            self.figures.wrote()
        return written

    def _is_written(self, record: OutgoingRecord, future: Any) -> bool:
        try:
            # The producer gives up after its delivery timeout; this limit is above it.
            future.get(2 * self._timeout_ms / 1000)
        except KafkaError as error:
            log.warning("write_failed", topic=record.topic, error=repr(error))
            return False
        return True

    @contextlib.contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Turn an error of kafka-python into an error with a remedy."""
        try:
            yield
        except KafkaError as error:
            says = f"{self._bootstrap} does not serve the bridge"
            prefix = self._names.prefix
            raise cluster_error(
                self._config, says, error, prefix=prefix, role=Role.BRIDGE
            ) from error

    def _partitions(self, topic: str) -> list[TopicPartition]:
        numbers = self._consumer.partitions_for_topic(topic)
        if not numbers:
            raise EnvironmentMissingError(
                f"topics: {topic} does not exist.",
                remedy="Create Fairlead's topics first, or check the topic prefix.",
            )
        return [TopicPartition(topic, partition) for partition in sorted(numbers)]

    def _readable_routes(self, records: Sequence[Any]) -> Iterator[RouteChanged]:
        """Yield the routes of the records; log and skip invalid ones."""
        for record in records:
            try:
                changed = decode("routes", raw_record(record), _LIMITS)
            except WireError as refused:
                self.figures.refused += 1
                _log_refused(record, refused)
                continue
            assert isinstance(changed, RouteChanged), "the routes topic has only routes"
            yield changed

    def _poll(self, wait_ms: int) -> list[Any]:
        several = self._consumer.poll(timeout_ms=wait_ms).values()
        return [record for records in several for record in records]

    def _close_producer(self) -> None:
        # It holds no unsent records, since each write is awaited; but it may raise without broker.
        with contextlib.suppress(KafkaError):
            self._producer.close(timeout=self._timeout_ms / 1000)


def _log_refused(record: Any, refused: WireError) -> None:
    log.warning(
        "record_refused",
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        reason=refused.reason,
        field=refused.field,
        detail=refused.detail,
    )
