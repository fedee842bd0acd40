"""RocketMQ's names of a group's own topics, and the names that Kafka has for them.

The rule is that of ``fairlead_client.session.topic_names``, which says why; a test holds the two
together. The bridge has its own because it is installed without the client.
"""

import re
from typing import Final

from fairlead.wire.texts import GROUP

__all__ = [
    "TopicNameError",
    "dead_letter_topic",
    "is_own_topic",
    "kafka_topic",
    "named_topic",
    "owner_of",
    "retried_group",
    "retry_topic",
]

RETRY_PREFIX: Final = "%RETRY%"
"""MixAll.RETRY_GROUP_TOPIC_PREFIX."""
DEAD_LETTER_PREFIX: Final = "%DLQ%"
"""MixAll.DLQ_GROUP_TOPIC_PREFIX."""
PREFIXES: Final = (RETRY_PREFIX, DEAD_LETTER_PREFIX)
ESCAPES: Final = {"_": "__", "%": "_-", ".": "_d", "|": "_b"}
ESCAPED: Final = {escape: character for character, escape in ESCAPES.items()}


class TopicNameError(ValueError):
    """A topic is called what another one is called on Kafka.

    Attributes:
        topic: the refused name.
        meant: the topic that Kafka has under this name.
    """

    def __init__(self, topic: str, meant: str) -> None:
        super().__init__(f"{topic!r} is what {meant!r} is called on Kafka; use {meant!r}")
        self.topic = topic
        self.meant = meant


def dead_letter_topic(group: str) -> str:
    """Return where messages end that a group failed to consume too often (MixAll#getDLQTopic)."""
    return DEAD_LETTER_PREFIX + group


def retry_topic(group: str) -> str:
    """Return where messages wait that a group failed to consume (MixAll#getRetryTopic)."""
    return RETRY_PREFIX + group


def is_own_topic(topic: str) -> bool:
    """Tell whether this is the retry or dead-letter topic of a group."""
    return owner_of(topic) is not None


def owner_of(topic: str) -> str | None:
    """Return the group whose retry or dead-letter topic this is; None if it is neither."""
    groups = (_group_of(topic, prefix) for prefix in PREFIXES)
    return next((group for group in groups if group is not None), None)


def retried_group(topic: str) -> str | None:
    """Return the group whose retry topic this is; None if it is none."""
    return _group_of(topic, RETRY_PREFIX)


def kafka_topic(topic: str) -> str:
    """Return what Kafka calls a topic.

    A name with ``%`` or ``|`` that is no retry or dead-letter topic is returned as it is: Kafka has
    no such topic, and says so.

    Raises:
        TopicNameError: Kafka has another topic under this name.
    """
    if is_own_topic(topic):
        return "".join(ESCAPES.get(character, character) for character in topic)
    meant = named_topic(topic)
    if meant != topic:
        raise TopicNameError(topic, meant)
    return topic


def named_topic(kafka_name: str) -> str:
    """Return the topic that Kafka calls so; the reverse of ``kafka_topic``."""
    parts = re.findall(r"_.|[^_]", kafka_name)
    topic = "".join(ESCAPED.get(part, part) for part in parts)
    if is_own_topic(topic):
        # Only what ``kafka_topic`` would write is read back: other names are those of other topics.
        again = "".join(ESCAPES.get(character, character) for character in topic)
        return topic if again == kafka_name else kafka_name
    return kafka_name


def _group_of(topic: str, prefix: str) -> str | None:
    group = topic.removeprefix(prefix)
    return group if len(group) < len(topic) and GROUP.allows(group) else None
