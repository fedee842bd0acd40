"""Queues that a topic gains while nobody shares it are read from their start by who comes back."""

from collections.abc import Callable

import pytest

from fairlead.core.model import MemberProfile
from tests.kit.group_world import GroupWorld

LAST = MemberProfile(consume_from="last_offset")
BROADCASTING = MemberProfile(message_model="broadcasting", consume_from="last_offset")


def _leaves(world: GroupWorld) -> None:
    """A leaves, and has released both queues at 50."""
    assert world.state is not None
    epochs = world.epoch_of(0), world.epoch_of(1)
    world.leave("A", last_started=world.state.epoch)
    for number, epoch in enumerate(epochs):
        world.release("A", number, epoch, 50)
    world.run()


def _is_leaving(world: GroupWorld) -> None:
    """A leaves, and its releases are not read yet."""
    assert world.state is not None
    world.leave("A", last_started=world.state.epoch)
    world.run()


def _lapses(world: GroupWorld) -> None:
    """A is heard of no more."""
    world.pass_time(20_000)
    world.run()


def _broadcasters_stay(world: GroupWorld) -> None:
    """A leaves a group in which somebody else reads everything by itself."""
    world.beat("B", profile=BROADCASTING)
    world.run()
    _leaves(world)


@pytest.mark.parametrize("goes", [_leaves, _is_leaving, _lapses, _broadcasters_stay])
def test_what_is_brought_meanwhile_is_late(goes: Callable[[GroupWorld], None]) -> None:
    """What was written to the new queues before somebody is there again is not skipped."""
    world = GroupWorld()
    world.beat("A", profile=LAST)
    world.publish(2)
    goes(world)
    world.route(4)
    world.run()
    world.pass_time(30_000)
    world.beat("A", life=2, profile=LAST)
    world.run()
    world.bounds(4, last=100)
    world.run()
    world.pass_time(1_000)
    world.beat("A", life=2, profile=LAST)
    world.bounds(4, last=100)
    world.run()
    assert world.state is not None
    starts = {
        queue.queue_id: (value.base.offset, value.why)
        for queue, value in world.state.queues.items()
        if value.base is not None and queue.queue_id in (2, 3)
    }
    assert starts == {2: (0, "minimum"), 3: (0, "minimum")}
