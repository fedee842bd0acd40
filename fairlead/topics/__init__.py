"""Fairlead's own topics: how each must be set, making them, and finding what differs."""

from fairlead.topics.acls import RIGHTS, Role, acl_command
from fairlead.topics.creation import (
    BROKERS_CHOICE,
    READY_WAIT_MS,
    TopicDifference,
    TopicReport,
    admin_of,
    configs_of,
    create_topics,
    differences_of,
    inspect_topics,
)
from fairlead.topics.missing_rights import cluster_error, lack_words, lacking, require_rights
from fairlead.topics.reachability import connection_error, require_reachable
from fairlead.topics.reading_position import UNKNOWN_POSITION, position_of
from fairlead.topics.specification import MESSAGE_BYTES_MAX, TopicSpec, topic_specs
from fairlead.topics.topic_consumer import TopicConsumer
from fairlead.topics.unreadable_batch import BATCHES_PASSED_OVER, UnreadableBatch

__all__ = [
    "BATCHES_PASSED_OVER",
    "BROKERS_CHOICE",
    "MESSAGE_BYTES_MAX",
    "READY_WAIT_MS",
    "RIGHTS",
    "UNKNOWN_POSITION",
    "Role",
    "TopicConsumer",
    "TopicDifference",
    "TopicReport",
    "TopicSpec",
    "UnreadableBatch",
    "acl_command",
    "admin_of",
    "cluster_error",
    "configs_of",
    "connection_error",
    "create_topics",
    "differences_of",
    "inspect_topics",
    "lack_words",
    "lacking",
    "position_of",
    "require_reachable",
    "require_rights",
    "topic_specs",
]
