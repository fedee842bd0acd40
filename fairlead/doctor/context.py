"""The context of the checks: the settings, and the cluster, asked once for all of them."""

import contextlib
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

import orjson
from kafka import KafkaAdminClient, KafkaConsumer, TopicPartition
from kafka.consumer.fetcher import ConsumerRecord
from kafka.errors import TopicAuthorizationFailedError, UnknownTopicOrPartitionError

from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.control.unknown_queues import read_routes
from fairlead.core.model import Route
from fairlead.doctor.nodes import Nodes, described_by, look_at_nodes
from fairlead.kafka.acls import Role
from fairlead.kafka.connection import client_options, library_options
from fairlead.kafka.kafka_source import KafkaSource
from fairlead.kafka.reading_position import position_of
from fairlead.observed.bridges import Bridges, read_bridges
from fairlead.settings import Problem, Settings
from fairlead.wire.topics import ALL_TOPICS, TopicNames

__all__ = ["CheckContext", "Cluster", "SeenTick", "TickEvidence"]

ANSWER_MS_MAX: Final = 4_000
"""How long a check waits for one answer of a broker."""
_BACK: Final = 40
"""The doctor looks for a tick among this many records before the end of a partition."""
_POLL_MS: Final = 100


class SeenTick(NamedTuple):
    """A tick of the engine, with the time at which the broker appended it."""

    appended_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class TickEvidence:
    """Evidence in the heartbeats topic about the engine's ticks and the brokers' clocks.

    Attributes:
        newest: the newest tick of each partition that has one near its end.
        arrivals: append time and this machine's time of each record that arrived during the check.
        looked_ms: when the doctor stopped reading, on this machine's clock; None: now.
    """

    newest: Mapping[int, SeenTick]
    arrivals: Sequence[tuple[int, int]]
    looked_ms: int | None = None


