"""Filters messages by their tags (RocketMQ's TagFilter)."""

from collections.abc import Iterable, Sequence
from typing import Final

from fairlead_client.errors import SettingsError
from fairlead_client.message import Record
from fairlead_client.model import Subscription
from fairlead_client.session.topic_names import retried_group
from fairlead_client.settings.client_settings import Settings

TAG_HEADER: Final = "TAGS"
"""The default header for a message's tag."""

_OF_SQL: Final = frozenset("<>=&()'")
"""A tag of an expression must not have these characters or a blank: it is probably SQL92, and
RocketMQ would treat it as a tag that no message has. Single `tags` are not checked."""


class TagFilter:
    """Tests messages against the expression of their topic.

    Args:
        subscriptions: the client's subscriptions; all messages of other topics are wanted.
        header: the header that holds the tag; the last one with this name counts.

    Raises:
        SettingsError: an expression is no list of tags.
    """

    def __init__(self, subscriptions: Iterable[Subscription], header: str = TAG_HEADER) -> None:
        self._header = header
        self._tags = {
            subscription.topic: frozenset(tag.encode() for tag in tags)
            for subscription in subscriptions
            if (tags := tags_of(subscription)) is not None
        }

    def wanted(self, topic: str, records: Sequence[Record]) -> Sequence[Record]:
        """Return the records that the subscription wants, in order; for `*` the same list."""
        tags = self._tags.get(topic)
        if tags is None:
            return records
        return [record for record in records if self._tag(record) in tags]

    def _tag(self, record: Record) -> bytes | None:
        tag = None
        for name, value in record.headers:
            if name == self._header:
                tag = value
        return tag


def immediate_filter(
    settings: Settings, topics: Sequence[str | Subscription], tag_header: str
) -> TagFilter:
    """Return the filter of a consumer that hands out messages at once, whether due or not.

    Raises:
        SettingsError: the client cannot evaluate an expression, or a topic is a retry topic of
            Kafka.
    """
    wanted = settings.subscribing(topics, 0)
    if settings.reads_rocketmq:  # Its brokers hold messages back until they are due.
        return TagFilter(wanted, tag_header)
    for subscription in wanted:
        if retried_group(subscription.topic) is not None:
            raise SettingsError(
                "retry_topic" if settings.retry_topic else "topics",
                f"this consumer would hand out {subscription.topic} before its messages are due",
                "use a PushConsumer or a PullConsumer, which wait until a message is due",
            )
    return TagFilter(wanted, tag_header)


def tags_of(subscription: Subscription) -> frozenset[str] | None:
    """Return the tags that a subscription wants, such as `A || B`; None: all messages.

    Raises:
        SettingsError: the expression is of another type, names no tag (`||`), or looks like SQL.
    """
    topic, expression = subscription.topic, subscription.expression
    if subscription.expression_type != "tag":
        problem = f"{topic}: the client does not evaluate {subscription.expression_type}"
        raise SettingsError("topics", problem, "subscribe by tag")
    if expression.strip() and not expression.replace("||", "").strip():
        raise SettingsError("topics", f"{topic}: {expression!r} names no tag", "give A || B, or *")
    tags = subscription.wanted_tags
    pasted = () if subscription.tags else filter(_is_sql, tags)
    for tag in pasted:
        problem = f"{topic}: {tag!r} in the expression {expression!r} is no tag"
        remedy = "join tags by ||, as in A || B; the client does not evaluate SQL92"
        raise SettingsError("topics", problem, remedy)
    return frozenset(tags) or None


def _is_sql(tag: str) -> bool:
    return not _OF_SQL.isdisjoint(tag) or len(tag.split()) > 1
