"""One queue that one client owns, before another comes."""

from fairlead.core.model import Epoch
from tests.kit.group_world import GroupWorld, queue_of

FIRST = queue_of(0)


def owned_by_a(*, last: int = 100) -> GroupWorld:
    """Return a world in which `a` owns the one queue and `b` is about to come."""
    world = GroupWorld()
    world.beat("a")
    world.run()
    world.route(1)
    world.bounds(1, last=last)
    world.run()
    assert world.owned("a") == [0]
    return world


def epoch_of_first(world: GroupWorld) -> Epoch:
    """Return the epoch of the eldest grant of the queue."""
    assert world.state is not None
    return world.state.queues[FIRST].chain[0].epoch


HELD, ABSURD = Epoch(1, 1), 10**9
