"""Who comes into a barrier that is held open, when whoever may be working was heard already."""

from tests.kit.group_world import GroupWorld, settled


def _held_open() -> GroupWorld:
    """Return a world whose barrier waits for a, which heartbeats, for longer than anybody lives."""
    world = settled("a", "b")
    world.rule("quota", {"members": 2})
    world.run()
    world.driver(2)
    world.claims("b", *((number, world.epoch_of(number), 5, True) for number in (2, 3)))
    world.run()
    _pass_seconds(world, 15, "a", "b")
    return world


def _pass_seconds(world: GroupWorld, seconds: int, *clients: str) -> None:
    for _ in range(0, seconds, 3):
        world.pass_time(3_000)
        for client in clients:
            world.beat(client)
        world.run()


def test_whoever_was_refused_at_first_holds_no_barrier_for_good() -> None:
    """A client acknowledges once, behind its first heartbeat: it may be none of a member then."""
    world = _held_open()
    world.beat("c")
    world.claims("c")
    world.run()
    world.leave("b", last_started=world.epoch_of(2))
    for number in (2, 3):
        world.release("b", number, world.epoch_of(number), 5)
    world.run()
    # What b left makes room: the next heartbeat of c is taken.
    world.rule("quota", {"members": 3})
    _pass_seconds(world, 6, "a", "c")
    assert world.state is not None
    assert len(world.state.members) == 3
    world.claims("a", *((number, world.epoch_of(number), 5, True) for number in (0, 1)))
    _pass_seconds(world, 60, "a", "c")
    assert world.state.barrier is None
    assert world.owned("c") == [2, 3]
