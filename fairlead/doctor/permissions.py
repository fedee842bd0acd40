"""Checks this user's rights, as the brokers report them, without trying anything."""

from collections.abc import Iterator
from typing import Final

from kafka.errors import GroupAuthorizationFailedError, KafkaError

from fairlead.doctor.answer import Answer, fail, ok, unknown, warn
from fairlead.doctor.context import CheckContext
from fairlead.doctor.nodes import described_by
from fairlead.kafka.acls import RIGHTS, Role, acl_command
from fairlead.kafka.missing_rights import lacking
from fairlead.wire.topics import ALL_TOPICS

__all__ = ["permissions"]

_OF_SETTINGS: Final = "DescribeConfigs"
"""The check `topics`, which reads settings, reports a missing right to read them."""


def permissions(context: CheckContext) -> Iterator[Answer]:
    """Ask the brokers for this user's rights, topic by topic, role by role."""
    described = [*context.cluster.topic_answers.values()]
    if not any(topic.get("authorized_operations") for topic in described):
        yield unknown(
            "the brokers do not report this user's rights",
            "they report them from Kafka 2.3 on, if the user may see the topics; see: topics",
        )
        return
    names = context.cluster.names
    for role in Role:
        needed = [
            (
                names.name(suffix),
                tuple(each for each in has if each != _OF_SETTINGS),
            )
            for suffix, has in RIGHTS[role].topics.items()
        ]
        short = lacking(needed, described)
        for operations, topics in short.items():
            says = f"may not {' and '.join(operations).lower()} {', '.join(topics)}"
            yield _lack(
                context, role, says, acl_command(context.options, operations, topics=topics)
            )
        if role is context.role and not short:
            unseen = [
                names.name(each) for each in ALL_TOPICS if each not in context.cluster.described
            ]
            rest = f"; unknown for {', '.join(unseen)}" if unseen else ""
            yield ok(f"{_who(role)}: every right on {len(needed)} topics{rest}")
    for group in context.groups:
        yield from _on_group(context, group)
    yield from _making(context)


def _on_group(context: CheckContext, group: str) -> Iterator[Answer]:
    """Report which roles lack a right on a consumer group."""
    try:
        described = context.cluster.admin.describe_groups([group])[group]
    except GroupAuthorizationFailedError:
        described = {"authorized_operations": ()}
    except KafkaError as error:
        yield unknown(f"the brokers do not describe the group {group} ({error})", "try again")
        return
    if described.get("authorized_operations") is None:
        command = acl_command(context.options, ["Read"], groups=[group])
        yield unknown(
            f"the group {group} has no commits yet, so the brokers do not report this user's "
            "rights on it",
            f"if a commit of a client fails: {command}",
        )
        return
    allowed = frozenset(described["authorized_operations"])
    lacks = False
    for role in Role:
        short = [each for each in RIGHTS[role].group if each.upper() not in allowed]
        if short:
            lacks = lacks or role is context.role
            says = f"may not {' and '.join(short).lower()} the group {group}"
            yield _lack(context, role, says, acl_command(context.options, short, groups=[group]))
    if RIGHTS[context.role].group and not lacks:
        yield ok(f"{_who(context.role)}: every right on the group {group}")


def _lack(context: CheckContext, role: Role, says: str, remedy: str) -> Answer:
    if role is context.role:
        return fail(f"{role} {says}", f"{remedy}; or run it as another user (kafka.security)")
    return warn(f"as this user {role} {says}", f"right if they have another user; else {remedy}")


def _who(role: Role) -> str:
    return role.partition(",")[0]


def _making(context: CheckContext) -> Iterator[Answer]:
    """Report that this user cannot create the missing topics."""
    may = described_by(context.cluster.admin).get("authorized_operations")
    missing = [suffix for suffix in ALL_TOPICS if suffix not in context.cluster.described]
    if missing and may and "CREATE" not in may:
        yield warn(
            "topics are missing, and this user may not create topics on the cluster",
            "create them as another user, or kafka-acls.sh --add --operation Create --cluster",
        )
