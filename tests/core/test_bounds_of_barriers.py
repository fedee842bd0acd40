"""Words of several clients in one barrier: what cannot be believed takes nothing from others."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from random import Random

import pytest

from fairlead.core.model import Epoch, MemberKey, Position
from fairlead.core.positions.bounds import DOUBTS_MAX, doubt_in_barrier
from fairlead.core.state import Doubt, QueueState
from tests.kit.group_world import GroupWorld
from tests.kit.one_queue import ABSURD, FIRST, owned_by_a

LATER = Epoch(1, 9)
"""Of a grant that the state does not know."""


def _base(world: GroupWorld) -> Position | None:
    assert world.state is not None
    return world.state.queues[FIRST].base


def _after_a_lie(how: str, identity: str | None, lie: int | Position) -> GroupWorld:
    """Return a world behind a barrier in which b came to 80, stopped, and a lie says more.

    The state is one of before b's grant.
    """
    world = owned_by_a()
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


def _recovering_with_a_reset(how: str, told: int | Position, identity: str | None) -> GroupWorld:
    """Return a world that recovers, in which a stopped at `told` and a reset to 70 was read."""
    world = owned_by_a()
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


def _told_in_a_barrier(positions: Sequence[int]) -> GroupWorld:
    """Return a world behind a barrier in which b told these positions, one after the other."""
    world = owned_by_a()
    world.progress("a", 0, world.epoch_of(0), 50, end=100)
    world.run()
    world.driver(2)
    world.beat("a")
    world.beat("b")
    for position in positions:
        world.progress("b", 0, LATER, position, identity="one")
        world.run()
    for client in "ab":
        world.claims(client)
    world.run()
    world.run()
    assert world.state is not None
    assert world.state.barrier is None
    return world


@pytest.mark.parametrize("positions", [(120, 110), (110, 120), (120, ABSURD), (120, 110, 120)])
def test_no_word_of_a_barrier_takes_the_place_of_another(positions: Sequence[int]) -> None:
    """Whoever told 120 before 110 or an absurd offset came to 120: its group goes on from there."""
    world = _told_in_a_barrier(positions)
    assert _base(world) == Position(0, 50)
    world.bounds(1, last=150)
    world.run()
    assert _base(world) == Position(0, 120)


def test_the_order_of_the_words_of_a_barrier_decides_nothing() -> None:
    """Words are put aside in any order, and more often than once, to the same state."""
    world = owned_by_a()
    world.progress("a", 0, world.epoch_of(0), 50, end=100)
    world.run()
    assert world.state is not None
    queue = world.state.queues[FIRST]
    a, b = (MemberKey(client, "1") for client in "ab")
    words = [
        *((a, LATER, Position(0, 100 + more)) for more in range(1, DOUBTS_MAX + 3)),
        *((b, LATER, Position(0, 100 + more)) for more in (1, 2, 900)),
        (b, Epoch(1, 8), Position(0, 101)),
    ]

    def put_aside(order: Iterable[tuple[MemberKey, Epoch, Position]]) -> QueueState:
        return reduce(lambda value, word: doubt_in_barrier(value, *word), order, queue)

    expected = put_aside(words)
    assert len(expected.doubts) == DOUBTS_MAX
    for seed in range(50):
        order = Random(seed).choices(words, k=30) + Random(seed).sample(words, len(words))
        assert put_aside(order) == expected


def test_all_words_put_aside_have_one_bound() -> None:
    """Claims of a barrier take the places that other words leave, and no more."""
    world = owned_by_a()
    world.progress("a", 0, world.epoch_of(0), 50, end=100)
    world.run()
    assert world.state is not None
    a = MemberKey("a", "1")
    others = tuple(
        Doubt(a, LATER, Position(0, 200 + more), "release", None) for more in range(DOUBTS_MAX - 2)
    )
    queue = replace(world.state.queues[FIRST], doubts=others)
    for more in range(5):
        queue = doubt_in_barrier(queue, a, LATER, Position(0, 105 - more))
    assert queue.doubts[: len(others)] == others
    assert [each.position.offset for each in queue.doubts[len(others) :]] == [101, 102]
