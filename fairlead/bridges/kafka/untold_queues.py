"""Queues that a Kafka topic has and its route does not tell: no bridge has seen it grow.

Nobody asks for them, so no request waits for an answer: only a look at the cluster shows it.
"""

import contextlib
from collections.abc import Iterable, Mapping
from typing import Final

from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.bridges.kafka.snapshot import TopicLook, TopicSeen
from fairlead.core.model import Route
from fairlead.core.topics.routes import queue_count
from fairlead.counts import counted
from fairlead.kafka.connection import library_options
from fairlead.settings import KafkaSettings

__all__ = ["UNTOLD_REMEDY", "look_for_untold", "untold_queues"]

UNTOLD_REMEDY: Final = (
    "look whether the bridge runs, and at its log: fairlead bridge kafka --supervise starts it "
    "again; one that runs tells new queues within its --poll-ms"
)


def look_for_untold(
    routes: Mapping[str, Route], kafka: KafkaSettings, *, timeout_ms: int
) -> dict[str, str]:
    """Ask the cluster, and return what `untold_queues` finds; nothing where it does not answer."""
    if not routes:
        return {}
    data = DataCluster(kafka.bootstrap, timeout_ms=timeout_ms, options=library_options(kafka))
    with contextlib.closing(data):
        return untold_queues(routes, data.look(sorted(routes)).looks)


def untold_queues(routes: Mapping[str, Route], looks: Iterable[TopicLook]) -> dict[str, str]:
    """Return the topics with more queues than their routes tell, each with that in words.

    A topic that is not the one of its route, by its identity, is left out: it may be on another
    cluster, or was made anew.
    """
    found = {}
    for look in looks:
        route = routes.get(look.topic)
        if not isinstance(look, TopicSeen) or route is None or look.identity != route.identity:
            continue
        there, told = len(look.leaders), queue_count(route)
        if route.brokers and told < there:
            found[look.topic] = (
                f"{there - told} of its {counted(there, 'queue')} are shared by nobody: no bridge "
                "has told them"
            )
    return found
