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
from fairlead.topics.specification import MESSAGE_BYTES_MAX, TopicSpec, topic_specs
from fairlead.topics.topic_consumer import TopicConsumer
from fairlead.topics.unreadable_batch import BATCHES_PASSED_OVER, UnreadableBatch

__all__ = [
    "BATCHES_PASSED_OVER",
    "BROKERS_CHOICE",
    "MESSAGE_BYTES_MAX",
    "TopicConsumer",
    "TopicDifference",
    "TopicReport",
    "TopicSpec",
    "UnreadableBatch",
    "configs_of",
    "create_topics",
    "differences_of",
    "inspect_topics",
    "require_reachable",
    "topic_specs",
]
