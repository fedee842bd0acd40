"""Checks the brokers: reachable, new enough, all present."""

from collections.abc import Iterator
from typing import Final

from fairlead.doctor.answer import Answer, fail, ok, warn
from fairlead.doctor.context import CheckContext
from fairlead.kafka.reachability import require_reachable

__all__ = ["broker"]

_FIRST_WITH_TOPIC_IDS: Final = (2, 8)
_NAMED_MAX: Final = 3
"""The remedy names this many addresses: they are enough."""


def broker(context: CheckContext) -> Iterator[Answer]:
    """Connect, log in, and ask which brokers there are.

    Raises:
        EnvironmentMissingError: no broker accepts a connection.
        KafkaError: none answers, or the login is refused.
    """
    kafka = context.settings.kafka
    require_reachable(context.options)
    admin = context.cluster.admin
    nodes = context.nodes()
    if not nodes.answering:
        lost = "; ".join(f"{node.number} at {node.place}: {node.shows}" for node in nodes.lost)
        yield fail(
            f"{kafka.bootstrap} answers, but no broker does at the address it advertises ({lost})",
            "correct advertised.listeners of the brokers, or the network path from this machine",
        )
        return
    # Ask a broker that answers: the cluster's list has the lost ones too.
    version = admin.get_broker_version_data(min(nodes.answering)).broker_version
    shown = ".".join(map(str, version))
    yield ok(
        f"Kafka {shown} or later at {kafka.bootstrap}, cluster {nodes.cluster_id}, "
        f"nodes {', '.join(map(str, sorted(nodes.answering)))}, {kafka.security.security_protocol}"
    )
    if len(kafka.bootstrap_servers) == 1 and len(nodes.places) > 1:
        yield warn(
            f"kafka.bootstrap names one address of a cluster with {len(nodes.places)} brokers: if "
            "that broker falls silent, new connections find no other, and the engine stands still",
            f"name several: set kafka.bootstrap to {','.join(nodes.places[:_NAMED_MAX])}, for the "
            "engine, serve, bridges, commands and clients",
        )
    for node in nodes.lost:
        yield warn(
            f"broker {node.number} at {node.place} is gone or silent: {node.shows}",
            "start it again, or resume it if it is frozen (kill -CONT); to remove it for good, "
            "move its replicas to others and unregister it",
        )
    if version < _FIRST_WITH_TOPIC_IDS:
        yield warn(
            f"Kafka {shown} has no topic ids: Fairlead does not notice a recreated topic",
            "use Kafka 2.8 or later",
        )
    if not nodes.has_controller:
        yield warn("the cluster has no controller at the moment", "read the brokers' logs")
