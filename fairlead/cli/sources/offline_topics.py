"""What a group without members subscribed to, by its records or else by its commits."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fairlead.cli.sources.data_cluster import data_cluster

if TYPE_CHECKING:
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.last_topics import LastTopics
    from fairlead.observed.live_group import LiveGroup
    from fairlead.settings import Settings

__all__ = ["offline_topics", "offline_words"]


def offline_topics(
    live: "LiveGroup", source: "TopicSource", settings: "Settings", *, recorded: bool
) -> "LastTopics | None":
    """Return what a group without members subscribed to; None: nobody has ever known it.

    ``recorded``: the group is of a recording, so no cluster has its commits.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
    """
    from fairlead.observed.last_topics import LastTopics, last_topics

    last = last_topics(live, source)
    if recorded or (last is not None and last.topics):
        return last
    committed = _committed_topics(live.core.state.group, settings)
    return LastTopics(committed, "what it has committed") if committed else last


def offline_words(group: str, last: "LastTopics | None") -> Iterator[str]:
    """Yield the notes to the plan of a group without members."""
    empty = f"{group} has no members: the plan starts from none"
    if last is None or not last.topics:
        yield f"{empty}, and its topics are unknown (--topic)"
    else:
        yield (
            f"{empty}; clients that join subscribe to {', '.join(last.topics)}, known from "
            f"{last.told_by} (--topic for others)"
        )


def _committed_topics(group: str, settings: "Settings") -> tuple[str, ...]:
    """Return the topics with commits of a group; empty if the cluster does not answer."""
    with data_cluster(settings.kafka) as data:
        return tuple(data.committed_topics(group) or ())
