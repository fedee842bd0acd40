"""The generation of a driver: one number per start, greater than every number before it.

A driver appends a claim to the ``generations`` topic; its generation is the offset of that claim
+ 1, so no two drivers share one. A later claim means that another driver has started and that this
one must stop.
"""

import threading
import time
import uuid
from collections.abc import Callable
from typing import Final

import structlog
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError

from fairlead import __version__
from fairlead.core.records import DriverSettings, Generation
from fairlead.errors import EnvironmentMissingError, SupersededError
from fairlead.kafka.acls import Role
from fairlead.kafka.connection import REQUEST_TIMEOUT_MS, client_options
from fairlead.kafka.missing_rights import cluster_error
from fairlead.kafka.reachability import require_reachable
from fairlead.kafka.reading_position import position_of
from fairlead.kafka.topic_consumer import TopicConsumer
from fairlead.settings import KafkaSettings
from fairlead.wire.encode import encode_generation
from fairlead.wire.topics import TopicNames

log = structlog.get_logger()

_CLAIM_SECONDS_MAX: Final = 30.0
_POLL_MS: Final = 500


def earlier_generations(kafka: KafkaSettings) -> int:
    """Return the newest generation claimed so far; 0 if nobody has claimed one.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    partition = _partition(kafka)
    options = client_options(kafka, "generations")
    require_reachable(options)
    consumer = KafkaConsumer(**options)
    try:
        # Kafka never uses an offset twice, whatever compaction or retention removes.
        end: int = consumer.end_offsets([partition], timeout_ms=REQUEST_TIMEOUT_MS)[partition]
    except KafkaError as error:
        raise _unreachable(kafka, partition.topic, error) from error
    finally:
        consumer.close()
    return end


def claim_generation(
    kafka: KafkaSettings, ran_under: DriverSettings | None = None, seals: tuple[str, ...] = ()
) -> int:
    """Append a claim and return the generation that it gives this driver.

    Args:
        kafka: the cluster.
        ran_under: the settings that the driver runs its shards with, for a replay.
        seals: hashes that prove that the driver's first ticks are its own, by shard.

    Raises:
        EnvironmentMissingError: no broker has confirmed the claim in time. If it was appended
            nevertheless, its generation stays unused.
    """
    partition = _partition(kafka)
    driver = str(uuid.uuid4())
    record = Generation(driver, time.time_ns() // 1_000_000, __version__, ran_under, seals)
    options = client_options(kafka, "generations")
    require_reachable(options)
    producer = KafkaProducer(**options, acks="all")
    try:
        outgoing = encode_generation(record, TopicNames(kafka.topic_prefix))
        sent = producer.send(
            outgoing.topic, key=outgoing.key, value=outgoing.value, partition=outgoing.partition
        )
        generation: int = sent.get(timeout=_CLAIM_SECONDS_MAX).offset + 1
    except KafkaError as error:
        raise _unreachable(kafka, partition.topic, error) from error
    finally:
        producer.close(timeout=1)
    log.info("generation claimed", generation=generation, driver=driver)
    return generation


class GenerationWatch:
    """Reads the claims after our own, and reports the first one.

    If no broker answers, the watch tries again; the query notices a successor by its ticks as well.
    ``followed`` is set once the watch has read every earlier claim.
    """

    def __init__(
        self,
        kafka: KafkaSettings,
        generation: int,
        on_superseded: Callable[[SupersededError], None],
    ) -> None:
        """Describe the watch.

        Args:
            kafka: the cluster.
            generation: our own generation.
            on_superseded: called on the watch's thread.
        """
        self._kafka = kafka
        self._generation = generation
        self._on_superseded = on_superseded
        self.followed = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="generation-watch", daemon=True)

    def start(self) -> None:
        """Start to read."""
        self._thread.start()

    def stop(self) -> None:
        """Read no more; do not wait for a poll that waits for a broker."""
        self._stopped.set()
        self._thread.join(timeout=1)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                newer = self._follow()
            except (KafkaError, OSError) as error:
                log.warning("the generations topic cannot be read, trying again", error=str(error))
                self._stopped.wait(1)
                continue
            if newer is not None:
                self._on_superseded(superseded(newer, self._generation))
                return

    def _follow(self) -> int | None:
        """Read on after our own claim; return a newer generation, or None when stopped."""
        partition = _partition(self._kafka)
        consumer = TopicConsumer(**client_options(self._kafka, "generation-watch"))
        try:
            consumer.assign([partition])
            consumer.seek(partition, self._generation)
            end = consumer.end_offsets([partition], timeout_ms=REQUEST_TIMEOUT_MS)[partition]
            while not self._stopped.is_set():
                for records in consumer.poll(timeout_ms=_POLL_MS).values():
                    newest: int = records[-1].offset + 1
                    return newest
                if position_of(consumer, partition) >= end:
                    self.followed.set()
        finally:
            consumer.close()
        return None


def superseded(generation: int, own: int) -> SupersededError:
    """Return the error of a driver that has read a newer generation than its own."""
    return SupersededError(
        f"generation {generation} has taken over from generation {own}.",
        remedy="Leave this engine stopped. If it should run, stop the other one first.",
    )


def _partition(kafka: KafkaSettings) -> TopicPartition:
    """Return the only partition of the generations topic."""
    return TopicPartition(TopicNames(kafka.topic_prefix).name("generations"), 0)


def _unreachable(kafka: KafkaSettings, topic: str, error: KafkaError) -> EnvironmentMissingError:
    options = client_options(kafka, "causes")
    says = f"{topic} cannot be reached"
    return cluster_error(options, says, error, prefix=kafka.topic_prefix, role=Role.ENGINE)
