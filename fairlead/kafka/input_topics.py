"""The topics that the query reads, and those of them that concern every shard."""

from typing import Final

from fairlead.wire.topics import TopicNames

SHARDED_TOPICS: Final = ("heartbeats", "releases", "control")
"""Suffixes of topics whose partition is the shard."""

BROADCAST_TOPICS: Final = ("routes", "offsets")
"""Suffixes of topics whose records go to every shard."""


def input_topics(names: TopicNames) -> tuple[str, ...]:
    """Return the full names of the topics that the query reads."""
    return tuple(names.name(suffix) for suffix in (*SHARDED_TOPICS, *BROADCAST_TOPICS))
