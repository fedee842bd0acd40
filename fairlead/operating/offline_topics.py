"""What a group without members subscribed to, by its records or else by its commits."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.errors import Way, Words
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.last_topics import LastTopics, last_topics
from fairlead.observed.live_group import LiveGroup

__all__ = ["OpenData", "offline_topics", "offline_words"]

OpenData = Callable[[], AbstractContextManager[DataCluster]]
"""Connects to the cluster with the messages."""


def offline_topics(
    live: LiveGroup, source: TopicSource, open_data: OpenData | None
) -> LastTopics | None:
    """Return what a group without members subscribed to; None: nobody has ever known it.

    ``open_data`` None: the group is of a recording, so no cluster has its commits.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
    """
    last = last_topics(live, source)
    if open_data is None or (last is not None and last.topics):
        return last
    with open_data() as data:
        # Nothing, if the cluster does not answer.
        committed = tuple(data.committed_topics(live.core.state.group) or ())
    return LastTopics(committed, "what it has committed") if committed else last


def offline_words(group: str, last: LastTopics | None) -> Iterator[Words]:
    """Yield the notes to the plan of a group without members."""
    empty = f"{group} has no members: the plan starts from none"
    if last is None or not last.topics:
        yield f"{empty}, and its topics are unknown", Way(" (--topic)", " (topics of a join)")
    else:
        known = f"{empty}; clients that join subscribe to {', '.join(last.topics)}, known from "
        yield f"{known}{last.told_by}", Way(" (--topic for others)", " (topics of a join: others)")
