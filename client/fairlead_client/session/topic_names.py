"""RocketMQ's names of a group's own topics, and the names that Kafka has for them (ADR 0141).

`%RETRY%orders` and `%DLQ%orders` are the topics in every record of Fairlead. Kafka allows neither
`%` nor `|`, so there the same topics are called `_-RETRY_-orders` and `_-DLQ_-orders`: each
character that Kafka does not allow, and each that would make two names one, stands as `_` and one
more. A dot is among them, because to Kafka's metrics `a.b` and `a_b` are the same topic and it
refuses the second. The worst name of a group of 120 characters has 249, as many as Kafka allows.

All other topics have one name in both worlds. An ordinary topic may not be called what a retry
topic is called on Kafka: that one is refused instead of read as another.
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
"""What a group may be called."""
RESERVED: Final = frozenset(
    {
        ".", "..", "__cluster_metadata", "__consumer_offsets", "__share_group_state",
        "__transaction_state", "OFFSET_MOVED_EVENT", "RMQ_SYS_TRANS_HALF_TOPIC",
        "RMQ_SYS_TRANS_OP_HALF_TOPIC", "SCHEDULE_TOPIC_XXXX", "SELF_TEST_TOPIC", "TBW102",
        "TRANS_CHECK_MAX_TIME_TOPIC",
    }
)  # fmt: skip
"""Topics that brokers keep for themselves: an engine refuses a heartbeat that names one."""
ESCAPES: Final = {"_": "__", "%": "_-", ".": "_d", "|": "_b"}
ESCAPED: Final = {escape: character for character, escape in ESCAPES.items()}


class TopicNameError(FairleadClientError, ValueError):
    """A topic is called what another one is called on Kafka.

    Attributes:
        topic: the refused name.
        meant: the topic that Kafka has under this name.
    """

    def __init__(self, topic: str, meant: str) -> None:
        super().__init__(f"{topic!r} is what {meant!r} is called on Kafka; use {meant!r}")
        self.topic = topic
        self.meant = meant


def retry_topic(group: str) -> str:
    """Return where messages that a group failed to consume come back (MixAll#getRetryTopic)."""
    return RETRY_PREFIX + group


def dead_letter_topic(group: str) -> str:
    """Return where messages end that a group failed to consume too often (MixAll#getDLQTopic)."""
    return DEAD_LETTER_PREFIX + group


def owner_of(topic: str) -> str | None:
    """Return the group whose retry or dead-letter topic this is; None if it is neither."""
    groups = (_group_of(topic, prefix) for prefix in PREFIXES)
    return next((group for group in groups if group is not None), None)


def is_own_topic(topic: str) -> bool:
    """Whether this is the retry or dead-letter topic of a group."""
    return owner_of(topic) is not None


def retried_group(topic: str) -> str | None:
    """Return the group whose retry topic this is; None if it is none."""
    return _group_of(topic, RETRY_PREFIX)


def kafka_topic(topic: str) -> str:
    """Return what Kafka calls a topic.

    A name with `%` or `|` that is no retry or dead-letter topic is returned as it is: Kafka has no
    such topic, and says so.

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
    """Return the topic that Kafka calls so; the reverse of `kafka_topic`."""
    parts = re.findall(r"_.|[^_]", kafka_name)
    topic = "".join(ESCAPED.get(part, part) for part in parts)
    if is_own_topic(topic):
        # Only what `kafka_topic` would write is read back: other names are those of other topics.
        again = "".join(ESCAPES.get(character, character) for character in topic)
        return topic if again == kafka_name else kafka_name
    return kafka_name


def _group_of(topic: str, prefix: str) -> str | None:
    group = topic.removeprefix(prefix)
    return group if len(group) < len(topic) and GROUP.fullmatch(group) else None
