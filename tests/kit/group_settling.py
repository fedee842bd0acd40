"""Lets everybody obey until nothing is left to do, and says in one line each who got what."""

from collections.abc import Iterable, Iterator, Mapping

from fairlead.core.membership.members import effective_members
from fairlead.core.model import MessageQueue, Position
from fairlead.core.ordering import java_order
from fairlead.core.outputs import Output
from tests.kit.group_world import GroupWorld

__all__ = ["held", "owners", "settle", "shares", "stop"]

_STEPS_MAX = 10


def settle(world: GroupWorld) -> list[Output]:
    """Step until no drop is open, and return all that was written.

    Each is released at offset 10, or at its base if that is greater.
    """
    written: list[Output] = []
    for _ in range(_STEPS_MAX):
        world.run()
        written += world.outputs
        if not _release_dropped(world):
            return written
    raise AssertionError(written)


def _release_dropped(world: GroupWorld) -> bool:
    """Every client releases what it is to drop; return whether there was anything."""
    assert world.state is not None
    dropped = [
        (grant.member, queue.queue_id, grant.epoch, value.base)
        for queue, value in world.state.queues.items()
        for grant in value.chain
        if grant.dropped
    ]
    for member, number, epoch, base in dropped:
        assert base is not None
        life = int(member.incarnation.rpartition("-")[2])
        world.release(member.client_id, number, epoch, max(base, Position(0, 10)), life=life)
    return bool(dropped)


def owners(world: GroupWorld) -> Mapping[MessageQueue, str]:
    """Return who may work on which queue."""
    if world.state is None:
        return {}
    return {
        queue: value.chain[0].member.client_id
        for queue, value in world.state.queues.items()
        if value.chain
    }


def shares(
    world: GroupWorld, before: Mapping[MessageQueue, str], after: Mapping[MessageQueue, str]
) -> Iterator[str]:
    """Say for each member what it drops, keeps and adds, and how many queues changed hands."""
    assert world.state is not None
    members = effective_members(world.state.members)
    for client_id in sorted(members, key=java_order):
        had = [queue for queue, owner in before.items() if owner == client_id]
        has = [queue for queue, owner in after.items() if owner == client_id]
        parts = (
            ("drops", [queue for queue in had if queue not in has]),
            ("keeps", [queue for queue in has if queue in had]),
            ("adds", [queue for queue in has if queue not in had]),
        )
        told = ", ".join(f"{what} {_numbers(queues)}" for what, queues in parts if queues)
        yield f"{client_id} has {len(has)}{told and ': '}{told}"
    moved = sum(queue in after and after[queue] != owner for queue, owner in before.items())
    yield f"{moved} changed hands"


def _numbers(queues: Iterable[MessageQueue]) -> str:
    return " ".join(str(number) for number in sorted(queue.queue_id for queue in queues))


def held(world: GroupWorld) -> dict[str, list[int]]:
    """Return the queue ids that each client may work on."""
    found: dict[str, list[int]] = {}
    for queue, client_id in sorted(owners(world).items()):
        found.setdefault(client_id, []).append(queue.queue_id)
    return found


def stop(world: GroupWorld, client: str, life: int = 1) -> None:
    """A client leaves in order, and has released everything."""
    world.leave(client, life)
    settle(world)
