"""RocketMQ's names of a group's own topics, and Kafka's names for them (ADR 0141).

Fairlead's records name the topics `%RETRY%orders` and `%DLQ%orders`. Kafka allows neither `%` nor
`|`, so it calls them `_-RETRY_-orders` and `_-DLQ_-orders`: `_` and a second character stand for
each character that Kafka refuses, or that would make two names one. A dot is one of them, because
Kafka's metrics confuse `a.b` and `a_b`. The longest name of a group of 120 characters has 249
characters, which is Kafka's limit.

All other topics have the same name on both. An ordinary topic must not have Kafka's name of a
retry topic; the client refuses it.
"""

import re
from typing import Final

from fairlead_client.errors import FairleadClientError

RETRY_PREFIX: Final = "%RETRY%"
"""MixAll.RETRY_GROUP_TOPIC_PREFIX."""
DEAD_LETTER_PREFIX: Final = "%DLQ%"
"""MixAll.DLQ_GROUP_TOPIC_PREFIX."""
PREFIXES: Final = (RETRY_PREFIX, DEAD_LETTER_PREFIX)
GROUP: Final = re.compile(r"[A-Za-z0-9_%|.\-]{1,120}")
"""The form of a group's name."""
RESERVED: Final = frozenset(
    {
        ".", "..", "__cluster_metadata", "__consumer_offsets", "__share_group_state",
        "__transaction_state", "OFFSET_MOVED_EVENT", "RMQ_SYS_TRANS_HALF_TOPIC",
        "RMQ_SYS_TRANS_OP_HALF_TOPIC", "SCHEDULE_TOPIC_XXXX", "SELF_TEST_TOPIC", "TBW102",
        "TRANS_CHECK_MAX_TIME_TOPIC",
    }
)  # fmt: skip
"""Topics reserved for the brokers; an engine refuses a heartbeat that names one."""
ESCAPES: Final = {"_": "__", "%": "_-", ".": "_d", "|": "_b"}
ESCAPED: Final = {escape: character for character, escape in ESCAPES.items()}


class TopicNameError(FairleadClientError, ValueError):
    """A topic has Kafka's name of another topic.

    Attributes:
        topic: the refused name.
        meant: the topic that has this name on Kafka.
    """

    def __init__(self, topic: str, meant: str) -> None:
        super().__init__(f"{topic!r} is Kafka's name of {meant!r}; use {meant!r}")
        self.topic = topic
        self.meant = meant


def retry_topic(group: str) -> str:
    """Return the group's retry topic, where failed messages come back (MixAll#getRetryTopic)."""
    return RETRY_PREFIX + group


def dead_letter_topic(group: str) -> str:
    """Return the group's topic of messages that failed too often (MixAll#getDLQTopic)."""
    return DEAD_LETTER_PREFIX + group


def owner_of(topic: str) -> str | None:
    """Return the group whose retry or dead-letter topic this is; None if it is neither."""
    groups = (_group_of(topic, prefix) for prefix in PREFIXES)
    return next((group for group in groups if group is not None), None)


def is_own_topic(topic: str) -> bool:
    """Whether this is the retry or dead-letter topic of a group."""
    return owner_of(topic) is not None


def retried_group(topic: str) -> str | None:
    """Return the group whose retry topic this is; None if it is no retry topic."""
    return _group_of(topic, RETRY_PREFIX)


def kafka_topic(topic: str) -> str:
    """Return Kafka's name of a topic.

    Any other name with `%` or `|` stays as it is; Kafka reports that it has no such topic.

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
    """Return the topic that has this name on Kafka; the reverse of `kafka_topic`."""
    parts = re.findall(r"_.|[^_]", kafka_name)
    topic = "".join(ESCAPED.get(part, part) for part in parts)
    if is_own_topic(topic):
        # Any name that `kafka_topic` would not write belongs to another topic.
        again = "".join(ESCAPES.get(character, character) for character in topic)
        return topic if again == kafka_name else kafka_name
    return kafka_name


def _group_of(topic: str, prefix: str) -> str | None:
    group = topic.removeprefix(prefix)
    return group if len(group) < len(topic) and GROUP.fullmatch(group) else None
