"""The ticker: moves the clock of the log.

It appends a tick to every partition of the heartbeats topic once a period. Ticks carry the driver's
generation, so the first one is also this start's marker in that partition. If the clock stops,
nobody lapses; that is safe, but groups no longer notice dead members. So a ticker that fails for
good stops the driver.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import structlog
from kafka import KafkaProducer
from kafka.errors import KafkaError, KafkaTimeoutError
from kafka.producer.future import FutureRecordMetadata

from fairlead.core.records import Tick
from fairlead.kafka.acls import Role
from fairlead.kafka.connection import client_options
from fairlead.kafka.missing_rights import cluster_error
from fairlead.kafka.reachability import require_reachable
from fairlead.settings import KafkaSettings
from fairlead.wire.encode import encode_tick
from fairlead.wire.topics import TopicNames

log = structlog.get_logger()

_FIRST_SECONDS_MAX: Final = 30.0
_DELIVERY_MS: Final = 5_000
"""A tick older than this is useless: newer ones have been sent meanwhile."""


@dataclass(frozen=True, slots=True)
class TickerCounts:
    """How many ticks were appended, and how many were lost, over all partitions."""

    appended: int
    lost: int


class Ticker:
    """Sends ticks from its own thread, from `start` to `stop`.

    Attributes:
        appended_at: when the newest tick was appended, in seconds of `time.monotonic`.
    """

    def __init__(
        self,
        kafka: KafkaSettings,
        shards: int,
        tick_ms: int,
        on_failure: Callable[[Exception], None],
    ) -> None:
        """Describe the ticker.

        Args:
            kafka: the cluster.
            shards: partitions of the heartbeats topic.
            tick_ms: the period.
            on_failure: called on the ticker's thread when an error ends it. A broker that does not
                answer is no such error: the ticker waits for it without a limit.
        """
        self._kafka = kafka
        self._shards = range(shards)
        self._period = tick_ms / 1000
        self._on_failure = on_failure
        self._topic = TopicNames(kafka.topic_prefix).name("heartbeats")
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ticker", daemon=True)
        self.producer: KafkaProducer | None = None
        self._value = b""
        self._appended = 0
        self._lost = 0
        self._broken = False
        self.appended_at: float | None = None

    @property
    def counts(self) -> TickerCounts:
        """The counts since the start."""
        return TickerCounts(self._appended, self._lost)

    def start(self, generation: int, first: Mapping[int, Tick] | None = None) -> dict[int, int]:
        """Send the first tick to every partition, wait until all are appended, and go on.

        With a tick in every partition the first batch runs every shard. So after its commit, a
        shard without state is a shard that lost it.

        Args:
            generation: this driver's generation.
            first: the first tick of each partition; None: an ordinary tick.

        Returns:
            The append time of the first tick of each partition.

        Raises:
            EnvironmentMissingError: the ticks could not be appended in time.
        """
        self._value = encode_tick(Tick(generation))
        options = client_options(self._kafka, "ticker")
        require_reachable(options)
        try:
            self.producer = KafkaProducer(
                **options,
                acks="all",
                # A duplicate tick does no harm, and a pause must not become a backlog.
                enable_idempotence=False,
                delivery_timeout_ms=max(_DELIVERY_MS, options["request_timeout_ms"]),
                max_block_ms=_DELIVERY_MS,
            )
            values = {partition: encode_tick(tick) for partition, tick in (first or {}).items()}
            sent = self._send(values)
            appended = [future.get(timeout=_FIRST_SECONDS_MAX).timestamp for future in sent]
        except KafkaError as error:
            says = f"no tick can be appended to {self._topic}"
            prefix, role = self._kafka.topic_prefix, Role.ENGINE
            raise cluster_error(options, says, error, prefix=prefix, role=role) from error
        self._thread.start()
        return dict(zip(self._shards, appended, strict=True))

    def stop(self) -> None:
        """Send nothing more."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()
        if self.producer is not None:
            self.producer.close(timeout=1)

    def _run(self) -> None:
        try:
            due = time.monotonic() + self._period
            while not self._stopped.wait(max(0.0, due - time.monotonic())):
                # After a pause of the machine one tick is enough; the missed ones are skipped.
                due = max(due + self._period, time.monotonic())
                try:
                    self._send()
                except KafkaTimeoutError as error:
                    self._lost += len(self._shards)
                    self._tell(error)
        except Exception as error:
            log.exception("the ticker has died: no member can lapse any more")
            self._on_failure(error)

    def _send(self, values: Mapping[int, bytes] | None = None) -> list[FutureRecordMetadata]:
        """Hand one tick per partition to the producer; ``values`` replaces the ordinary ones."""
        assert self.producer is not None, "start() makes the producer"
        futures = [
            self.producer.send(
                self._topic, value=(values or {}).get(partition, self._value), partition=partition
            )
            for partition in self._shards
        ]
        for future in futures:
            future.add_callback(self._on_appended)
            future.add_errback(self._on_lost)
        return futures

    def _on_appended(self, _metadata: object) -> None:
        self._appended += 1
        self.appended_at = time.monotonic()
        self._broken = False

    def _on_lost(self, error: BaseException) -> None:
        self._lost += 1
        self._tell(error)

    def _tell(self, error: BaseException) -> None:
        """Log once that ticks are lost, not once per tick."""
        if not self._broken:
            self._broken = True
            log.warning("ticks are lost: the clock of the log stands still", error=str(error))
