"""Names a missing right on the brokers: the operation, the resource, and how to grant it."""

from collections.abc import Collection, Iterable

from kafka import KafkaConsumer
from kafka.errors import TopicAuthorizationFailedError

from fairlead_client.errors import NotAllowedError
from fairlead_client.transport.connection import Cluster
from fairlead_client.transport.principal import principal_of

DENIED = "TopicAuthorizationFailedError"


def missing_right(
    settings: Cluster,
    operation: str,
    resource: str,
    error: BaseException | str = DENIED,
    *,
    who: str = "clients",
) -> NotAllowedError:
    """Return the error of a missing right.

    Args:
        settings: the connection's settings, which name the user.
        operation: the missing operation, as kafka-acls.sh calls it.
        resource: `topic NAME` or `group NAME`, with commas between several names.
        error: the broker's error.
        who: who needs the right, in the plural.
    """
    principal = principal_of(settings.kafka)
    return NotAllowedError(operation, resource, str(error), who=who, principal=principal)


def hidden_topics(consumer: KafkaConsumer) -> frozenset[str]:
    """Return the topics of the consumer's last question that this user may not see.

    kafka-python keeps them until its next question, and treats them as missing.
    """
    # The library has no public way; a test covers each missing right with this version.
    return frozenset(consumer._client.cluster.unauthorized_topics)  # noqa: SLF001 - see above


def refresh_metadata(consumer: KafkaConsumer) -> None:
    """Ask for the hidden topics again, because somebody may have granted the right."""
    consumer._client.cluster.request_update()  # noqa: SLF001 - by itself it takes minutes


def denied_topics(error: TopicAuthorizationFailedError) -> frozenset[str]:
    """Return the topics that an error of kafka-python is about."""
    topics = error.args[0] if error.args else ()
    return frozenset({topics} if isinstance(topics, str) else map(str, topics))


def unreadable_topics_error(
    settings: Cluster, denied: Collection[str], topics: Iterable[str]
) -> NotAllowedError | None:
    """Return the error for those of the topics that this user may not read; None: none of them.

    Args:
        settings: the connection's settings, which name the user.
        denied: the topics that the user may not read or see.
        topics: the topics in question.
    """
    lacking = sorted(topic for topic in topics if topic in denied)
    return missing_right(settings, "Read", f"topic {', '.join(lacking)}") if lacking else None
