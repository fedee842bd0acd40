"""What a group without members subscribed to, for a plan: from its records, else of its commits."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fairlead.cli.sources.data_cluster import data_cluster

if TYPE_CHECKING:
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.live_group import LiveGroup
    from fairlead.observed.offline import LastTopics
    from fairlead.settings import Settings

__all__ = ["offline_topics", "offline_words"]


def offline_topics(
    live: "LiveGroup", source: "TopicSource", settings: "Settings", *, recorded: bool
) -> "LastTopics | None":
    """Return what a group without members subscribed to; None: nothing was ever heard of it.

    ``recorded``: its topics are those of a recording, so no cluster is asked for its commits.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
    """
    from fairlead.observed.offline import LastTopics, last_topics

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
    with data_cluster(settings.kafka) as data:
        return tuple(data.committed_topics(group) or ())
