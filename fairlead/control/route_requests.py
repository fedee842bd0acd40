"""Asks the bridge for routes that nobody has told yet, and waits for them."""

import time
from collections.abc import Sequence
from typing import Final

from fairlead.control.unknown_queues import newest_routes
from fairlead.core.outputs import Request
from fairlead.kafka.record_writer import write_records
from fairlead.kafka.topic_source import TopicSource
from fairlead.settings import KafkaSettings
from fairlead.wire.encode import encode
from fairlead.wire.raw import Partitions
from fairlead.wire.topics import TopicNames

__all__ = ["ask_for_routes", "topics_without_route"]

_LOOK_SECONDS: Final = 0.2


def topics_without_route(source: TopicSource, topics: Sequence[str]) -> list[str]:
    """Return the topics that no route tells of, in their order."""
    known = newest_routes(source.rows("routes", source.partitions_of("routes")), topics)
    return [topic for topic in topics if topic not in known]


def ask_for_routes(
    kafka: KafkaSettings,
    source: TopicSource,
    group: str,
    topics: Sequence[str],
    seconds_max: float,
) -> list[str]:
    """Request routes as the engine does; return the topics whose routes nobody told in time.

    Args:
        kafka: the cluster with Fairlead's topics.
        source: reads them.
        group: the group that asks.
        topics: those without a route.
        seconds_max: how long to wait.

    Raises:
        EnvironmentMissingError: the topics cannot be read or written.
    """
    names, one = TopicNames(kafka.topic_prefix), Partitions(1, 1)
    records = [
        record
        for topic in topics
        for record in encode(Request(group, "route", topic, None, None), names, one)
    ]
    write_records(kafka, records)
    until = time.monotonic() + seconds_max
    while True:
        left = topics_without_route(source, topics)
        if not left or time.monotonic() >= until:
            return left
        time.sleep(_LOOK_SECONDS)
