"""The zones of clients and queues, for strategies that use them.

This module decides which source wins. A queue's zone comes from the option ``queue_zones``
([[queue, zone]]), or else ``broker_zones`` (by broker name), or else from its leader's zone in the
route. A client's zone comes from the option ``zones`` (by client id), or else from the client.
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
    """The zones of the options, and those that members and routes report."""

    clients: Mapping[str, str] = field(default_factory=dict)
    queues: Mapping[MessageQueue, str] = field(default_factory=dict)
    brokers: Mapping[str, str] = field(default_factory=dict)
    reported_clients: Mapping[str, str] = field(default_factory=dict)
    reported_queues: Mapping[MessageQueue, str] = field(default_factory=dict)

    def with_reported(self, request: AllocationRequest) -> "Zones":
        """Return the same zones, with those that a request's members and routes report."""
        clients = {one.client_id: one.zone for one in request.candidates if one.zone}
        return Zones(self.clients, self.queues, self.brokers, clients, request.queue_zones)

    def of_client(self, client_id: str) -> str | None:
        """Return the zone of a client; None if unknown."""
        return self.clients.get(client_id) or self.reported_clients.get(client_id)

    def of_clients(self, client_ids: Sequence[str]) -> list[str | None]:
        """Return the zone of each client, in order."""
        # Mostly no client has a zone, and a big group has 10,000 clients.
        known = self.clients or self.reported_clients
        return [self.of_client(one) for one in client_ids] if known else [None] * len(client_ids)

    def of_queue(self, queue: MessageQueue) -> str | None:
        """Return the zone of a queue; None if unknown."""
        return (
            self.queues.get(queue)
            or self.brokers.get(queue.broker_name)
            or self.reported_queues.get(queue)
        )

    def knows_queues(self) -> bool:
        """Tell whether the zone of any queue or broker is known."""
        return bool(self.queues or self.brokers or self.reported_queues)


def read_zones(options: Mapping[str, Any]) -> Zones:
    """Read the zones from the options.

    Raises:
        AllocationError: ``bad_option``.
    """
    queues = {
        queue: text_of(name, zone) for name, queue, zone in pairs_of(options, "queue_zones", "zone")
    }
    return Zones(names_of(options, "zones"), queues, names_of(options, "broker_zones"))
