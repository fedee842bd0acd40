"""Which of its role's rights a user lacks, as the brokers themselves say: nothing is tried out."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from fairlead_client.transport.principal import principal_of
from kafka import KafkaAdminClient
from kafka.errors import KafkaError, TopicAuthorizationFailedError

from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.acls import RIGHTS, Operations, Role, acl_command
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
"""How brokers name what kafka-acls.sh gives."""

_Lacks = dict[Operations, list[str]]


class _Needed(NamedTuple):
    """Full name of a topic, and the operations on it that are needed."""

    topic: str
    operations: Operations


def lacking(
    needed: Iterable[tuple[str, Operations]], described: Iterable[Mapping[str, Any]]
) -> dict[Operations, list[str]]:
    """Return which operations are not allowed, each set of them with the topics that lack it.

    Args:
        needed: full name of each topic, with the operations.
        described: what kafka-python's ``describe_topics`` says of them. A topic that is not there
            is passed over, and so is one of which the brokers do not say what is allowed.
    """
    told = {topic["name"]: topic for topic in described}
    found: _Lacks = {}
    for name, operations in needed:
        allowed = _allowed(told.get(name, {}))
        if allowed is None:
            continue
        short = tuple(each for each in operations if _TOLD_AS[each] not in allowed)
        if short:
            found.setdefault(short, []).append(name)
    return found


def lack_words(
    options: Mapping[str, Any],
    operation: str,
    topics: Sequence[str] = (),
    groups: Sequence[str] = (),
) -> str:
    """Return words for a right that a request needed and did not have: who, what, and the remedy.

    Args:
        options: keyword arguments of the kafka-python client that asked.
        operation: what is not allowed, as kafka-acls.sh calls it.
        topics: on which topics, as Kafka calls them.
        groups: on which groups.
    """
    on = [*(f"topic {each}" for each in topics), *(f"group {each}" for each in groups)]
    command = acl_command(options, [operation], topics, groups)
    return f"{principal_of(options)} lacks {operation} on {', '.join(on)}: {command}"


def require_rights(options: Mapping[str, Any], prefix: str, role: Role) -> None:
    """Return if this user may do what its role does with each of Fairlead's topics.

    Also where the brokers do not say it, as before Kafka 2.3.

    Args:
        options: keyword arguments of a kafka-python client.
        prefix: what the names of Fairlead's topics begin with.
        role: whose rights are needed.

    Raises:
        EnvironmentMissingError: a right is missing; names role, operations and topics.
    """
    needed = _needed(prefix, role)
    require_reachable(options)
    try:
        found = _lacking_of(options, needed)
    except KafkaError as error:
        raise cluster_error(
            options, f"the cluster does not say what {role} may do", error
        ) from error
    if found:
        raise _not_allowed(options, role, found)


def cluster_error(
    options: Mapping[str, Any],
    says: str,
    error: BaseException | str,
    *,
    prefix: str = "",
    role: Role | None = None,
) -> EnvironmentMissingError:
    """Return what a request that failed means to a user: the cause by its name.

    It is a connection that is not taken, or a right that is missing; else what Kafka said.

    Args:
        options: keyword arguments of the kafka-python client that failed.
        says: what could not be done, for a failure of no known cause.
        error: what Kafka's library said.
        prefix: of Fairlead's topics, where the request was about them.
        role: whose request it was; None: rights on Fairlead's topics had nothing to do with it.
    """
    named = connection_error(options)
    if named is not None:
        return named
    if role is not None:
        with contextlib.suppress(KafkaError):
            found = _lacking_of(options, _needed(prefix, role))
            if found:
                return _not_allowed(options, role, found)
    return EnvironmentMissingError(
        f"kafka.bootstrap: {says} ({error}).",
        remedy="The brokers take the connection and the login. Look at their logs, and at what "
        f"{principal_of(options)} may do: docs/doctor.md lists the rights.",
    )


def _needed(prefix: str, role: Role) -> list[_Needed]:
    names = TopicNames(prefix)
    roles = (Role.READER, role) if role is Role.OPERATOR else (role,)
    return [
        _Needed(names.name(suffix), operations)
        for each in roles
        for suffix, operations in RIGHTS[each].topics.items()
    ]


def _lacking_of(options: Mapping[str, Any], needed: list[_Needed]) -> _Lacks:
    with contextlib.closing(KafkaAdminClient(**options)) as admin:
        return lacking(needed, admin.describe_topics(sorted({each.topic for each in needed})))


def _allowed(topic: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the names of the operations that are allowed; None: nobody says."""
    if topic.get("error_code") == TopicAuthorizationFailedError.errno:
        return frozenset()
    # Who sees the topic may describe it, so an empty answer is none.
    return frozenset(topic.get("authorized_operations") or ()) or None


def _not_allowed(options: Mapping[str, Any], role: Role, found: _Lacks) -> EnvironmentMissingError:
    told = [
        f"{' and '.join(operations)} on {', '.join(names)}" for operations, names in found.items()
    ]
    commands = [acl_command(options, operations, names) for operations, names in found.items()]
    return EnvironmentMissingError(
        f"kafka.security: as {principal_of(options)}, {role.partition(',')[0]} lack"
        f"{'s' if role.startswith('the ') else ''} a right: {'; '.join(told)}.",
        remedy=f"{'; '.join(commands)}; or use another user (kafka.security). docs/doctor.md lists "
        "the rights.",
    )
