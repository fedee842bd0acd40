"""Which rights each of Fairlead's processes needs on its topics, and how they are given."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from fairlead.settings.kafka_sections import KafkaSettings
from fairlead.wire.topics import ALL_TOPICS

__all__ = ["ENGINE", "RIGHTS", "acl_command"]

ENGINE: Final = "the engine"

RIGHTS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = MappingProxyType(
    {
        ENGINE: {
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
        },
        "the bridge": {"requests": ("Read",), "routes": ("Read", "Write"), "offsets": ("Write",)},
        "clients": {
            "heartbeats": ("Write",),
            "releases": ("Write",),
            "handovers": ("Read", "Write"),
            "assignments": ("Read",),
            "generations": ("Read",),
        },
        "producers": {"routes": ("Read",), "requests": ("Write",)},
        "commands that read and `fairlead serve`": dict.fromkeys(ALL_TOPICS, ("Read",)),
        "commands that change rules and offsets, beside that": {"control": ("Write",)},
    }
)
"""By who and suffix: the operations; Read and Write let Kafka's users describe a topic too."""


def acl_command(kafka: KafkaSettings, operations: Sequence[str], topics: Sequence[str]) -> str:
    """Return the command that gives the user of these settings operations on topics."""
    words = ["kafka-acls.sh", "--bootstrap-server", kafka.bootstrap]
    words += ["--add", "--allow-principal", f"'{_principal(kafka)}'"]
    for operation in operations:
        words += ["--operation", operation]
    for topic in topics:
        words += ["--topic", f"'{topic}'"]
    return " ".join(words)


def _principal(kafka: KafkaSettings) -> str:
    """Return what the brokers call this user, if they keep to Kafka's defaults."""
    security = kafka.security
    if security.security_protocol.startswith("SASL"):
        return f"User:{security.sasl_plain_username}"
    if security.ssl_certfile is not None:
        return f"User:<subject of {security.ssl_certfile}>"
    return "User:ANONYMOUS"
