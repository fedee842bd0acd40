"""What this user may do with each topic, as the brokers themselves say: nothing is tried out."""

from collections.abc import Iterator
from typing import Any, Final

from fairlead.doctor.answer import Answer, fail, ok, unknown, warn
from fairlead.doctor.surroundings import Surroundings
from fairlead.wire.topics import ALL_TOPICS

__all__ = ["NEEDED", "permissions"]

NEEDED: Final = {
    "heartbeats": ("READ", "WRITE"),
    "releases": ("READ",),
    "control": ("READ", "WRITE"),
    "generations": ("READ", "WRITE"),
    "routes": ("READ",),
    "offsets": ("READ",),
    "assignments": ("WRITE",),
    "decisions": ("WRITE",),
    "requests": ("WRITE",),
    "rejects": ("WRITE",),
}
"""What the engine does with each topic; `handovers` is the clients' own."""
_OTHERS: Final = (
    ("the bridge", {"requests": "READ", "routes": "WRITE", "offsets": "WRITE"}),
    (
        "commands and `fairlead serve`",
        {"assignments": "READ", "decisions": "READ", "requests": "READ", "rejects": "READ"},
    ),
)


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
            "they say it to users who may describe the topics, from Kafka 2.3 on",
        )
        return
    name = around.cluster.names.name
    denied = [
        f"{operation} {name(suffix)}"
        for suffix, operations in NEEDED.items()
        for operation in operations
        if suffix in allowed and operation not in allowed[suffix]
    ]
    if denied:
        yield fail(
            f"the engine may not: {', '.join(denied)}",
            "kafka-acls.sh --add --allow-principal User:… --operation … --topic …, or run it as "
            "another user (kafka.security)",
        )
    for who, needed in _OTHERS:
        short = [
            f"{operation} {name(suffix)}"
            for suffix, operation in needed.items()
            if suffix in allowed and operation not in allowed[suffix]
        ]
        if short:
            yield warn(
                f"as this user {who} may not: {', '.join(short)}",
                "right if they run as another user; else kafka-acls.sh --add",
            )
    unreadable = [name(s) for s in allowed if "DESCRIBE_CONFIGS" not in allowed[s]]
    if unreadable:
        yield warn(
            f"settings cannot be looked at: {', '.join(unreadable)}",
            "kafka-acls.sh --add --operation DescribeConfigs; an engine looks at them at its start",
        )
    if not denied:
        unseen = [name(suffix) for suffix in ALL_TOPICS if suffix not in allowed]
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


def _operations(topic: dict[str, Any]) -> frozenset[str] | None:
    """Return the names of the operations that are allowed; None: the brokers do not say."""
    # Who sees the topic may describe it, so an empty answer is none.
    return frozenset(topic.get("authorized_operations") or ()) or None
