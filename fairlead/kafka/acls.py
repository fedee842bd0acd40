"""The table of the Kafka permissions that each of Fairlead's processes needs (ADR 0177).

docs/doctor.md is generated from it; `fairlead doctor` and every starting process check it. A test
runs every role on a broker with exactly these permissions, and without each of them in turn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from fairlead_client.transport.principal import principal_of

from fairlead.wire.topics import ALL_TOPICS

__all__ = ["READING_TOO", "RIGHTS", "Operations", "Rights", "Role", "acl_command"]

Operations = tuple[str, ...]
"""The names of kafka-acls.sh; Read and Write also allow describing a topic or group."""


class Role(StrEnum):
    """A process that needs permissions; the value begins a sentence."""

    ENGINE = "the engine"
    BRIDGE = "the bridge"
    CLIENT = "clients"
    PRODUCER = "producers"
    READER = "commands that read and `fairlead serve`"
    OPERATOR = "commands that change rules, offsets and routes, beside that"
    GATEWAY = "the gateway, beside what `fairlead serve` reads"


@dataclass(frozen=True, slots=True)
class Rights:
    """The operations that one role needs.

    Attributes:
        topics: suffix of each of Fairlead's own topics -> operations on it.
        messages: operations on the topics with messages.
        retries: operations on retry topics (`%RETRY%` and the group); the bridge creates and
            removes them.
        dead_letters: operations on dead-letter topics (`%DLQ%` and the group); likewise.
        group: operations on the consumer group whose commits it reads or writes.
    """

    topics: Mapping[str, Operations]
    messages: Operations = ()
    retries: Operations = ()
    dead_letters: Operations = ()
    group: Operations = field(default=())


RIGHTS: Final[Mapping[Role, Rights]] = MappingProxyType(
    {
        Role.ENGINE: Rights(
            {
                "heartbeats": ("Read", "Write", "DescribeConfigs"),
                "releases": ("Read", "DescribeConfigs"),
                "handovers": ("Describe", "DescribeConfigs"),
                "control": ("Read", "Write", "DescribeConfigs"),
                "generations": ("Read", "Write", "DescribeConfigs"),
                "routes": ("Read", "DescribeConfigs"),
                "offsets": ("Read", "DescribeConfigs"),
                "assignments": ("Write", "DescribeConfigs"),
                "decisions": ("Write", "DescribeConfigs"),
                "requests": ("Write", "DescribeConfigs"),
                "rejects": ("Write", "DescribeConfigs"),
            }
        ),
        Role.BRIDGE: Rights(
            {"requests": ("Read",), "routes": ("Read", "Write"), "offsets": ("Write",)},
            messages=("Describe", "DescribeConfigs"),
            retries=("Create", "Delete", "Describe", "DescribeConfigs", "AlterConfigs"),
            dead_letters=("Create", "Delete", "Describe", "DescribeConfigs", "AlterConfigs"),
            group=("Describe",),
        ),
        Role.CLIENT: Rights(
            {
                "heartbeats": ("Write",),
                "releases": ("Write",),
                "handovers": ("Read", "Write"),
                "requests": ("Write",),
                "assignments": ("Read",),
                "generations": ("Read",),
                "routes": ("Read",),
            },
            messages=("Read",),
            retries=("Read", "Write"),
            dead_letters=("Write",),
            group=("Read",),
        ),
        Role.PRODUCER: Rights({"routes": ("Read",), "requests": ("Write",)}, messages=("Write",)),
        Role.READER: Rights(
            dict.fromkeys(ALL_TOPICS, ("Read",)),
            messages=("Describe",),
            retries=("Describe",),
            group=("Describe",),
        ),
        Role.OPERATOR: Rights({"control": ("Write",), "routes": ("Write",), "offsets": ("Write",)}),
        Role.GATEWAY: Rights(dict.fromkeys(("heartbeats", "releases", "handovers"), ("Write",))),
    }
)
"""Role -> its permissions."""

READING_TOO: Final = frozenset({Role.OPERATOR, Role.GATEWAY})
"""The roles whose processes need the rights of a reader too."""


def acl_command(
    options: Mapping[str, Any],
    operations: Sequence[str],
    topics: Sequence[str] = (),
    groups: Sequence[str] = (),
) -> str:
    """Return the command that allows the user of these options operations on topics and groups.

    Args:
        options: keyword arguments of a kafka-python client.
        operations: the operations to allow.
        topics: names of topics.
        groups: names of groups.
    """
    servers = options["bootstrap_servers"]
    bootstrap = servers if isinstance(servers, str) else ",".join(servers)
    words = ["kafka-acls.sh", "--bootstrap-server", bootstrap]
    words += ["--add", "--allow-principal", f"'{principal_of(options)}'"]
    for operation in operations:
        words += ["--operation", operation]
    for topic in topics:
        words += ["--topic", f"'{topic}'"]
    for group in groups:
        words += ["--group", f"'{group}'"]
    return " ".join(words)
