"""The brokers: reachable, old enough, all there."""

from collections.abc import Iterator
from typing import Final

from fairlead.doctor.answer import Answer, fail, ok, warn
from fairlead.doctor.surroundings import Surroundings
from fairlead.kafka.reachability import require_reachable

__all__ = ["broker"]

_FIRST_WITH_TOPIC_IDS: Final = (2, 8)
_NAMED_MAX: Final = 3
"""So many addresses are enough, and are told."""


def broker(around: Surroundings) -> Iterator[Answer]:
    """Connect, log in, and ask who is there.

    Raises:
        EnvironmentMissingError: no broker accepts a connection.
        KafkaError: none answers, or the login is refused.
    """
    kafka = around.settings.kafka
    require_reachable(around.options)
    admin = around.cluster.admin
    nodes = around.nodes()
    if not nodes.answering:
        told = "; ".join(f"{each.number} at {each.place}: {each.shows}" for each in nodes.lost)
        yield fail(
            f"{kafka.bootstrap} answers, and no broker does where it says that it listens ({told})",
            "look at advertised.listeners of the brokers, and at the way there from this machine",
        )
        return
    # Of one that answers: the cluster's list has those as well that are gone.
    version = admin.get_broker_version_data(min(nodes.answering)).broker_version
    shown = ".".join(map(str, version))
    yield ok(
        f"Kafka {shown} or later at {kafka.bootstrap}, cluster {nodes.cluster_id}, "
        f"nodes {', '.join(map(str, sorted(nodes.answering)))}, {kafka.security.security_protocol}"
    )
    if len(kafka.bootstrap_servers) == 1 and len(nodes.places) > 1:
        yield warn(
            f"kafka.bootstrap names one address of a cluster with {len(nodes.places)} brokers: if "
            "it falls silent, nobody who connects anew gets to the others, and the engine stands "
            "still",
            f"name several: set kafka.bootstrap to {','.join(nodes.places[:_NAMED_MAX])}, for the "
            "engine, serve, bridges, commands and clients",
        )
    for each in nodes.lost:
        yield warn(
            f"broker {each.number} at {each.place} is gone or silent: {each.shows}",
            "start it again, or let it go on if it is frozen (kill -CONT); if it is not to come "
            "back, give its copies to others and unregister it",
        )
    if version < _FIRST_WITH_TOPIC_IDS:
        yield warn(
            f"Kafka {shown} knows no ids of topics: one that is made anew is not noticed",
            "use Kafka 2.8 or later",
        )
    if not nodes.has_controller:
        yield warn("the cluster has no controller at the moment", "look at the brokers' logs")
