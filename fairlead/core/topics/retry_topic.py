"""The retry topic of a group: a topic that its members subscribe to before it exists (ADR 0141).

A bridge creates it when a member asks for it, to send a message back, or when the rule
``retry_topics`` says so. Until then nothing waits for it, and the group requests its route ever
more seldom.
"""

from collections.abc import Mapping
from typing import Final

from fairlead.core.model import Route
from fairlead.core.topics.routes import is_lacking

__all__ = [
    "ON_SUBSCRIPTION",
    "RETRY_TOPIC_PREFIX",
    "has_retry_topic",
    "is_awaited",
    "own_retry_topic",
]

RETRY_TOPIC_PREFIX: Final = "%RETRY%"
"""MixAll.RETRY_GROUP_TOPIC_PREFIX."""

ON_SUBSCRIPTION: Final = "on_subscription"
"""The value of the rule ``retry_topics`` under which bridges create topics beforehand."""


def own_retry_topic(group: str) -> str:
    """Return the name of a group's retry topic (MixAll#getRetryTopic)."""
    return RETRY_TOPIC_PREFIX + group


def is_awaited(group: str, topic: str, retry_topics: str) -> bool:
    """Tell whether a topic that a member subscribes to ought to exist.

    Args:
        group: the member's group.
        topic: the subscribed topic.
        retry_topics: the rule in force.
    """
    return topic != own_retry_topic(group) or retry_topics == ON_SUBSCRIPTION


def has_retry_topic(group: str, routes: Mapping[str, Route]) -> bool:
    """Tell whether the group's retry topic exists, by its routes."""
    return not is_lacking(routes, own_retry_topic(group))
