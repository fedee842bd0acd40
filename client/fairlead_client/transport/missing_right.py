"""Names a right that the brokers have not given: what is needed, on what, and how it is given."""

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
    """Return the error of a right that this user has not.

    Args:
        settings: as whom the brokers know this process.
        operation: what is not allowed, as kafka-acls.sh calls it.
        resource: on what: `topic NAME` or `group NAME`; several names are divided by commas.
        error: what the broker said.
        who: who needs it.
    """
    principal = principal_of(settings.kafka)
    return NotAllowedError(operation, resource, str(error), who=who, principal=principal)


def hidden_topics(consumer: KafkaConsumer) -> frozenset[str]:
    """Return the topics that this user may not see, of those that the consumer last asked for.

    kafka-python keeps them until its next question, then answers as if they were not there.
    """
    # They stand nowhere else; a test reads without each right with this version.
    return frozenset(consumer._client.cluster.unauthorized_topics)  # noqa: SLF001 - see above


def refresh_metadata(consumer: KafkaConsumer) -> None:
    """Have topics looked at that could not be seen: the right may have been given since."""
    consumer._client.cluster.request_update()  # noqa: SLF001 - it looks by itself after minutes


def denied_topics(error: TopicAuthorizationFailedError) -> frozenset[str]:
    """Return the topics that an error of the library is about."""
    told = error.args[0] if error.args else ()
    return frozenset({told} if isinstance(told, str) else map(str, told))


def unreadable_topics_error(
    settings: Cluster, denied: Collection[str], topics: Iterable[str]
) -> NotAllowedError | None:
    """Return the error of topics that this user may not read; None: there are none.

    Args:
        settings: as whom the brokers know this process.
        denied: the topics that it may not read, or not see.
        topics: those that are asked about.
    """
    found = sorted(topic for topic in topics if topic in denied)
    return missing_right(settings, "Read", f"topic {', '.join(found)}") if found else None
