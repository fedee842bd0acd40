"""The retry topic of a group: a topic that its members subscribe to before it is there (ADR 0141).

A bridge makes it when a member has a message to send back, which that member asks for itself, or
when the rule ``retry_topics`` says so. Until then nothing waits for it: the group is not short of
anything, and its route is asked for ever more seldom.
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
"""The value of the rule ``retry_topics`` under which topics are made beforehand."""


def own_retry_topic(group: str) -> str:
    """Return the name of a group's retry topic (MixAll#getRetryTopic)."""
    return RETRY_TOPIC_PREFIX + group


def is_awaited(group: str, topic: str, retry_topics: str) -> bool:
    """Tell whether a topic that a member subscribes to ought to be there.

    Args:
        group: whose member it is.
        topic: what it subscribes to.
        retry_topics: the rule in force.
    """
    return topic != own_retry_topic(group) or retry_topics == ON_SUBSCRIPTION


def has_retry_topic(group: str, routes: Mapping[str, Route]) -> bool:
    """Tell whether the group's retry topic is there, as far as its routes tell."""
    return not is_lacking(routes, own_retry_topic(group))
