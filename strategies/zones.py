"""Where clients and queues stand, for every strategy that looks at it.

Decides which source holds. A queue stands where the option ``queue_zones`` ([[queue, zone]]) says,
else ``broker_zones`` (by broker name), else where the route says that its leader is. A client
stands where ``zones`` (by client id) says, else where it says itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairlead.core.allocation import AllocationRequest
from fairlead.core.model import MessageQueue
from strategies.options import names_of, pairs_of, text_of

__all__ = ["ZONE_OPTIONS", "Zones", "read_zones"]

ZONE_OPTIONS = ("zones", "queue_zones", "broker_zones")


@dataclass(frozen=True, slots=True)
class Zones:
    """What options say, and beside them what members and routes tell."""

    clients: Mapping[str, str] = field(default_factory=dict)
    queues: Mapping[MessageQueue, str] = field(default_factory=dict)
    brokers: Mapping[str, str] = field(default_factory=dict)
    told_of_clients: Mapping[str, str] = field(default_factory=dict)
    told_of_queues: Mapping[MessageQueue, str] = field(default_factory=dict)

    def told_by(self, request: AllocationRequest) -> "Zones":
        """Return the same with what the members and routes of a request tell."""
        clients = {one.client_id: one.zone for one in request.candidates if one.zone}
        return Zones(self.clients, self.queues, self.brokers, clients, request.queue_zones)

    def of_client(self, client_id: str) -> str | None:
        """Return the zone of a client; None if nobody knows it."""
        return self.clients.get(client_id) or self.told_of_clients.get(client_id)

    def of_clients(self, client_ids: Sequence[str]) -> list[str | None]:
        """Return the zone of each client, in order."""
        # Mostly no client has a zone, and a big group has 10,000 clients.
        known = self.clients or self.told_of_clients
        return [self.of_client(one) for one in client_ids] if known else [None] * len(client_ids)

    def of_queue(self, queue: MessageQueue) -> str | None:
        """Return the zone of a queue; None if nobody knows it."""
        return (
            self.queues.get(queue)
            or self.brokers.get(queue.broker_name)
            or self.told_of_queues.get(queue)
        )

    def knows_queues(self) -> bool:
        """Tell whether there is any queue or broker of which it is known where it stands."""
        return bool(self.queues or self.brokers or self.told_of_queues)


def read_zones(options: Mapping[str, Any]) -> Zones:
    """Return what the options say.

    Raises:
        AllocationError: ``bad_option``.
    """
    queues = {
        queue: text_of(name, zone) for name, queue, zone in pairs_of(options, "queue_zones", "zone")
    }
    return Zones(names_of(options, "zones"), queues, names_of(options, "broker_zones"))
