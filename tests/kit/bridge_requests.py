"""What engines ask of bridges, and a bridge to ask."""

from kafka.admin import ConfigResource, ConfigResourceType

from fairlead.bridges.kafka.bridge import KafkaBridge
from fairlead.core.model import MessageQueue
from fairlead.core.outputs import Request
from tests.kit.bridge import bridge_of
from tests.kit.bridge_ledger import Ledger


def make_bridge(ledger: Ledger, bootstrap: str) -> KafkaBridge:
    """A quick bridge of cluster ``main``."""
    return bridge_of(bootstrap, ledger.names.prefix)


def offsets_request(
    topic: str, *queue_ids: int, group: str = "g", timestamp_ms: int | None = None
) -> Request:
    """A request for these queues of cluster ``main``; none: for all."""
    queues = tuple(MessageQueue(topic, "main", queue_id) for queue_id in queue_ids) or None
    return Request(group, "offsets", topic, queues, timestamp_ms)


LIMIT = "max.message.bytes"


def route_request(group: str, topic: str) -> Request:
    """A group's request for the route of a topic."""
    return Request(group, "route", topic, None, None)


def retry_request(group: str, topic: str) -> Request:
    """A member's request for its group's retry topic: it has a message to send back."""
    return Request(group, "retry", topic, None, None)


def limits_of(ledger: Ledger, *names: str) -> list[int]:
    """The max.message.bytes of topics, by their names on Kafka."""
    wanted = [ConfigResource(ConfigResourceType.TOPIC, name, [LIMIT]) for name in names]
    found = ledger.admin.describe_configs(wanted, config_filter="all")["topic"]
    return [int(found[name][LIMIT]["value"]) for name in names]
