"""Two clients that work on one queue at once, and when the engine's own word excuses them."""

from collections.abc import Collection, Sequence

from fairlead_proof.explorer.client_half import ClientState
from fairlead_proof.explorer.facts import Holding
from fairlead_proof.explorer.world import World

__all__ = ["two_owners"]


def two_owners(
    world: World, overtaken: Collection[Holding], clients: Sequence[ClientState]
) -> str | None:
    """Return who works on one queue at once although nobody was told not to wait; None: nobody.

    Args:
        world: its bounds.
        overtaken: the grants that the engine waits for no more: as long as there are any of a
            queue, it marks what it grants of it as unsafe. Nobody ordered may be among them, nor
            work beside one.
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
