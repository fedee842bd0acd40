"""What the checks look at: the settings, and the cluster, asked once for all of them."""

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

__all__ = ["Cluster", "SeenTick", "Surroundings", "TickEvidence"]

ANSWER_MS_MAX: Final = 4_000
"""How long one answer of a broker is waited for."""
_BACK: Final = 40
"""So many records before the end of a partition are looked through for a tick."""
_POLL_MS: Final = 100


class SeenTick(NamedTuple):
    """A tick of the engine, with the time at which the broker appended it."""

    appended_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class TickEvidence:
    """What the heartbeats topic tells of the engine's pulse and of the brokers' clocks.

    Attributes:
        newest: the newest tick of each partition that has one near its end.
        arrivals: append time and this machine's time of each record that came while we looked.
        looked_ms: until when on this machine's clock; None: until now.
    """

    newest: Mapping[int, SeenTick]
    arrivals: Sequence[tuple[int, int]]
    looked_ms: int | None = None


class Cluster:
    """The cluster, through one connection of each kind; each thing is asked for once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.names = TopicNames(settings.kafka.topic_prefix)
        self._open = contextlib.ExitStack()

    def close(self) -> None:
        """Close what was opened."""
        self._open.close()

    @cached_property
    def admin(self) -> KafkaAdminClient:
        """An admin client; KafkaError if no broker answers it."""
        client = KafkaAdminClient(**self._options())
        self._open.callback(client.close)
        return client

    @cached_property
    def consumer(self) -> KafkaConsumer:
        """A consumer that makes no topic and commits nothing."""
        client = KafkaConsumer(
            **self._options(), allow_auto_create_topics=False, enable_auto_commit=False
        )
        self._open.callback(client.close)
        return client

    @cached_property
    def described(self) -> dict[str, dict[str, Any]]:
        """Each of Fairlead's topics that is there: its suffix -> what Kafka says of it."""
        return {suffix: topic for suffix, topic in self.told.items() if topic["error_code"] == 0}

    @property
    def hidden(self) -> tuple[str, ...]:
        """The suffixes of topics that this user may not see, so that nobody knows of them."""
        denied = TopicAuthorizationFailedError.errno
        return tuple(suffix for suffix, topic in self.told.items() if topic["error_code"] == denied)

    @cached_property
    def told(self) -> dict[str, dict[str, Any]]:
        """What Kafka answers about each topic, also that it is not there or may not be seen."""
        found = self.admin.describe_topics([self.names.name(suffix) for suffix in ALL_TOPICS])
        answers = {str(self.names.suffix(topic["name"])): topic for topic in found}
        return {suffix: answers[suffix] for suffix in ALL_TOPICS if suffix in answers}

    def gone(self, suffixes: Sequence[str]) -> frozenset[str]:
        """Return which of these topics were deleted after they were described."""
        names = [self.names.name(suffix) for suffix in suffixes]
        return frozenset(
            str(self.names.suffix(topic["name"]))
            for topic in self.admin.describe_topics(names)
            if topic["error_code"] == UnknownTopicOrPartitionError.errno
        )

    def partitions(self, suffix: str) -> int:
        """Return how many partitions a topic has; 0: it is not there."""
        topic = self.described.get(suffix)
        return 0 if topic is None else len(topic["partitions"])

    def end(self, suffix: str, partition: int = 0) -> int:
        """Return the end of a partition of a topic that is there."""
        place = TopicPartition(self.names.name(suffix), partition)
        end: int = self.consumer.end_offsets([place], timeout_ms=ANSWER_MS_MAX)[place]
        return end

    @cached_property
    def bridges(self) -> Bridges:
        """What the topics tell of the bridges, of what exists in this cluster.

        An older bridge tells nothing of a topic that does not exist; EnvironmentMissingError if a
        topic cannot be read.
        """
        found = read_bridges(KafkaSource(self._settings.kafka))
        if found.silence is None:
            return found
        kafka = self._settings.kafka
        data = DataCluster(
            kafka.bootstrap, timeout_ms=ANSWER_MS_MAX, options=library_options(kafka)
        )
        with contextlib.closing(data):
            there = data.names()
        return found if there is None else found.without({*found.silence.topics} - {*there})

    @cached_property
    def routes(self) -> dict[str, Route]:
        """The newest route of each topic that has one; empty where the topic of routes is not."""
        return read_routes(self._settings.kafka) if self.partitions("routes") else {}

    @cached_property
    def ticks(self) -> TickEvidence:
        """What the ends of the heartbeats topic tell, with what arrives within some ticks."""
        places = [("heartbeats", number) for number in range(self.partitions("heartbeats"))]
        tick_s = self._settings.engine.tick_ms / 1_000
        arrivals: list[tuple[int, int]] = []
        records = self._tail(places, _BACK, min(2.5 * tick_s, 4.0), arrivals)
        # Clients may write heartbeats: a tick of a generation that nobody claimed is no engine's.
        claimed = self.end("generations") if self.partitions("generations") else 0
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
            seconds: how long they are waited for.
            arrivals: what comes after our first look is noted here, and waited for all the time.
        """
        partitions = [TopicPartition(self.names.name(suffix), number) for suffix, number in places]
        consumer = self.consumer
        consumer.assign(partitions)
        firsts = consumer.beginning_offsets(partitions, timeout_ms=ANSWER_MS_MAX)
        ends = consumer.end_offsets(partitions, timeout_ms=ANSWER_MS_MAX)
        for each in partitions:
            consumer.seek(each, max(firsts[each], ends[each] - back))
        records: list[ConsumerRecord] = []
        until = time.monotonic() + seconds
        while time.monotonic() < until and (
            arrivals is not None
            or any(position_of(consumer, each) < ends[each] for each in partitions)
        ):
            for each, batch in consumer.poll(timeout_ms=_POLL_MS).items():
                records += batch
                if arrivals is not None:
                    now_ms = time.time_ns() // 1_000_000
                    arrivals += ((r.timestamp, now_ms) for r in batch if r.offset >= ends[each])
        return records

    def _options(self) -> dict[str, Any]:
        return {
            **client_options(self._settings.kafka, "doctor"),
            "bootstrap_timeout_ms": ANSWER_MS_MAX,
            "request_timeout_ms": ANSWER_MS_MAX,
        }


@dataclass
class Surroundings:
    """All that a check is given.

    Attributes:
        settings: those in force.
        doubts: what `fairlead config check` warns of.
        groups: consumer groups on which this user's rights are looked at.
        role: whose rights this user must have.
        cluster: the cluster that the settings name; nobody else has it while a check runs.
        seen: its brokers, once somebody has looked.
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
        """How a client of these settings connects."""
        return client_options(self.settings.kafka, "doctor")

    def __post_init__(self) -> None:
        self.cluster = Cluster(self.settings)

    def nodes(self) -> Nodes:
        """Return which brokers answer; all are asked once, by whoever wants to know first.

        Raises:
            KafkaError: the cluster does not tell its brokers.
        """
        if self.seen is None:
            self.seen = look_at_nodes(described_by(self.cluster.admin), self.options)
        return self.seen

    def renew_cluster(self) -> None:
        """Ask through new connections from now on: who hangs on the old ones keeps them."""
        with self._lock:
            self.cluster = Cluster(self.settings)


def _tick(record: ConsumerRecord) -> SeenTick | None:
    """Return a record of the heartbeats topic as a tick; None: it is something else."""
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
