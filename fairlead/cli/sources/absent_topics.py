"""Topics that the data cluster lacks, or in which it has more queues than their routes tell."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from fairlead.cli.sources.data_cluster import LOOK_UP_MS_MAX, data_cluster, library_log
from fairlead.errors import FairleadError

if TYPE_CHECKING:
    from fairlead.core.model import Route
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.settings import Settings

__all__ = ["absent_topics", "untold_topics"]

_NEAR_MAX: Final = 3


def absent_topics(
    unrouted: Collection[str], source: "TopicSource", settings: "Settings"
) -> dict[str, str]:
    """Return the topics that do not exist, each with the similar names that do.

    Empty if the cluster does not answer.

    Args:
        unrouted: topics without a known route.
        source: has the bridges' name of the cluster.
        settings: have the address of the cluster.
    """
    if not unrouted:
        return {}
    with data_cluster(settings.kafka) as data:
        try:
            existing = data.names()
        except FairleadError:
            return {}
    if existing is None:
        return {}
    cluster = _cluster_name(source) or settings.kafka.bootstrap
    others = [name for name in existing if source.names.suffix(name) is None]
    return {
        topic: f"topic {topic} does not exist on cluster {cluster}"
        + _near(get_close_matches(topic, others, n=_NEAR_MAX))
        for topic in unrouted
        if topic not in existing
    }


def untold_topics(routes: "Mapping[str, Route]", settings: "Settings") -> dict[str, str]:
    """Return the topics that have more queues than their routes tell, each in words.

    Empty if the cluster does not answer.
    """
    from fairlead.bridges.kafka.untold_queues import look_for_untold

    with library_log(settings.kafka):
        return look_for_untold(routes, settings.kafka, timeout_ms=LOOK_UP_MS_MAX)


def _near(names: Collection[str]) -> str:
    return f"; there is {', '.join(names)}" if names else ""


def _cluster_name(source: "TopicSource") -> str | None:
    """Return the bridges' name of the cluster; None: they know none, or several."""
    from fairlead.control.unknown_queues import newest_routes

    rows = source.read("routes", source.partitions_of("routes"))
    names = {
        broker.cluster or broker.broker_name
        for route in newest_routes(rows).values()
        for broker in route.brokers
    }
    return names.pop() if len(names) == 1 else None
