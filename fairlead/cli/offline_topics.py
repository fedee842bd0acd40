"""What a group without members subscribed to, for a plan: from its records, else of its commits."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.last_topics import LastTopics
    from fairlead.observed.live_group import LiveGroup
    from fairlead.settings import Settings

__all__ = ["offline_topics", "offline_words"]

_LOOK_UP_MS_MAX: Final = 10_000


def offline_topics(
    live: "LiveGroup", source: "TopicSource", settings: "Settings", *, recorded: bool
) -> "LastTopics | None":
    """Return what a group without members subscribed to; None: nothing was ever heard of it.

    ``recorded``: its topics are those of a recording, so no cluster is asked for its commits.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
    """
    from fairlead.observed.last_topics import LastTopics, last_topics

    found = last_topics(live, source)
    if recorded or (found is not None and found.topics):
        return found
    committed = _committed_topics(live.core.state.group, settings)
    return LastTopics(committed, "what it has committed") if committed else found


def offline_words(group: str, last: "LastTopics | None") -> Iterator[str]:
    """Yield what a reader of the plan of a group without members has to know."""
    empty = f"nobody is in {group}: it is planned from no members"
    if last is None or not last.topics:
        yield f"{empty}, and nothing tells what it subscribed to (--topic)"
    else:
        yield (
            f"{empty}; who joins subscribes to {', '.join(last.topics)}, known from {last.told_by} "
            "(--topic for others)"
        )


def _committed_topics(group: str, settings: "Settings") -> tuple[str, ...]:
    """Return the topics in which the cluster has commits of a group; none if it does not answer."""
    from fairlead.bridges.kafka.data_cluster import DataCluster
    from fairlead.cli.logging_up import secrets_of
    from fairlead.kafka.connection import library_options
    from fairlead.logs import logs_configured

    kafka = settings.kafka
    data = DataCluster(kafka.bootstrap, timeout_ms=_LOOK_UP_MS_MAX, options=library_options(kafka))
    with contextlib.closing(data), logs_configured(secrets=secrets_of(kafka)):
        return tuple(data.committed_topics(group) or ())
