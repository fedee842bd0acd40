"""An acknowledgement that comes after its barrier was passed without it."""

from tests.kit.group_world import GroupWorld, key_of, queue_of, settled


def passed_without(client: str) -> GroupWorld:
    """Return a world whose barrier was passed without a mute client, which was granted again."""
    world = settled(client, queues=1)
    world.rule("on_mute", "force")
    world.run()
    world.driver(2)
    for _ in range(14):
        world.beat(client)
        world.run()
        world.pass_time(2_700)
    assert world.state is not None
    assert world.state.barrier is None
    return world


def test_a_late_claim_of_a_grant_of_this_generation_takes_nothing_away() -> None:
    """What was granted since the barrier is no leftover of before it, though the claim is late."""
    world = passed_without("a")
    held = world.epoch_of(0)
    assert held.generation == 2
    world.claims("a", (0, held, 7, True))
    world.run()
    assert world.state is not None
    value = world.state.queues[queue_of(0)]
    assert [(grant.member, grant.epoch, grant.dropped) for grant in value.chain] == [
        (key_of("a"), held, False)
    ]
    assert value.overtaken == ()
