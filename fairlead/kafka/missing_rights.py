"""Finds the permissions that a user lacks for its role, by asking the brokers."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from fairlead_client.transport.principal import principal_of
from kafka import KafkaAdminClient
from kafka.errors import KafkaError, TopicAuthorizationFailedError

from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.acls import READING_TOO, RIGHTS, Operations, Role, acl_command
from fairlead.kafka.reachability import connection_error, require_reachable
from fairlead.wire.topics import TopicNames

__all__ = ["cluster_error", "lack_words", "lacking", "require_rights"]

_TOLD_AS: Final = {
    "Alter": "ALTER",
    "AlterConfigs": "ALTER_CONFIGS",
    "Create": "CREATE",
    "Delete": "DELETE",
    "Describe": "DESCRIBE",
    "DescribeConfigs": "DESCRIBE_CONFIGS",
    "Read": "READ",
    "Write": "WRITE",
}
"""kafka-acls.sh's name of an operation -> the brokers' name."""

_Lacks = dict[Operations, list[str]]


class _Needed(NamedTuple):
    """A topic's full name, and the operations needed on it."""

    topic: str
    operations: Operations


def lacking(
    needed: Iterable[tuple[str, Operations]], described: Iterable[Mapping[str, Any]]
) -> dict[Operations, list[str]]:
    """Return the missing operations: each set of operations with the topics that lack it.

    Args:
        needed: full name of each topic, with the operations.
        described: the answer of kafka-python's ``describe_topics``. Topics that do not exist, or
            whose allowed operations the brokers do not report, are ignored.
    """
    by_name = {topic["name"]: topic for topic in described}
    lacks: _Lacks = {}
    for name, operations in needed:
        allowed = _allowed(by_name.get(name, {}))
        if allowed is None:
            continue
        short = tuple(each for each in operations if _TOLD_AS[each] not in allowed)
        if short:
            lacks.setdefault(short, []).append(name)
    return lacks


def lack_words(
    options: Mapping[str, Any],
    operation: str,
    topics: Sequence[str] = (),
    groups: Sequence[str] = (),
) -> str:
    """Describe a missing permission of a request: who, what, and the remedy.

    Args:
        options: keyword arguments of the kafka-python client.
        operation: the missing operation, as named by kafka-acls.sh.
        topics: the topics, by their names in Kafka.
        groups: the groups.
    """
    on = [*(f"topic {each}" for each in topics), *(f"group {each}" for each in groups)]
    command = acl_command(options, [operation], topics, groups)
    return f"{principal_of(options)} lacks {operation} on {', '.join(on)}: {command}"


def require_rights(options: Mapping[str, Any], prefix: str, role: Role) -> None:
    """Check that this user has its role's permissions on each of Fairlead's topics.

    Brokers before Kafka 2.3 do not report permissions; then the check passes.

    Args:
        options: keyword arguments of a kafka-python client.
        prefix: the prefix of Fairlead's topics.
        role: the user's role.

    Raises:
        EnvironmentMissingError: a permission is missing; the message names role, operations and
            topics.
    """
    needed = _needed(prefix, role)
    require_reachable(options)
    try:
        lacks = _lacking_of(options, needed)
    except KafkaError as error:
        raise cluster_error(
            options, f"the cluster does not say what {role} may do", error
        ) from error
    if lacks:
        raise _not_allowed(options, role, lacks)


def cluster_error(
    options: Mapping[str, Any],
    says: str,
    error: BaseException | str,
    *,
    prefix: str = "",
    role: Role | None = None,
) -> EnvironmentMissingError:
    """Return the error of a failed request, with its cause.

    The cause is a refused connection, or a missing permission, or else Kafka's own error.

    Args:
        options: keyword arguments of the kafka-python client that failed.
        says: what failed, for a failure of unknown cause.
        error: the error of Kafka's library.
        prefix: the prefix of Fairlead's topics, if the request was about them.
        role: the role that made the request; None: it needed no permissions on Fairlead's topics.
    """
    named = connection_error(options)
    if named is not None:
        return named
    if role is not None:
        with contextlib.suppress(KafkaError):
            lacks = _lacking_of(options, _needed(prefix, role))
            if lacks:
                return _not_allowed(options, role, lacks)
    return EnvironmentMissingError(
        f"kafka.bootstrap: {says} ({error}).",
        remedy="The brokers accept the connection and the login. Check their logs, and the "
        f"permissions of {principal_of(options)}: docs/doctor.md lists them.",
    )


def _needed(prefix: str, role: Role) -> list[_Needed]:
    names = TopicNames(prefix)
    roles = (Role.READER, role) if role in READING_TOO else (role,)
    return [
        _Needed(names.name(suffix), operations)
        for each in roles
        for suffix, operations in RIGHTS[each].topics.items()
    ]


def _lacking_of(options: Mapping[str, Any], needed: list[_Needed]) -> _Lacks:
    with contextlib.closing(KafkaAdminClient(**options)) as admin:
        return lacking(needed, admin.describe_topics(sorted({each.topic for each in needed})))


def _allowed(topic: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the names of the allowed operations; None if the brokers do not report them."""
    if topic.get("error_code") == TopicAuthorizationFailedError.errno:
        return frozenset()
    # A user that sees the topic may describe it, so an empty answer means no answer.
    return frozenset(topic.get("authorized_operations") or ()) or None


def _not_allowed(options: Mapping[str, Any], role: Role, lacks: _Lacks) -> EnvironmentMissingError:
    rights = [
        f"{' and '.join(operations)} on {', '.join(names)}" for operations, names in lacks.items()
    ]
    commands = [acl_command(options, operations, names) for operations, names in lacks.items()]
    return EnvironmentMissingError(
        f"kafka.security: as {principal_of(options)}, {role.partition(',')[0]} lack"
        f"{'s' if role.startswith('the ') else ''} a right: {'; '.join(rights)}.",
        remedy=f"{'; '.join(commands)}; or use another user (kafka.security). docs/doctor.md lists "
        "the rights.",
    )
