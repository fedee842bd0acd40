"""Fairlead's own topics: how each must be set, making them, and finding what differs."""

from fairlead.topics.creation import (
    BROKERS_CHOICE,
    TopicDifference,
    TopicReport,
    configs_of,
    create_topics,
    differences_of,
    inspect_topics,
)
from fairlead.topics.reachability import require_reachable
from fairlead.topics.specification import TopicSpec, topic_specs

__all__ = [
    "BROKERS_CHOICE",
    "TopicDifference",
    "TopicReport",
    "TopicSpec",
    "configs_of",
    "create_topics",
    "differences_of",
    "inspect_topics",
    "require_reachable",
    "topic_specs",
]
