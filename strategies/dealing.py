"""Calls RocketMQ's strategies as RocketMQ does: one topic and one client at a time (ADR 0090).

A *dealing* stands for one topic: its queues and the ids of the clients that share it, in the given
order. Asking it for a client id corresponds to one call of
``AllocateMessageQueueStrategy#allocate``. It computes what all answers share (the ring of
CONSISTENT_HASH) once.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from fairlead.core.allocation import Allocation, AllocationError, AllocationRequest
from fairlead.core.model import MessageQueue

__all__ = ["Deal", "Dealer", "Dealing", "PerTopic", "by_place", "check"]

Dealing = Callable[[str], tuple[MessageQueue, ...]]
"""Client id -> its queues, in the strategy's order; may raise AllocationError."""


Deal = Callable[[Sequence[MessageQueue], Sequence[str], Mapping[str, Any]], Dealing]
"""Queues, client ids and options -> a dealing.

It raises an error about the options at once, and all other errors when asked for a client id.
"""


def check(client_id: str, queues: Sequence[MessageQueue], client_ids: Collection[str]) -> bool:
    """Make the checks of every strategy except CONFIG; return whether the client is listed.

    It runs for every client, so ``client_ids`` should be a set or keys.

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
    """Return a dealing in which a client's share depends on its place among the ids.

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
"""Queues and client ids -> a dealing, for one request."""


class PerTopic:
    """One of RocketMQ's strategies for all topics of a group, each topic on its own."""

    def __init__(self, name: str, deal: Deal) -> None:
        """Describe the strategy; ``name`` is its name on the wire."""
        self.name = name
        self.deal = deal

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Deal each topic to its subscribers, or to the whole group if the rules say so.

        A topic that cannot be dealt becomes a failure; the others are dealt.
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
        """Refuse unusable options before a rule puts them in force.

        Raises:
            AllocationError: ``bad_option``, or the error of the strategy's constructor in RocketMQ.
        """
        self.deal((), (), options)

    def dealer(self, request: AllocationRequest) -> Dealer:
        """Return the function that deals the topics of a request."""
        return lambda queues, client_ids: self.deal(queues, client_ids, request.options)
