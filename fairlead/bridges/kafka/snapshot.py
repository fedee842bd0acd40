"""The result of one look at a topic of a Kafka cluster: seen whole, absent, or unclear.

It reads the answers of kafka-python's admin client (the plain dicts of ``describe_topics`` and
``describe_cluster``) and decides only how much they prove. An answer that does not show a whole
topic proves nothing: no route ever comes from a part of a topic.
"""

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from fairlead.wire.texts import LABEL

__all__ = [
    "Racks",
    "TopicAbsent",
    "TopicLook",
    "TopicSeen",
    "TopicUnclear",
    "kafka_topic_id",
    "read_racks",
    "read_topic",
    "read_topics",
]

Racks = Mapping[int, str | None]
"""Node id -> rack (None: it has none). Missing nodes were not seen."""

_NO_ERROR = 0
_UNKNOWN_TOPIC_OR_PARTITION = 3
_INVALID_TOPIC = 17
"""Kafka's error for an impossible topic name, so the topic does not exist."""
_NO_LEADER = -1
_NO_TOPIC_ID = str(UUID(int=0))


@dataclass(frozen=True, slots=True)
class TopicSeen:
    """A whole topic: its identity and, per partition in order, leader and preferred replica.

    A leader of None: the partition has no leader now.
    """

    topic: str
    identity: str
    leaders: tuple[int | None, ...]
    preferred: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TopicAbsent:
    """The asked node knows no topic of this name; it may lag, see RouteBook."""

    topic: str


@dataclass(frozen=True, slots=True)
class TopicUnclear:
    """The look-up failed or did not show the whole topic; ``why`` is for the log."""

    topic: str
    why: str


TopicLook = TopicSeen | TopicAbsent | TopicUnclear


def kafka_topic_id(topic_id: str) -> str:
    """Convert a topic id, given as an ordinary UUID, to the form of Kafka's own tools.

    That is org.apache.kafka.common.Uuid#toString: 22 characters of URL-safe base64.
    """
    return base64.urlsafe_b64encode(UUID(topic_id).bytes).rstrip(b"=").decode("ascii")


def read_topics(
    topics: Iterable[str], descriptions: Iterable[Mapping[str, Any]]
) -> list[TopicLook]:
    """Return one look per requested topic, in the requested order."""
    by_name = {description["name"]: description for description in descriptions}
    return [
        read_topic(topic, by_name[topic])
        if topic in by_name
        else TopicUnclear(topic, "the answer does not contain the topic")
        for topic in topics
    ]


def read_topic(topic: str, description: Mapping[str, Any]) -> TopicLook:
    """Read one entry of ``describe_topics``."""
    code = description["error_code"]
    if code in (_UNKNOWN_TOPIC_OR_PARTITION, _INVALID_TOPIC):
        return TopicAbsent(topic)
    if code != _NO_ERROR:
        return TopicUnclear(topic, f"error code {code}")
    topic_id = description.get("topic_id")
    if topic_id is None or topic_id == _NO_TOPIC_ID:
        return TopicUnclear(topic, "the brokers report no topic id; Kafka 2.8 or later does")
    partitions = sorted(description["partitions"], key=lambda entry: entry["partition_index"])
    if not partitions or [entry["partition_index"] for entry in partitions] != list(
        range(len(partitions))
    ):
        return TopicUnclear(topic, f"{len(partitions)} partitions that are not 0, 1, 2, ...")
    if any(not entry["replica_nodes"] for entry in partitions):
        return TopicUnclear(topic, "a partition without replicas")
    return TopicSeen(
        topic,
        kafka_topic_id(topic_id),
        tuple(_leader(entry["leader_id"]) for entry in partitions),
        tuple(entry["replica_nodes"][0] for entry in partitions),
    )


def read_racks(cluster: Mapping[str, Any]) -> Racks:
    """Read the racks from ``describe_cluster``.

    A rack with a name that the protocol does not allow counts as none, so that one odd name does
    not prevent a topic's route.
    """
    return {broker["broker_id"]: _zone(broker["rack"]) for broker in cluster["brokers"]}


def _zone(rack: str | None) -> str | None:
    return rack if rack is not None and LABEL.allows(rack) else None


def _leader(node: int) -> int | None:
    return None if node == _NO_LEADER else node
