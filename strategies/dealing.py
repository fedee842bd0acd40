"""How RocketMQ's strategies are called: one topic at a time, one client at a time (ADR 0090).

A *dealing* is one topic, its queues and the ids of those who share it, in the order given; asking
it for a client id is one call of ``AllocateMessageQueueStrategy#allocate``. What all answers have
in common (the ring of CONSISTENT_HASH) is worked out once.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from fairlead.core.allocation import Allocation, AllocationError, AllocationRequest
from fairlead.core.model import MessageQueue

__all__ = ["Deal", "Dealer", "Dealing", "PerTopic", "by_place", "check"]

Dealing = Callable[[str], tuple[MessageQueue, ...]]
"""Client id -> its queues, in the strategy's order. Raises AllocationError."""


Deal = Callable[[Sequence[MessageQueue], Sequence[str], Mapping[str, Any]], Dealing]
"""Queues, client ids and options -> a dealing.

What is wrong with the options is told at once, all else when a client id is asked for.
"""


def check(client_id: str, queues: Sequence[MessageQueue], client_ids: Collection[str]) -> bool:
    """Test what every strategy but CONFIG tests first; False: the client is not among them.

    It is asked for every client, so the ids come in a set or as keys: found without a search.

    Source: AbstractAllocateMessageQueueStrategy#check, since 4.9.3.

    Raises:
        AllocationError: ``client_id_empty``, ``queues_empty`` or ``clients_empty``, in this order.
    """
    if not client_id:
        raise AllocationError("client_id_empty", "currentCID is empty")
    if not queues:
        raise AllocationError("queues_empty", "mqAll is null or mqAll empty")
    if not client_ids:
        raise AllocationError("clients_empty", "cidAll is null or cidAll empty")
    return client_id in client_ids


def by_place(
    queues: Sequence[MessageQueue],
    client_ids: Sequence[str],
    share_of: Callable[[int], Sequence[MessageQueue]],
) -> Dealing:
    """Return the dealing in which a client's share follows from its place among the ids.

    A duplicated id counts at its first place (``List#indexOf``).
    """
    places: dict[str, int] = {}
    for place, client_id in enumerate(client_ids):
        places.setdefault(client_id, place)

    def share(client_id: str) -> tuple[MessageQueue, ...]:
        if not check(client_id, queues, places):
            return ()
        return tuple(share_of(places[client_id]))

    return share


Dealer = Callable[[Sequence[MessageQueue], Sequence[str]], Dealing]
"""Queues and client ids -> a dealing, under what a request says."""


class PerTopic:
    """A strategy of RocketMQ for all topics of a group: each topic is dealt on its own."""

    def __init__(self, name: str, deal: Deal) -> None:
        """Name it as it is named on the wire."""
        self.name = name
        self.deal = deal

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Deal each topic to its subscribers.

        Or to the whole group where the rules say so. A topic that cannot be dealt is a failure of
        its own.
        """
        topics = {}
        failures = {}
        deal = self.dealer(request)
        for topic, queues in request.queues.items():
            ids = [
                candidate.client_id
                for candidate in request.candidates
                if request.slots == "group" or topic in candidate.topics
            ]
            try:
                dealing = deal(queues, ids)
                topics[topic] = {
                    client_id: share for client_id in ids if (share := dealing(client_id))
                }
            except AllocationError as error:
                failures[topic] = error
        return Allocation(topics, failures)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Refuse options under which nothing can be dealt, before a rule puts them in force.

        Raises:
            AllocationError: ``bad_option``, or what the strategy's constructor raises in RocketMQ.
        """
        self.deal((), (), options)

    def dealer(self, request: AllocationRequest) -> Dealer:
        """Return how the topics of a request are dealt."""
        return lambda queues, client_ids: self.deal(queues, client_ids, request.options)
