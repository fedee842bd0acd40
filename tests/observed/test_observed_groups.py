"""The view of groups is what the engine has in its state, and rubbish changes nothing of it."""

from tests.kit.live_group import owners_of
from tests.kit.observed_world import view_of
from tests.kit.world import state_of, world_of


def test_group_at_rest() -> None:
    """Owners and epochs of a group at rest are those of the engine's state."""
    world = world_of("c1", "c2", "c3")
    view, state = view_of(world), state_of(world)
    group = view.group("orders")
    assert group is not None
    owners = {each.queue: each.owner.client_id for each in group.queues if each.owner is not None}
    assert owners == owners_of(state)
    epochs = {queue: value.chain[-1].epoch for queue, value in state.queues.items()}
    assert {each.queue: each.newest.epoch for each in group.queues if each.newest} == epochs
    assert {each.state for each in group.queues} == {"held"}
    assert group.summary.epoch == state.epoch
    assert [each.group for each in view.groups()] == ["orders"]


def test_in_a_handover_the_successor_is_the_owner() -> None:
    """A queue that was dropped and not released has its successor for owner, and waits."""
    world = world_of("c1", "c2")
    world.join("c3", subscribed=tuple(world.queues))
    for shard in range(2):
        world.run(shard)
    group, state = view_of(world).group("orders"), state_of(world)
    assert group is not None
    moving = {queue for queue, value in state.queues.items() if len(value.chain) > 1}
    assert {each.queue for each in group.queues if each.state == "gated"} == moving
    assert group.summary.gated == len(moving) > 0
    assert group.summary.phase == "handing_over"
