"""Positions and resets that name the identity of their topic, read by states that do not know it.

A state that was lost or put back knows neither the identity of a topic nor the records about it.
If it takes a position of a former identity for one of the present one, the group skips messages.
If it ignores a position of the present identity, the group reads messages again (rule H28).
"""

import pytest

from fairlead.core.model import Epoch, MemberProfile, Position
from fairlead.core.outputs import Rejection
from tests.kit.group_world import GroupWorld, queue_of, settled

WAIT_MS = 13_000
"""Lease and margin of the defaults."""
HELD = Epoch(1, 2)
LATER = Epoch(2, 3)


def starts(world: GroupWorld, client: str = "b") -> list[tuple[Position, str]]:
    """Return (position, why) of each add that the last run wrote for a client."""
    return [(add.position, add.why) for add in world.adds(client)]


def outlast(world: GroupWorld, *, holds: bool = False) -> None:
    """Let lease and margin pass; a client that holds nothing acknowledges meanwhile."""
    for _ in range(2):
        world.pass_time(WAIT_MS // 2 + 1)
        world.beat("b")
        if not holds:
            world.claims("b")
        world.run()


def recover(world: GroupWorld) -> None:
    """Let the barrier of a client that holds nothing end, and bounds be told."""
    outlast(world)
    world.bounds(1, identity="two")
    world.run()


def lost(reset: str | None = None) -> GroupWorld:
    """Return a world whose driver has begun without state, met one client and read a route.

    `reset` is the identity for which a reset was asked that the driver has read before the route.
    """
    world = GroupWorld()
    world.lose(3)
    if reset is not None:
        world.reset(0, 24, identity=reset)
    world.beat("b")
    world.run()
    world.route(1, identity="two")
    return world


def test_after_a_loss_a_former_identity_is_no_start() -> None:
    """After a loss only positions that name the present identity count (rule H28)."""
    world = lost()
    world.progress("a", 0, LATER, 50, identity="one")
    world.release("a", 0, LATER, 51, identity="one")
    world.run()
    recover(world)
    assert starts(world) == [(Position(0, 0), "minimum")]


def test_after_a_loss_the_present_identity_counts_whoever_was_granted_later() -> None:
    """A driver that knew of no new topic may have granted under newer epochs."""
    world = lost()
    world.progress("a", 0, HELD, 20, identity="two")
    world.release("c", 0, LATER, 51, identity="one")
    world.run()
    outlast(world)
    assert starts(world) == [(Position(0, 20), "progress")]


def test_an_owner_of_a_former_identity_is_dropped_when_the_recovery_ends() -> None:
    """What it reads is gone, and its release is no start."""
    world = lost()
    world.claims("b", (0, LATER, 50, True), identity="one")
    world.run()
    outlast(world, holds=True)
    assert [drop.epoch for drop in world.told("b").drop] == [LATER]
    world.release("b", 0, LATER, 52, identity="one")
    world.bounds(1, identity="two")
    world.run()
    assert starts(world) == [(Position(0, 0), "minimum")]


def test_an_owner_goes_on_until_its_route_is_known() -> None:
    """The identity that it names is compared with the route, even when that comes after the end."""
    world = GroupWorld()
    world.lose(3)
    world.beat("b")
    world.claims("b", (0, LATER, 50, True), identity="one")
    world.run()
    outlast(world, holds=True)
    assert world.state is not None
    assert world.state.queues[queue_of(0)].identity == "one"
    world.route(1, identity="two")
    world.run()
    assert [drop.epoch for drop in world.told("b").drop] == [LATER]


def test_an_older_state_hears_the_new_identity_before_its_route() -> None:
    """A topic recreated after the state was kept goes on where it was, with its owner."""
    world = settled("b", queues=2)
    world.driver(3)
    world.progress("a", 1, LATER, 20, identity="two")
    world.claims("b", (0, LATER, 40, True), identity="two")
    world.route(2, identity="two")
    world.run()
    assert world.told("b").drop == ()
    assert starts(world) == [(Position(0, 20), "progress")]


@pytest.mark.parametrize("identity", ["one", None])
@pytest.mark.parametrize("late", [True, False], ids=["told after the bounds", "told before"])
@pytest.mark.parametrize("word", ["progress", "release"])
def test_an_older_state_begins_where_work_was_told(
    word: str, identity: str | None, *, late: bool
) -> None:
    """A client that is gone, and claims nothing, had begun: the group begins there, not anew."""
    world = GroupWorld()
    world.beat("b", profile=MemberProfile(consume_from="last_offset"))
    world.run()
    world.driver(2)
    tell = getattr(world, word)
    if not late:
        tell("a", 0, HELD, 20, identity=identity)
        world.run()
    world.route(1)
    world.bounds(1, last=100)
    world.run()
    if late:
        tell("a", 0, HELD, 20, identity=identity)
        world.run()
    world.claims("b")
    world.run()
    assert starts(world) == [(Position(0, 20), word)]


def test_a_reset_of_a_former_identity_is_followed_in_no_other() -> None:
    """After a loss a reset of a former identity is read again and ignored (rule H28)."""
    world = lost(reset="one")
    world.run()
    recover(world)
    assert starts(world) == [(Position(0, 0), "minimum")]


def test_a_reset_of_the_present_identity_is_followed_after_a_loss() -> None:
    """It waits for the route, and then for what the group committed."""
    world = lost(reset="two")
    world.run()
    recover(world)
    assert starts(world) == [(Position(1, 24), "reset")]


def test_a_reset_is_read_before_the_route_of_its_identity() -> None:
    """Whatever the clocks of brokers say, the identity tells for which identity it was asked."""
    world = settled("b", queues=1)
    held = world.epoch_of(0)
    world.reset(0, 7, identity="two")
    world.run()
    assert world.outputs == ()
    world.pass_time(10)
    world.route(1, identity="two")
    world.run()
    world.release("b", 0, held, 50, identity="one")
    world.bounds(1, identity="two")
    world.run()
    assert starts(world) == [(Position(1, 7), "reset")]


def test_a_reset_of_a_queue_that_is_nowhere_is_refused() -> None:
    """Whoever writes a reset for a mistyped queue gets a refusal, and the engine forgets it."""
    world = settled("b", queues=1)
    world.reset(9, 7)
    result = world.run()
    [refused] = [output for output in world.outputs if isinstance(output, Rejection)]
    assert (refused.reason, refused.field) == ("unknown_queue", "queue")
    assert result.counts["reset", "rejected"] == 1
    assert world.state is not None
    assert queue_of(9) not in world.state.queues


def test_a_reset_of_a_queue_that_comes_with_its_route_is_followed() -> None:
    """Control is applied before routes: the queue is looked for when all was read."""
    world = settled("b", queues=1)
    world.reset(1, 7)
    world.route(2)
    result = world.run()
    assert result.counts["reset", "applied"] == 1
    world.bounds(2)
    world.run()
    assert starts(world) == [(Position(1, 7), "reset")]
