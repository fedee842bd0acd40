"""Which brokers answer, and which are gone or silent: by the cluster, and by a connection to each.

A broker that is down or frozen stands in the cluster's list for good: whoever asks the first of the
list asks nobody, and learns nothing of the others.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from fairlead_client.transport.connection_fault import Contact, first_contact
from kafka import KafkaAdminClient
from kafka.errors import KafkaError

__all__ = ["Lost", "Nodes", "described_by", "look_at_nodes", "named_brokers"]


class Lost(NamedTuple):
    """A broker that belongs to the cluster and does not answer, with how it shows."""

    number: int
    place: str
    shows: str


class Nodes(NamedTuple):
    """The brokers of a cluster.

    Attributes:
        answering: number -> host:port of each that answers.
        lost: those that are gone or silent.
        cluster_id: of the cluster.
        has_controller: the cluster says that one of them is the controller.
    """

    answering: Mapping[int, str]
    lost: tuple[Lost, ...] = ()
    cluster_id: str = ""
    has_controller: bool = True

    @property
    def places(self) -> list[str]:
        """Where all of them listen, in the order of their numbers."""
        every = {**self.answering, **{each.number: each.place for each in self.lost}}
        return [every[number] for number in sorted(every)]


def look_at_nodes(
    described: Mapping[str, Any],
    options: Mapping[str, Any],
    contact: Callable[[Mapping[str, Any]], Contact] = first_contact,
) -> Nodes:
    """Connect to each broker that the cluster counts in, to all at once.

    Args:
        described: what kafka-python's ``describe_cluster`` says.
        options: keyword arguments of a kafka-python client.
        contact: connects once.
    """
    places = {int(one["broker_id"]): f"{_host(one)}:{one['port']}" for one in described["brokers"]}
    controller = described.get("controller_id", 0)
    # Before Kafka 4 those are left out: the copies tell who is missing.
    fenced = {int(one["broker_id"]) for one in described["brokers"] if one.get("is_fenced")}
    shows = dict.fromkeys(fenced, "the others have put it out of service")
    asked = sorted(places.keys() - fenced)
    with ThreadPoolExecutor(max(1, len(asked))) as pool:
        found = pool.map(
            lambda number: contact({**options, "bootstrap_servers": [places[number]]}), asked
        )
        shows |= {
            number: _words(one) for number, one in zip(asked, found, strict=True) if not one.taken
        }
    return Nodes(
        {number: places[number] for number in asked if number not in shows},
        tuple(Lost(number, places[number], shows[number]) for number in sorted(shows)),
        str(described["cluster_id"]),
        controller is not None and controller >= 0,
    )


def described_by(admin: KafkaAdminClient) -> dict[str, Any]:
    """Return what ``describe_cluster`` says; a broker that is silent is asked once, then others.

    Raises:
        KafkaError: no broker says.
    """
    try:
        return dict(admin.describe_cluster())
    except KafkaError as error:
        if not error.retriable:
            raise
        # Who was silent is asked last from now on.
        return dict(admin.describe_cluster())


def named_brokers(numbers: Iterable[int]) -> str:
    """Return brokers by their numbers, with the verb: ``broker 3 is``, ``brokers 2 and 3 are``."""
    told = [str(number) for number in sorted(numbers)]
    if len(told) == 1:
        return f"broker {told[0]} is"
    return f"brokers {', '.join(told[:-1])} and {told[-1]} are"


def _host(node: Mapping[str, Any]) -> str:
    host = str(node["host"])
    return f"[{host}]" if ":" in host else host


def _words(contact: Contact) -> str:
    if contact.fault is not None:
        return contact.fault.says
    return "; ".join(contact.refused) or "it does not answer"
