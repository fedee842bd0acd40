"""Where RocketMQ starts to pull a queue: from what is stored, or what ConsumeFromWhere says.

Source: computePullFromWhere of RebalancePushImpl and RebalanceLitePullImpl, without their requests
to brokers: the decision says whether it needs the greatest offset or a search by time. The lines
4.9 and 5 decide alike. They differ in an answer that is no offset: a push consumer of 5 treats a
negative one as a failure.

ADR 0148 gives the reasons.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final, Literal

from fairlead.core.topics.retry_topic import RETRY_TOPIC_PREFIX

__all__ = [
    "CONSUME_FROM_WHERE",
    "NOT_STORED",
    "Consumer",
    "Look",
    "pull_from_where",
]

Consumer = Literal["push", "litepull"]
"""DefaultMQPushConsumer, or DefaultLitePullConsumer."""

NOT_STORED: Final = -1
"""What OffsetStore#readOffset returns for a queue without a stored offset; less is a failure."""


class Look(Enum):
    """What to ask a broker for."""

    MAX = "max"
    """The next offset to be written: existing messages are skipped (MQAdminImpl#maxOffset)."""
    SEARCH = "search"
    """The offset of the consume timestamp (MQAdminImpl#searchOffset)."""


_NORMAL_AND_RETRY: Final[Mapping[str, tuple[int | Look, int | Look]]] = {
    "CONSUME_FROM_LAST_OFFSET": (Look.MAX, 0),
    "CONSUME_FROM_FIRST_OFFSET": (0, 0),
    # Not 0, as one would expect of a topic of returned messages.
    "CONSUME_FROM_TIMESTAMP": (Look.SEARCH, Look.MAX),
}
_LAST: Final = "CONSUME_FROM_LAST_OFFSET"
_DEPRECATED: Final = frozenset(
    (
        "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
        "CONSUME_FROM_MIN_OFFSET",
        "CONSUME_FROM_MAX_OFFSET",
    )
)
CONSUME_FROM_WHERE: Final = frozenset((*_NORMAL_AND_RETRY, *_DEPRECATED))
"""Every name of the enumeration."""


def pull_from_where(
    consumer: Consumer, consume_from: str, stored: int, topic: str
) -> int | Look | None:
    """Return the offset, what to ask a broker for, or None: unknown, do not add the queue now.

    Args:
        consumer: a push consumer treats the deprecated names as LAST_OFFSET; a lite-pull consumer
            knows no start under them, not even a stored one.
        consume_from: a name of CONSUME_FROM_WHERE.
        stored: what the offset store returned: an offset, NOT_STORED, or less if it failed.
        topic: a retry topic without a stored offset follows rules of its own.

    Raises:
        KeyError: there is no such name.

    >>> pull_from_where("push", "CONSUME_FROM_TIMESTAMP", -1, "orders")
    <Look.SEARCH: 'search'>
    >>> pull_from_where("push", "CONSUME_FROM_FIRST_OFFSET", -2, "orders") is None
    True
    """
    if consume_from in _DEPRECATED:
        if consumer == "litepull":
            return None
        consume_from = _LAST
    normal, retry = _NORMAL_AND_RETRY[consume_from]
    if stored >= 0:
        return stored
    if stored < NOT_STORED:
        return None
    return retry if topic.startswith(RETRY_TOPIC_PREFIX) else normal
