"""Fairlead's own topics as a bridge sees them: reads routes and requests, writes what follows."""

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

import structlog
from kafka import KafkaProducer, TopicPartition
from kafka.errors import KafkaError, KafkaTimeoutError

from fairlead.bridges.kafka.connection import bridge_connection
from fairlead.bridges.kafka.figures import BridgeFigures
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
"""So long requests are read at once: some ten thousand, as many as are kept."""
_POLLED_MAX: Final = 50
"""After so many the time is looked at: of the largest requests one takes some milliseconds."""
_NEXT_MS: Final = 100
"""How long what is known to be there is waited for."""

log = structlog.get_logger(__name__)


class ControlTopics:
    """A connection to Fairlead's topics; as a context it connects on entry and closes on exit.

    Args:
        bootstrap: host:port, several divided by commas.
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
        """Where requests, refused records and writes are counted."""

    def __enter__(self) -> Self:
        """Connect.

        Raises:
            EnvironmentMissingError: the cluster does not answer, or the topics are not there.
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
                # The idempotent producer of kafka-python 3.0.12 never sends again once a record has
                # run out of time while the broker was down. A repeated record does no harm here;
                # one request in flight keeps the order.
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
        """Yield what the routes topic holds now, in its order.

        Raises:
            EnvironmentMissingError: the topic cannot be read.
        """
        with self._named_errors():
            ends = self._consumer.end_offsets(self._routes)
            self._consumer.assign(self._routes)
            self._consumer.seek_to_beginning(*self._routes)
            while any(position_of(self._consumer, one) < end for one, end in ends.items()):
                before = [position_of(self._consumer, one) for one in self._routes]
                # A poll that goes nowhere although there is something means an outage.
                yield from self._readable_routes(self._poll(self._timeout_ms))
                if before == [position_of(self._consumer, one) for one in self._routes]:
                    raise KafkaTimeoutError(f"nothing came within {self._timeout_ms} ms")

    def follow_requests(self, look_back_ms: int) -> None:
        """Begin to read the requests topic, at what was written ``look_back_ms`` ago.

        Raises:
            EnvironmentMissingError: the topic cannot be read.
        """
        since_ms = int(time.time() * 1000) - look_back_ms
        with self._named_errors():
            # The ends first: what is written between the two look-ups must not be passed over.
            ends = self._consumer.end_offsets(self._requests)
            found = self._consumer.offsets_for_times(dict.fromkeys(self._requests, since_ms))
            self._consumer.assign(self._requests)
            for partition in self._requests:
                first = found.get(partition)
                self._consumer.seek(partition, ends[partition] if first is None else first.offset)

    def requests(self, wait_ms: int) -> list[Request]:
        """Return the requests written since, as soon as there is one; wait at most ``wait_ms``.

        All up to now, if it does not take too long: what was asked last stands behind all of a
        flood. A record that is no request is logged and passed over.

        Raises:
            KafkaError: the topic cannot be read.
        """
        requests = []
        end_s = None
        while records := self._poll(wait_ms):
            for record in records:
                try:
                    requests.append(decode_request(raw_record(record), _LIMITS))
                    self.figures.requests += 1
                except WireError as refused:
                    self.figures.refused += 1
                    _log_refused(record, refused)
            end_s = end_s or time.monotonic() + _READ_S
            if time.monotonic() > end_s or not self._is_behind():
                break
            wait_ms = _NEXT_MS
        return requests

    def _is_behind(self) -> bool:
        """Tell whether the last fetch has seen requests behind those that were read."""
        return any(
            position_of(self._consumer, each) < (self._consumer.highwater(each) or 0)
            for each in self._requests
        )

    def write(self, records: Sequence[OutgoingRecord], *, answers: bool = True) -> list[bool]:
        """Write records in their order and tell of each whether the cluster has it.

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
            # The producer itself gives up after its delivery timeout; this is a margin over it.
            future.get(2 * self._timeout_ms / 1000)
        except KafkaError as error:
            log.warning("write_failed", topic=record.topic, error=repr(error))
            return False
        return True

    @contextlib.contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Turn an error of kafka-python into one that says what to check."""
        try:
            yield
        except KafkaError as error:
            says = f"{self._bootstrap} does not serve the bridge"
            prefix = self._names.prefix
            raise cluster_error(
                self._config, says, error, prefix=prefix, role=Role.BRIDGE
            ) from error

    def _partitions(self, topic: str) -> list[TopicPartition]:
        found = self._consumer.partitions_for_topic(topic)
        if not found:
            raise EnvironmentMissingError(
                f"topics: {topic} is not there.",
                remedy="Make Fairlead's topics first, or check the topic prefix.",
            )
        return [TopicPartition(topic, partition) for partition in sorted(found)]

    def _readable_routes(self, records: Sequence[Any]) -> Iterator[RouteChanged]:
        """Yield what the records say; what is no route is logged and passed over."""
        for record in records:
            try:
                changed = decode("routes", raw_record(record), _LIMITS)
            except WireError as refused:
                self.figures.refused += 1
                _log_refused(record, refused)
                continue
            assert isinstance(changed, RouteChanged), "the routes topic holds nothing else"
            yield changed

    def _poll(self, wait_ms: int) -> list[Any]:
        several = self._consumer.poll(timeout_ms=wait_ms).values()
        return [record for records in several for record in records]

    def _close_producer(self) -> None:
        # Nothing waits in it: each write was waited for. It complains if the broker is gone.
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