class Cluster:
    """The cluster, through one connection of each kind; it asks for each thing once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.names = TopicNames(settings.kafka.topic_prefix)
        self._open = contextlib.ExitStack()

    def close(self) -> None:
        """Close all open connections."""
        self._open.close()

    @cached_property
    def admin(self) -> KafkaAdminClient:
        """An admin client; raises KafkaError if no broker answers."""
        client = KafkaAdminClient(**self._options())
        self._open.callback(client.close)
        return client

    @cached_property
    def consumer(self) -> KafkaConsumer:
        """A consumer that creates no topic and commits nothing."""
        client = KafkaConsumer(
            **self._options(), allow_auto_create_topics=False, enable_auto_commit=False
        )
        self._open.callback(client.close)
        return client

    @cached_property
    def described(self) -> dict[str, dict[str, Any]]:
        """Each existing topic of Fairlead: its suffix -> Kafka's description."""
        return {
            suffix: topic
            for suffix, topic in self.topic_answers.items()
            if topic["error_code"] == 0
        }

    @property
    def hidden(self) -> tuple[str, ...]:
        """The suffixes of topics that this user may not see."""
        return tuple(self._answered_with(TopicAuthorizationFailedError.errno))

    @cached_property
    def topic_answers(self) -> dict[str, dict[str, Any]]:
        """Kafka's answer about each topic, also that it is missing or hidden from this user."""
        described = self.admin.describe_topics([self.names.name(suffix) for suffix in ALL_TOPICS])
        answers = {str(self.names.suffix(topic["name"])): topic for topic in described}
        return {suffix: answers[suffix] for suffix in ALL_TOPICS if suffix in answers}

    def deleted_since(self, suffixes: Sequence[str]) -> frozenset[str]:
        """Return which of these topics were deleted since the first description."""
        names = [self.names.name(suffix) for suffix in suffixes]
        return frozenset(
            str(self.names.suffix(topic["name"]))
            for topic in self.admin.describe_topics(names)
            if topic["error_code"] == UnknownTopicOrPartitionError.errno
        )

    def partitions(self, suffix: str) -> int:
        """Return how many partitions a topic has; 0: it does not exist."""
        topic = self.described.get(suffix)
        return 0 if topic is None else len(topic["partitions"])

    def end_offset(self, suffix: str, partition: int = 0) -> int:
        """Return the end offset of a partition of an existing topic."""
        topic_partition = TopicPartition(self.names.name(suffix), partition)
        ends = self.consumer.end_offsets([topic_partition], timeout_ms=ANSWER_MS_MAX)
        return int(ends[topic_partition])

    @cached_property
    def bridges(self) -> Bridges:
        """The bridges by their records in the topics, for topics that exist in this cluster.

        An older bridge reports nothing about a topic that does not exist. Raises
        EnvironmentMissingError if a topic is unreadable.
        """
        bridges = read_bridges(KafkaSource(self._settings.kafka))
        if bridges.silence is None:
            return bridges
        kafka = self._settings.kafka
        data = DataCluster(
            kafka.bootstrap, timeout_ms=ANSWER_MS_MAX, options=library_options(kafka)
        )
        with contextlib.closing(data):
            existing = data.names()
        if existing is None:
            return bridges
        return bridges.without({*bridges.silence.topics} - {*existing})

    @cached_property
    def routes(self) -> dict[str, Route]:
        """The newest route of each topic that has one; empty if the topic of routes is missing."""
        return read_routes(self._settings.kafka) if self.partitions("routes") else {}

    @cached_property
    def ticks(self) -> TickEvidence:
        """Evidence from the ends of the heartbeats topic, and from arrivals of some ticks' time."""
        places = [("heartbeats", number) for number in range(self.partitions("heartbeats"))]
        tick_s = self._settings.engine.tick_ms / 1_000
        arrivals: list[tuple[int, int]] = []
        records = self._tail(places, _BACK, min(2.5 * tick_s, 4.0), arrivals)
        # Clients may write to this topic: a tick of an unclaimed generation is no engine's.
        claimed = self.end_offset("generations") if self.partitions("generations") else 0
        newest: dict[int, SeenTick] = {}
        for record in records:
            tick = _tick(record)
            if tick is not None and tick.generation <= claimed:
                newest[record.partition] = tick
        return TickEvidence(newest, arrivals, time.time_ns() // 1_000_000)

    def _tail(
        self,
        places: Sequence[tuple[str, int]],
        back: int,
        seconds: float,
        arrivals: list[tuple[int, int]] | None = None,
    ) -> list[ConsumerRecord]:
        """Return the last records of some partitions.

        Args:
            places: topics and partitions.
            back: how many of each.
            seconds: how long to wait for them.
            arrivals: collects later records; with it, wait for the whole time.
        """
        partitions = [TopicPartition(self.names.name(suffix), number) for suffix, number in places]
        consumer = self.consumer
        consumer.assign(partitions)
        firsts = consumer.beginning_offsets(partitions, timeout_ms=ANSWER_MS_MAX)
        ends = consumer.end_offsets(partitions, timeout_ms=ANSWER_MS_MAX)
        for partition in partitions:
            consumer.seek(partition, max(firsts[partition], ends[partition] - back))
        records: list[ConsumerRecord] = []
        until = time.monotonic() + seconds
        while time.monotonic() < until and (
            arrivals is not None
            or any(position_of(consumer, each) < ends[each] for each in partitions)
        ):
            for partition, batch in consumer.poll(timeout_ms=_POLL_MS).items():
                records += batch
                if arrivals is not None:
                    now_ms, end = time.time_ns() // 1_000_000, ends[partition]
                    arrivals += ((r.timestamp, now_ms) for r in batch if r.offset >= end)
        return records

    def _answered_with(self, code: int) -> dict[str, dict[str, Any]]:
        """Return the topics with this error code in Kafka's answer, by suffix."""
        topics = self.topic_answers.items()
        return {suffix: topic for suffix, topic in topics if topic["error_code"] == code}

    def _options(self) -> dict[str, Any]:
        return {
            **client_options(self._settings.kafka, "doctor"),
            "bootstrap_timeout_ms": ANSWER_MS_MAX,
            "request_timeout_ms": ANSWER_MS_MAX,
        }


@dataclass
class CheckContext:
    """Everything that a check may use.

    Attributes:
        settings: those in force.
        doubts: the warnings of `fairlead config check`.
        groups: consumer groups for which to check this user's rights.
        role: whose rights this user must have.
        cluster: the cluster of the settings; one check at a time uses it.
        seen: its brokers, once a check has asked.
    """

    settings: Settings
    doubts: Sequence[Problem] = ()
    groups: Sequence[str] = ()
    role: Role = Role.ENGINE
    cluster: Cluster = field(init=False)
    seen: Nodes | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def options(self) -> dict[str, Any]:
        """The options of a Kafka client with these settings."""
        return client_options(self.settings.kafka, "doctor")

    def __post_init__(self) -> None:
        self.cluster = Cluster(self.settings)

    def nodes(self) -> Nodes:
        """Return which brokers answer; only the first call asks them.

        Raises:
            KafkaError: the cluster does not name its brokers.
        """
        if self.seen is None:
            self.seen = look_at_nodes(described_by(self.cluster.admin), self.options)
        return self.seen

    def renew_cluster(self) -> None:
        """Use new connections from now on; a stuck check keeps the old ones."""
        with self._lock:
            self.cluster = Cluster(self.settings)


def _tick(record: ConsumerRecord) -> SeenTick | None:
    """Return a record of the heartbeats topic as a tick; None: it is no tick."""
    if record.key is not None or record.value is None:
        return None
    try:
        document = orjson.loads(record.value)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(document, dict) or document.get("kind") != "tick":
        return None
    generation = document.get("generation")
    return SeenTick(record.timestamp, generation) if isinstance(generation, int) else None
