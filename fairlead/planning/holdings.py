"""What clients of a live group may still be working on."""

from collections.abc import Collection

from fairlead.core.model import MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.observed.live_group import LiveGroup

__all__ = ["holdings_of"]


def holdings_of(
    live: LiveGroup, client_ids: Collection[str]
) -> dict[str, tuple[MessageQueue, ...]]:
    """Return the unreleased queues of each of these clients; clients without any are left out.

    A moving queue belongs to its holder until the release stands in the log.
    """
    passing = {each.queue: each.holder for each in live.passing}
    holders = {**live.planned.owners, **passing}
    holdings: dict[str, list[MessageQueue]] = {}
    for queue in sorted(holders, key=queue_order):
        holder = holders[queue]
        if holder in client_ids and holder is not None:
            holdings.setdefault(holder, []).append(queue)
    return {client_id: tuple(queues) for client_id, queues in holdings.items()}
