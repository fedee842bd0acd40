"""A state that was put back from before a group was made: its members may work all the same."""

from random import Random

import pytest

from tests.kit.replays import replayed
from tests.kit.world import World


def _put_back_from_before_its_group() -> World:
    """Return a world in which the engine has forgotten a group that works, and starts anew."""
    world = World()
    world.topics.tick(1)
    world.join("z", "group-1")
    world.pass_seconds(3)
    stored, read = dict(world.stored), dict(world.read)
    world.join("a")
    world.join("b")
    world.pass_seconds(6)
    assert world.owners("orders") == {0: "a", 1: "a", 2: "b", 3: "b"}
    world.stored, world.read = stored, read
    world.topics.now_ms += 1_000
    world.join("c")
    world.start_driver()
    return world


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_whoever_works_in_a_forgotten_group_is_asked_first(seed: int | None) -> None:
    """Its heartbeats and the marker may stand in one batch: it waits for their claims as ever."""
    world = _put_back_from_before_its_group()
    chance = None if seed is None else Random(seed)
    for _ in range(20):
        world.pass_seconds(1, chance)
        world.owners("orders")
    assert set(world.owners("orders").values()) == {"a", "b", "c"}
    assert replayed(world).same


def test_a_group_that_is_new_waits_for_nobody() -> None:
    """Who joins behind the marker of a driver makes a group that no other driver can know."""
    world = World()
    world.topics.tick(1)
    world.pass_seconds(3)
    world.start_driver()
    world.topics.now_ms += 100
    world.join("a")
    world.pass_seconds(3)
    triggers = [word for entry in world.decisions for word in entry["triggers"]]
    assert "generation_started" not in triggers
    assert world.owners("orders") == dict.fromkeys(range(4), "a")
