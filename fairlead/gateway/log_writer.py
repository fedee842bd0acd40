"""Writes a gateway's records, and reports where they stand."""

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final

import structlog
from kafka import KafkaProducer
from kafka.errors import KafkaError, TopicAuthorizationFailedError

from fairlead.errors import EnvironmentMissingError
from fairlead.gateway.outputs import Append
from fairlead.kafka.acls import Role
from fairlead.kafka.connection import client_options
from fairlead.kafka.missing_rights import cluster_error, lack_words, require_rights
from fairlead.kafka.pace import Pace
from fairlead.settings import KafkaSettings
from fairlead.wire.partition import partition_of_client, partition_of_group
from fairlead.wire.topics import TopicNames

__all__ = ["Appended", "LogWriter", "WriterStart"]

_CLOSE_S: Final = 2.0
_RETRY_S: Final = 2.0
_GATHER_S: Final = (0.0, 0.015)
"""Records wait so long for others, where few and where many are written: each request costs more
than the records in it."""
_WRITTEN: Final = ("heartbeats", "releases", "handovers")

Appended = Callable[[Append, tuple[int, int] | None, int], None]
"""Called with the append, its partition and offset, and when it was appended.

None instead of the place: the records may not be in the log."""

log = structlog.get_logger(__name__)


class LogWriter:
    """One producer for all sessions; it never waits for a broker once it is made.

    Args:
        kafka: the cluster.
        delivery_ms: after this time a record counts as failed.

    Raises:
        EnvironmentMissingError: no connection, a topic is missing, or this user lacks a right.
    """

    def __init__(self, kafka: KafkaSettings, delivery_ms: int) -> None:
        self._names = TopicNames(kafka.topic_prefix)
        self._options = options = client_options(kafka, "gateway")
        require_rights(options, kafka.topic_prefix, Role.GATEWAY)
        request_ms = min(options["request_timeout_ms"], delivery_ms // 2)
        self._producer = KafkaProducer(
            **{**options, "request_timeout_ms": request_ms},
            acks="all",
            linger_ms=0,
            delivery_timeout_ms=delivery_ms,
        )
        try:
            self._counts = {
                suffix: len(self._producer.partitions_for(self._names.name(suffix)))
                for suffix in _WRITTEN
            }
        except KafkaError as error:
            self._producer.close(timeout=0)
            says = "the topics of clients cannot be written"
            raise cluster_error(
                options, says, error, prefix=kafka.topic_prefix, role=Role.GATEWAY
            ) from error
        # The library speaks to a thread of its own at each send: the event loop must not wait.
        self._waiting: SimpleQueue[tuple[Append, Appended] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="gateway-appends", daemon=True)
        self._thread.start()

    def append(self, append: Append, appended: Appended) -> None:
        """Write the records; `appended` hears of the last one, on a thread of this writer."""
        self._waiting.put((append, appended))

    def _run(self) -> None:
        pace = Pace(*_GATHER_S)
        while (waiting := self._waiting.get()) is not None:
            count = 0
            while waiting is not None:
                self._send(*waiting)
                count += 1
                if self._waiting.empty():
                    break
                waiting = self._waiting.get()
            else:
                return
            time.sleep(pace.wait_s(count, time.monotonic()))

    def _send(self, append: Append, appended: Appended) -> None:
        count = self._counts[append.suffix]
        if append.suffix == "handovers":
            partition = partition_of_client(append.group, append.handed_to, count)
        else:
            partition = partition_of_group(append.group, count)
        topic, key = self._names.name(append.suffix), append.group.encode()
        try:
            sent = [
                self._producer.send(topic, value=value, key=key, partition=partition)
                for value in append.values
            ]
        except Exception as error:  # noqa: BLE001 - this thread writes for everybody
            self._failed(append, appended, error)
            return
        # Records of one partition are appended in order, so the last one stands for all.
        sent[-1].add_callback(self._done, append, appended)
        sent[-1].add_errback(self._failed, append, appended)

    def close(self) -> None:
        """Close the connection; what is on its way has a moment to arrive."""
        self._waiting.put(None)
        self._thread.join()
        self._producer.close(timeout=_CLOSE_S)

    def _done(self, append: Append, appended: Appended, written: Any) -> None:
        place = (written.partition, written.offset)
        appended(append, place, written.timestamp)

    def _failed(self, append: Append, appended: Appended, error: BaseException) -> None:
        reason = str(error)
        if isinstance(error, TopicAuthorizationFailedError):
            reason = lack_words(self._options, "Write", [self._names.name(append.suffix)])
        log.warning("append_failed", topic=append.suffix, reason=reason)
        appended(append, None, 0)


class WriterStart:
    """Makes the writer on a thread, and tries until it succeeds.

    Args:
        make: makes the writer.
        made: called on the thread with the writer.

    Attributes:
        trouble: why there is none yet; empty: it is made.
    """

    def __init__(self, make: Callable[[], LogWriter], made: Callable[[LogWriter], None]) -> None:
        self._make, self._made = make, made
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gateway-writer", daemon=True)
        self.trouble = "not connected yet"

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, whether it is made or not."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                writer = self._make()
            except (EnvironmentMissingError, KafkaError, OSError) as error:
                if str(error) != self.trouble:
                    log.warning("gateway_cannot_write", reason=str(error))
                self.trouble = str(error)
                self._stop.wait(_RETRY_S)
            else:
                self._made(writer)
                self.trouble = ""
                return
