"""Which messages a subscription wants, by their tag (RocketMQ's TagFilter)."""

from collections.abc import Iterable, Sequence
from typing import Final

from fairlead_client.errors import SettingsError
from fairlead_client.message import Record
from fairlead_client.model import Subscription
from fairlead_client.session.topic_names import retried_group
from fairlead_client.settings.client_settings import Settings

TAG_HEADER: Final = "TAGS"
"""The header that holds a message's tag, unless the application names another."""

_OF_SQL: Final = frozenset("<>=&()'")
"""No tag of an expression has these, or a blank within: RocketMQ would take it for a tag that no
message has, and whoever wrote it means SQL92. Tags that stand one by one are taken as they are."""


class TagFilter:
    """Tests messages against the expression of their topic.

    Args:
        subscriptions: what the client subscribes to; a topic that is not among them is read whole.
        header: the header that holds the tag; the last of that name counts.

    Raises:
        SettingsError: an expression that is no list of tags.
    """

    def __init__(self, subscriptions: Iterable[Subscription], header: str = TAG_HEADER) -> None:
        self._header = header
        self._tags = {
            subscription.topic: frozenset(tag.encode() for tag in tags)
            for subscription in subscriptions
            if (tags := tags_of(subscription)) is not None
        }

    def wanted(self, topic: str, records: Sequence[Record]) -> Sequence[Record]:
        """Return the records that the subscription wants, in order; of `*` the very list."""
        tags = self._tags.get(topic)
        if tags is None:
            return records
        return [record for record in records if self._tag(record) in tags]

    def _tag(self, record: Record) -> bytes | None:
        found = None
        for name, value in record.headers:
            if name == self._header:
                found = value
        return found


def immediate_filter(
    settings: Settings, topics: Sequence[str | Subscription], tag_header: str
) -> TagFilter:
    """Return the filter of who hands out messages as they come, and never parks one.

    Raises:
        SettingsError: an expression that cannot be evaluated, or a retry topic.
    """
    wanted = settings.subscribing(topics, 0)
    for one in wanted:
        if retried_group(one.topic) is not None:
            raise SettingsError(
                "retry_topic" if settings.retry_topic else "topics",
                f"{one.topic} is handed out at once here, due or not",
                "use a PushConsumer or a PullConsumer, which wait until a message is due",
            )
    return TagFilter(wanted, tag_header)


def tags_of(subscription: Subscription) -> frozenset[str] | None:
    """Return the tags that a subscription wants: `A || B`; None for `*` or nothing: all.

    Raises:
        SettingsError: it has another kind of expression, one of `||` alone, which names no tag, or
            one that is pasted SQL, which no message would match.
    """
    topic, expression = subscription.topic, subscription.expression
    if subscription.expression_type != "tag":
        problem = f"{topic}: {subscription.expression_type} is not evaluated here"
        raise SettingsError("topics", problem, "subscribe by tag")
    if expression.strip() and not expression.replace("||", "").strip():
        raise SettingsError("topics", f"{topic}: {expression!r} names no tag", "A || B, or *")
    tags = subscription.wanted_tags
    pasted = () if subscription.tags else filter(_is_sql, tags)
    for tag in pasted:
        problem = f"{topic}: {tag!r} in the expression {expression!r} is no tag"
        remedy = "tags are joined by ||, as in A || B, and SQL92 is not evaluated here"
        raise SettingsError("topics", problem, remedy)
    return frozenset(tags) or None


def _is_sql(tag: str) -> bool:
    return not _OF_SQL.isdisjoint(tag) or len(tag.split()) > 1
