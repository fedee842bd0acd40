"""Finds queues that a Kafka topic has and its route lacks, because no bridge has published them.

Nobody asks for such queues, so no request waits for an answer; only a look at the cluster shows
them.
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
    "check that the bridge runs, and read its log: fairlead bridge kafka --supervise restarts it; "
    "a running bridge publishes new queues within its --poll-ms"
)


def look_for_untold(
    routes: Mapping[str, Route], kafka: KafkaSettings, *, timeout_ms: int
) -> dict[str, str]:
    """Ask the cluster, and return the result of `untold_queues`; empty if it does not answer."""
    if not routes:
        return {}
    data = DataCluster(kafka.bootstrap, timeout_ms=timeout_ms, options=library_options(kafka))
    with contextlib.closing(data):
        return untold_queues(routes, data.look_at(sorted(routes)).looks)


def untold_queues(routes: Mapping[str, Route], looks: Iterable[TopicLook]) -> dict[str, str]:
    """Return the topics with more queues than their routes have, each with a description.

    A topic with another identity than its route is left out: it is on another cluster, or was
    recreated.
    """
    texts = {}
    for look in looks:
        route = routes.get(look.topic)
        if not isinstance(look, TopicSeen) or route is None or look.identity != route.identity:
            continue
        there, published = len(look.leaders), queue_count(route)
        if route.brokers and published < there:
            texts[look.topic] = (
                f"{there - published} of its {counted(there, 'queue')} have no owner: no bridge "
                "has published them"
            )
    return texts
