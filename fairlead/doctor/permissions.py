"""What this user may do with each topic, as the brokers themselves say: nothing is tried out."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from fairlead.doctor.answer import Answer, fail, ok, unknown, warn
from fairlead.doctor.rights import ENGINE, RIGHTS, acl_command
from fairlead.doctor.surroundings import Surroundings
from fairlead.wire.topics import ALL_TOPICS

__all__ = ["permissions"]

_TOLD_AS: Final = {"Read": "READ", "Write": "WRITE"}
"""How brokers name what is asked for here; who may describe settings is seen by looking at them."""


def permissions(around: Surroundings) -> Iterator[Answer]:
    """Ask the brokers which operations they would let this user do, topic by topic."""
    allowed = {
        suffix: found
        for suffix, topic in around.cluster.described.items()
        if (found := _operations(topic)) is not None
    }
    if not allowed:
        yield unknown(
            "the brokers do not say what this user may do",
            "they say it to users who may see the topics, from Kafka 2.3 on; see: topics",
        )
        return
    lacking = {who: _lacking(around, needed, allowed) for who, needed in RIGHTS.items()}
    for who, short in lacking.items():
        for operations, topics in short.items():
            says = f"may not {' and '.join(operations).lower()} {', '.join(topics)}"
            remedy = acl_command(around.settings.kafka, operations, topics)
            if who == ENGINE:
                yield fail(f"{who} {says}", f"{remedy}; or run it as another user (kafka.security)")
            else:
                yield warn(
                    f"as this user {who} {says}", f"right if they are another; else {remedy}"
                )
    if not lacking[ENGINE]:
        unseen = [around.cluster.names.name(each) for each in ALL_TOPICS if each not in allowed]
        rest = f"; not to be known of {', '.join(unseen)}" if unseen else ""
        yield ok(f"the engine may read and write what it must in {len(allowed)} topics{rest}")
    yield from _making(around)


def _making(around: Surroundings) -> Iterator[Answer]:
    """Tell who cannot make the topics that are missing."""
    may = around.cluster.admin.describe_cluster().get("authorized_operations")
    missing = [suffix for suffix in ALL_TOPICS if suffix not in around.cluster.described]
    if missing and may and "CREATE" not in may:
        yield warn(
            "topics are missing, and by its rights on the cluster this user makes none",
            "make them as another user, or kafka-acls.sh --add --operation Create --cluster",
        )


def _lacking(
    around: Surroundings,
    needed: Mapping[str, tuple[str, ...]],
    allowed: Mapping[str, frozenset[str]],
) -> dict[tuple[str, ...], list[str]]:
    """Return which operations are not allowed, each set of them with the topics that lack it."""
    found: dict[tuple[str, ...], list[str]] = {}
    for suffix, operations in needed.items():
        if suffix in allowed:
            short = tuple(
                each
                for each in operations
                if each in _TOLD_AS and _TOLD_AS[each] not in allowed[suffix]
            )
            found.setdefault(short, []).append(around.cluster.names.name(suffix))
    found.pop((), None)
    return found


def _operations(topic: dict[str, Any]) -> frozenset[str] | None:
    """Return the names of the operations that are allowed; None: the brokers do not say."""
    # Who sees the topic may describe it, so an empty answer is none.
    return frozenset(topic.get("authorized_operations") or ()) or None
