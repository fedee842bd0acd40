"""What the driver checks of the cluster before it starts and while it runs."""

import contextlib
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import structlog
from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from fairlead.errors import EnvironmentMissingError, FairleadError, RefusedError
from fairlead.kafka.acls import Role
from fairlead.kafka.connection import client_options
from fairlead.kafka.input_topics import SHARDED_TOPICS
from fairlead.kafka.missing_rights import cluster_error, require_rights
from fairlead.kafka.reachability import require_reachable
from fairlead.kafka.topic_creation import create_topics, inspect_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import Settings
from fairlead.wire.topics import CLIENT_TOPICS, TopicNames

log = structlog.get_logger()

LOOK_SECONDS: Final = 30.0
"""How often the guard checks the partitions while the query runs."""


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """The cluster's id and the sizes of its topics.

    Attributes:
        cluster_id: Kafka's id of the cluster.
        shards: partitions of heartbeats, releases and control.
        assignments_partitions: partitions of assignments.
    """

    cluster_id: str
    shards: int
    assignments_partitions: int


def prepare_topics(settings: Settings, *, may_create: bool) -> None:
    """Make sure that every topic exists and has the settings that the engine needs.

    Args:
        settings: name the topics and their settings.
        may_create: create missing topics. With state they must exist: a recreated topic would be
            empty although the checkpoint has offsets of it. Topics that only clients use are in no
            checkpoint; every start may create them.

    Raises:
        RefusedError: a topic is missing, or differs in a way that would make decisions wrong.
        EnvironmentMissingError: the cluster does not answer, or a permission is missing.
    """
    kafka = settings.kafka
    connection, prefix = client_options(kafka, "topics"), kafka.topic_prefix
    specs = topic_specs(settings.topics)
    require_rights(connection, prefix, Role.ENGINE)
    work = create_topics if may_create else inspect_topics
    report = work(connection, prefix, specs, kafka.replication_factor)
    stateless = {TopicNames(prefix).name(suffix) for suffix in CLIENT_TOPICS}
    if report.missing and stateless.issuperset(report.missing):
        report = create_topics(connection, prefix, specs, kafka.replication_factor)
    if report.created:
        log.info("topics created", topics=report.created)
    if report.missing:
        raise RefusedError(
            f"topics: {', '.join(report.missing)} missing, although engine.checkpoint has state.",
            remedy="Name the cluster and the prefix this checkpoint belongs to (kafka.bootstrap, "
            "kafka.topic_prefix), or start afresh with another prefix and another checkpoint.",
        )
    told = {True: "essential", False: "advised"}
    differences = [
        (each.essential, f"{each.topic}: {each.setting} is {each.found}, not {each.expected}")
        for each in report.differences
    ]
    for essential, text in differences:
        log.warning("topic differs", difference=text, weight=told[essential])
    wrong = [text for essential, text in differences if essential]
    if wrong:
        raise RefusedError(
            f"topics: {'; '.join(wrong)}.",
            remedy="Change the topics (kafka-configs), or correct the section [topics].",
        )


def wrong_settings(settings: Settings) -> frozenset[str]:
    """Return a description of each topic setting with which an engine would refuse to start.

    Raises:
        EnvironmentMissingError: the cluster does not answer.
    """
    kafka = settings.kafka
    specs = topic_specs(settings.topics)
    report = inspect_topics(client_options(kafka, "topics"), kafka.topic_prefix, specs)
    return frozenset(
        f"{each.topic}: {each.setting} is {each.found}, not {each.expected}"
        for each in report.differences
        if each.essential
    )


def read_cluster(settings: Settings) -> ClusterFacts:
    """Ask the cluster for its id and its partitions.

    Raises:
        EnvironmentMissingError: it does not answer.
        RefusedError: a topic is missing, or heartbeats, releases and control do not have the same
            number of partitions.
    """
    options = client_options(settings.kafka, "cluster")
    require_reachable(options)
    try:
        with contextlib.closing(KafkaAdminClient(**options)) as admin:
            cluster_id = str(admin.describe_cluster()["cluster_id"])
            names = TopicNames(settings.kafka.topic_prefix)
            topics = (*SHARDED_TOPICS, "assignments")
            described = admin.describe_topics([names.name(topic) for topic in topics])
    except KafkaError as error:
        raise cluster_error(options, "the cluster does not answer", error) from error
    counts = _partition_counts(described)
    missing = [names.name(topic) for topic in topics if names.name(topic) not in counts]
    if missing:
        raise RefusedError(
            f"topics: {', '.join(missing)} missing.",
            remedy="The engine cannot decide without them. If somebody deleted them, start afresh: "
            "another kafka.topic_prefix and another engine.checkpoint.",
        )
    shards = counts[names.name("heartbeats")]
    for topic in SHARDED_TOPICS:
        if counts[names.name(topic)] != shards:
            raise RefusedError(
                f"topics: {names.name(topic)} has {counts[names.name(topic)]} partitions and "
                f"{names.name('heartbeats')} has {shards}; both need the same number.",
                remedy="Kafka cannot remove partitions: start afresh under another prefix.",
            )
    return ClusterFacts(cluster_id, shards, counts[names.name("assignments")])


class PartitionGuard:
    """Checks regularly that the cluster has not changed; reports once if it has."""

    def __init__(
        self,
        settings: Settings,
        facts: ClusterFacts,
        on_change: Callable[[FairleadError], None],
        on_wrong: Callable[[int], None] = lambda _: None,
        *,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        """Describe the guard.

        The guard calls ``on_change`` and ``on_wrong`` on its thread. ``on_wrong`` gets the number
        of topic settings that an engine could not start with. They do not end the run: decisions
        rest on records that are in the log already, and somebody may be correcting the settings.
        """
        self._settings = settings
        self._facts = facts
        self._on_change = on_change
        self._on_wrong = on_wrong
        self._wrong: frozenset[str] = frozenset()
        self._look_seconds = look_seconds
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="partition-guard", daemon=True)

    def start(self) -> None:
        """Start to check."""
        self._thread.start()

    def stop(self) -> None:
        """Check no more; do not wait for a check that waits for a broker."""
        self._stopped.set()
        self._thread.join(timeout=1)

    def _run(self) -> None:
        while not self._stopped.wait(self._look_seconds):
            try:
                found = read_cluster(self._settings)
            except EnvironmentMissingError as error:
                # The broker may come back; if it does not, the query fails by itself.
                log.warning("the partitions cannot be checked", error=str(error))
                continue
            except RefusedError as error:
                self._on_change(error)
                return
            if found != self._facts:
                self._on_change(_changed(self._facts, found))
                return
            self._look_at_settings()

    def _look_at_settings(self) -> None:
        try:
            wrong = wrong_settings(self._settings)
        except EnvironmentMissingError as error:
            log.warning("the topics' settings cannot be checked", error=str(error))
            return
        for text in sorted(wrong - self._wrong):
            log.warning("topic differs", difference=text, weight="essential")
        self._wrong = wrong
        self._on_wrong(len(wrong))


def _partition_counts(described: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Return the number of partitions of each topic that exists."""
    return {
        topic["name"]: len(topic["partitions"]) for topic in described if topic["error_code"] == 0
    }


def _changed(before: ClusterFacts, now: ClusterFacts) -> RefusedError:
    return RefusedError(
        f"topics: the partitions changed from {before} to {now}: groups would move to shards that "
        "do not know them.",
        remedy="Kafka cannot remove partitions: start afresh under another kafka.topic_prefix, "
        "with another engine.checkpoint.",
    )
