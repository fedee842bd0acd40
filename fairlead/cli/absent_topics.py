"""What the data cluster says of topics: that they are not there, or have more queues than told."""

import contextlib
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fairlead.core.model import Route
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.settings import Settings

__all__ = ["absent_topics", "untold_topics"]

_LOOK_UP_MS_MAX: Final = 10_000
_NEAR_MAX: Final = 3


def absent_topics(
    unrouted: Collection[str], source: "TopicSource", settings: "Settings"
) -> dict[str, str]:
    """Return which of these topics do not exist, each with what there is of a similar name.

    None of them where the cluster does not answer: then nobody knows.

    Args:
        unrouted: topics of which no route is known.
        source: tells what the bridges call their clusters.
        settings: say where the cluster is.
    """
    from fairlead.bridges.kafka.data_cluster import DataCluster
    from fairlead.cli.logging_up import secrets_of
    from fairlead.errors import FairleadError
    from fairlead.kafka.connection import library_options
    from fairlead.logs import logs_configured

    if not unrouted:
        return {}
    kafka = settings.kafka
    data = DataCluster(kafka.bootstrap, timeout_ms=_LOOK_UP_MS_MAX, options=library_options(kafka))
    with contextlib.closing(data), logs_configured(secrets=secrets_of(kafka)):
        try:
            there = data.names()
        except FairleadError:
            return {}
    if there is None:
        return {}
    cluster = _cluster_name(source) or kafka.bootstrap
    others = [name for name in there if source.names.suffix(name) is None]
    return {
        topic: f"topic {topic} does not exist on cluster {cluster}"
        + _near(get_close_matches(topic, others, n=_NEAR_MAX))
        for topic in unrouted
        if topic not in there
    }


def untold_topics(routes: "Mapping[str, Route]", settings: "Settings") -> dict[str, str]:
    """Return which of these topics have more queues than their routes tell, each in words.

    None of them where the cluster does not answer: then nobody knows.
    """
    from fairlead.bridges.kafka.untold_queues import look_for_untold
    from fairlead.cli.logging_up import secrets_of
    from fairlead.logs import logs_configured

    with logs_configured(secrets=secrets_of(settings.kafka)):
        return look_for_untold(routes, settings.kafka, timeout_ms=_LOOK_UP_MS_MAX)


def _near(names: Collection[str]) -> str:
    return f"; there is {', '.join(names)}" if names else ""


def _cluster_name(source: "TopicSource") -> str | None:
    """Return what the bridges call the cluster; None: they tell of none, or of several."""
    from fairlead.control.unknown_queues import newest_routes

    rows = source.read("routes", source.partitions_of("routes"))
    names = {
        broker.cluster or broker.broker_name
        for route in newest_routes(rows).values()
        for broker in route.brokers
    }
    return names.pop() if len(names) == 1 else None
