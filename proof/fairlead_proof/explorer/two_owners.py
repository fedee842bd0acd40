"""Finds two clients that work on one queue at once, unless the engine marked the queue unsafe."""

from collections.abc import Collection, Sequence

from fairlead_proof.explorer.facts import Holding
from fairlead_proof.explorer.member_state import MemberState
from fairlead_proof.explorer.world import WorldBounds

__all__ = ["two_owners"]


def two_owners(
    world: WorldBounds, overtaken: Collection[Holding], clients: Sequence[MemberState]
) -> str | None:
    """Return the text about two owners of one queue without an excuse; None: there are none.

    Args:
        world: its bounds.
        overtaken: the grants that the engine no longer waits for. While a queue has one, the engine
            marks its grants unsafe. An ordered client may be neither overtaken nor beside one.
        clients: all of them.
    """
    for number, queue in enumerate(world.message_queues):
        works = [
            (client.member, epoch)
            for client in clients
            for worked, epoch in client.works
            if worked == number
        ]
        waited_for = [each for each in works if (queue, *each) not in overtaken]
        ordered = world.ordered and any(
            member.client_id == world.client_ids[0] for member, _ in works
        )
        if len(works) > 1 and (len(waited_for) > 1 or ordered):
            names = " and ".join(member.incarnation for member, _ in works)
            return f"DOUBLE: {names} work on one queue"
    return None
