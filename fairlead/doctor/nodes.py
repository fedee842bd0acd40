"""Which brokers answer, and which are gone or silent: by the cluster, and by a connection to each.

A broker that is down or frozen stays in the cluster's list: a program that asks only the first of
the list may get no answer.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from fairlead_client.transport.connection_fault import Contact, first_contact
from kafka import KafkaAdminClient
from kafka.errors import KafkaError

__all__ = ["Lost", "Nodes", "described_by", "look_at_nodes", "named_brokers"]


class Lost(NamedTuple):
    """A broker of the cluster that does not answer, and the sign of it."""

    number: int
    place: str
    shows: str


class Nodes(NamedTuple):
    """The brokers of a cluster.

    Attributes:
        answering: number -> host:port of each answering broker.
        lost: brokers that are gone or silent.
        cluster_id: of the cluster.
        has_controller: whether the cluster names a controller.
    """

    answering: Mapping[int, str]
    lost: tuple[Lost, ...] = ()
    cluster_id: str = ""
    has_controller: bool = True

    @property
    def places(self) -> list[str]:
        """The addresses of all of them, in the order of their numbers."""
        every = {**self.answering, **{node.number: node.place for node in self.lost}}
        return [every[number] for number in sorted(every)]


def look_at_nodes(
    described: Mapping[str, Any],
    options: Mapping[str, Any],
    contact: Callable[[Mapping[str, Any]], Contact] = first_contact,
) -> Nodes:
    """Connect to each broker of the cluster, to all at once.

    Args:
        described: the answer of kafka-python's ``describe_cluster``.
        options: keyword arguments of a kafka-python client.
        contact: connects once.
    """
    places = {int(one["broker_id"]): f"{_host(one)}:{one['port']}" for one in described["brokers"]}
    controller = described.get("controller_id", 0)
    # Before Kafka 4 the list lacks fenced brokers; the check of replicas finds them.
    fenced = {int(one["broker_id"]) for one in described["brokers"] if one.get("is_fenced")}
    shows = dict.fromkeys(fenced, "the controller has fenced it")
    asked = sorted(places.keys() - fenced)
    with ThreadPoolExecutor(max(1, len(asked))) as pool:
        contacts = pool.map(
            lambda number: contact({**options, "bootstrap_servers": [places[number]]}), asked
        )
        shows |= {
            number: _words(one)
            for number, one in zip(asked, contacts, strict=True)
            if not one.taken
        }
    return Nodes(
        {number: places[number] for number in asked if number not in shows},
        tuple(Lost(number, places[number], shows[number]) for number in sorted(shows)),
        str(described["cluster_id"]),
        controller is not None and controller >= 0,
    )


def described_by(admin: KafkaAdminClient) -> dict[str, Any]:
    """Return the answer of ``describe_cluster``; after a silent broker, ask another once.

    Raises:
        KafkaError: no broker answers.
    """
    try:
        return dict(admin.describe_cluster())
    except KafkaError as error:
        if not error.retriable:
            raise
        # The library asks the silent broker last from now on.
        return dict(admin.describe_cluster())


def named_brokers(numbers: Iterable[int]) -> str:
    """Return brokers by their numbers, with the verb: ``broker 3 is``, ``brokers 2 and 3 are``."""
    names = [str(number) for number in sorted(numbers)]
    if len(names) == 1:
        return f"broker {names[0]} is"
    return f"brokers {', '.join(names[:-1])} and {names[-1]} are"


def _host(node: Mapping[str, Any]) -> str:
    host = str(node["host"])
    return f"[{host}]" if ":" in host else host


def _words(contact: Contact) -> str:
    if contact.fault is not None:
        return contact.fault.says
    return "; ".join(contact.refused) or "it does not answer"
