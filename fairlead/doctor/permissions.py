"""What this user may do, as the brokers themselves say: nothing is tried out."""

from collections.abc import Iterator
from typing import Final

from kafka.errors import GroupAuthorizationFailedError, KafkaError

from fairlead.doctor.answer import Answer, fail, ok, unknown, warn
from fairlead.doctor.nodes import described_by
from fairlead.doctor.surroundings import Surroundings
from fairlead.kafka.acls import RIGHTS, Role, acl_command
from fairlead.kafka.missing_rights import lacking
from fairlead.wire.topics import ALL_TOPICS

__all__ = ["permissions"]

_OF_SETTINGS: Final = "DescribeConfigs"
"""Who may look at settings is told by the check `topics`, which looks at them."""


def permissions(around: Surroundings) -> Iterator[Answer]:
    """Ask the brokers what they would let this user do, topic by topic, role by role."""
    described = [*around.cluster.told.values()]
    if not any(topic.get("authorized_operations") for topic in described):
        yield unknown(
            "the brokers do not say what this user may do",
            "they say it to users who may see the topics, from Kafka 2.3 on; see: topics",
        )
        return
    for role in Role:
        needed = [
            (around.cluster.names.name(suffix), tuple(each for each in has if each != _OF_SETTINGS))
            for suffix, has in RIGHTS[role].topics.items()
        ]
        short = lacking(needed, described)
        for operations, topics in short.items():
            says = f"may not {' and '.join(operations).lower()} {', '.join(topics)}"
            yield _lack(around, role, says, acl_command(around.options, operations, topics=topics))
        if role is around.role and not short:
            unseen = [
                around.cluster.names.name(each)
                for each in ALL_TOPICS
                if each not in around.cluster.described
            ]
            rest = f"; not to be known of {', '.join(unseen)}" if unseen else ""
            yield ok(f"{_who(role)} may do what they must with {len(needed)} topics{rest}")
    for group in around.groups:
        yield from _on_group(around, group)
    yield from _making(around)


def _on_group(around: Surroundings, group: str) -> Iterator[Answer]:
    """Say which roles may not do what they must with a consumer group."""
    try:
        told = around.cluster.admin.describe_groups([group])[group]
    except GroupAuthorizationFailedError:
        told = {"authorized_operations": ()}
    except KafkaError as error:
        yield unknown(f"the brokers say nothing of the group {group} ({error})", "try again")
        return
    if told.get("authorized_operations") is None:
        command = acl_command(around.options, ["Read"], groups=[group])
        yield unknown(
            f"the group {group} has no commits yet, so the brokers do not say what this user may "
            "do with it",
            f"if a commit of a client fails: {command}",
        )
        return
    allowed = frozenset(told["authorized_operations"])
    lacks = False
    for role in Role:
        short = [each for each in RIGHTS[role].group if each.upper() not in allowed]
        if short:
            lacks = lacks or role is around.role
            says = f"may not {' and '.join(short).lower()} the group {group}"
            yield _lack(around, role, says, acl_command(around.options, short, groups=[group]))
    if RIGHTS[around.role].group and not lacks:
        yield ok(f"{_who(around.role)} may do what they must with the group {group}")


def _lack(around: Surroundings, role: Role, says: str, remedy: str) -> Answer:
    if role is around.role:
        return fail(f"{role} {says}", f"{remedy}; or run it as another user (kafka.security)")
    return warn(f"as this user {role} {says}", f"right if they are another; else {remedy}")


def _who(role: Role) -> str:
    return role.partition(",")[0]


def _making(around: Surroundings) -> Iterator[Answer]:
    """Tell who cannot make the topics that are missing."""
    may = described_by(around.cluster.admin).get("authorized_operations")
    missing = [suffix for suffix in ALL_TOPICS if suffix not in around.cluster.described]
    if missing and may and "CREATE" not in may:
        yield warn(
            "topics are missing, and by its rights on the cluster this user makes none",
            "make them as another user, or kafka-acls.sh --add --operation Create --cluster",
        )
