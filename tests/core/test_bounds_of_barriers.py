"""Words of several clients in one barrier: what cannot be believed takes nothing from others."""

import pytest

from fairlead.core.model import Epoch, Position
from tests.core.test_bounds import ABSURD, FIRST, _owned
from tests.core.world import World

LATER = Epoch(1, 9)
"""Of a grant that the state does not know."""


def _base(world: World) -> Position | None:
    assert world.state is not None
    return world.state.queues[FIRST].base


def _after_a_lie(how: str, identity: str | None, lie: int | Position) -> World:
    """Return a world behind a barrier in which b came to 80, stopped, and a lie says more.

    The state is one of before b's grant.
    """
    world = _owned()
    held = world.epoch_of(0)
    world.progress("a", 0, held, 50, end=100)
    world.run()
    world.driver(2)
    world.beat("a")
    world.beat("b")
    if how == "release":
        world.release("b", 0, LATER, 80, identity=identity)
        world.release("a", 0, held, lie, identity=identity)
    if how == "progress":
        world.progress("b", 0, LATER, 80, identity=identity)
        world.progress("a", 0, held, lie, identity=identity)
    world.claims("a")
    if how == "claims":
        world.claims("b", (0, LATER, 80, False), (0, held, lie, False), identity=identity)
    else:
        # What it has told besides may have been of a life before.
        world.claims("b")
    world.run()
    world.run()
    assert world.state is not None
    assert world.state.barrier is None
    return world


@pytest.mark.parametrize("identity", [None, "one"])
@pytest.mark.parametrize("how", ["progress", "release", "claims"])
@pytest.mark.parametrize("lie", [ABSURD, Position(999, 70)])
def test_a_lie_in_a_barrier_hides_no_true_word(
    how: str, identity: str | None, lie: int | Position
) -> None:
    """The queue goes on from the last believable position, not from before the barrier."""
    world = _after_a_lie(how, identity, lie)
    assert _base(world) == Position(0, 80)
    for _ in range(2):
        world.pass_time(1_000)
        world.bounds(1, last=100)
        world.run()
    assert _base(world) == Position(0, 80)


def _recovering_with_a_reset(how: str, told: int | Position, identity: str | None) -> World:
    """Return a world that recovers, in which a stopped at `told` and a reset to 70 was read."""
    world = _owned()
    held = world.epoch_of(0)
    world.progress("a", 0, held, 50, end=100)
    world.run()
    world.driver(2)
    world.recovering = True
    world.reset(0, 70)
    world.beat("a")
    world.run()
    if how == "release":
        world.release("a", 0, LATER, told, identity=identity)
    if how == "progress":
        world.progress("a", 0, LATER, told, identity=identity)
    stopped = how != "running"
    claimed = told if how in ("claims", "running") else 50
    world.claims("a", (0, held if not stopped else LATER, claimed, not stopped), identity=identity)
    world.run()
    for _ in range(5):
        world.pass_time(3_000)
        world.beat("a")
        world.run()
    assert world.state is not None
    assert world.state.barrier is None
    return world


@pytest.mark.parametrize("identity", [None, "one"])
@pytest.mark.parametrize("how", ["claims", "progress", "release", "running"])
@pytest.mark.parametrize("told", [120, Position(999, 70), Position(1, 120)])
def test_a_reset_outlasts_what_is_doubted(
    how: str, identity: str | None, told: int | Position
) -> None:
    """Nobody knows in a recovery whether a reset was followed: it is not lost beside a doubt."""
    world = _recovering_with_a_reset(how, told, identity)
    for _ in range(3):
        world.pass_time(1_000)
        world.bounds(1, last=150)
        world.beat("a")
        world.run()
    followed = Position(1, 120) if told == Position(1, 120) else Position(1, 70)
    assert _base(world) == followed
    assert world.state is not None
    assert world.state.queues[FIRST].asked is None
    assert world.owned("a") == [0]
