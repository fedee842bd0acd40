"""A group goes over and back in a whole engine: one owner, the same replay, nothing to judge."""

from pathlib import Path
from random import Random

import pytest

from tests.kit.followers import FollowerWorld
from tests.kit.judgements import judged, told_by
from tests.kit.memory_topics import shard_of
from tests.kit.recordings import record
from tests.kit.replays import compare_of

pytestmark = pytest.mark.slow


def _until(world: FollowerWorld, footing: str, chance: Random, seconds: int = 60) -> None:
    for _ in range(seconds):
        if world.decisions and world.footing() == footing:
            return
        world.go_on(1, chance)
    raise AssertionError(f"{world.footing()} after {seconds} s, not {footing}")


def _taken_over(chance: Random, ahead_ms: int = 0) -> FollowerWorld:
    """Return a group whose consumers were attached one after another."""
    world = FollowerWorld(ahead_ms=ahead_ms)
    world.topics.tick(1)
    world.cluster.ids |= {"10.0.0.b@0", "10.0.0.c@0"}
    world.follow("a")
    world.go_on(8, chance)
    assert world.footing() == "following"
    for client in "bc":
        world.cluster.ids.discard(f"10.0.0.{client}@0")
        world.follow(client)
        world.go_on(5, chance)
    _until(world, "own", chance)
    return world


def _kill(world: FollowerWorld, written: int) -> None:
    """The driver dies after so many records of the group's batch; another one starts."""
    world.topics.now_ms += 200
    for each in world.followers:
        each.beat()
    world.run(shard_of("orders"), killed_after=written)
    world.start_driver()
    for each in world.followers:
        each.beat()


def _check_records(world: FollowerWorld, folder: Path) -> None:
    comparison = compare_of(world)
    assert str(comparison.difference) == "None"
    assert told_by(judged(record(world, folder))) == ""


@pytest.mark.parametrize("seed, ahead_ms", [(1, 0), (2, 3_600_000), (3, -3_600_000)])
def test_over_and_back_in_any_cut(seed: int, ahead_ms: int, tmp_path: Path) -> None:
    """All are attached, the group goes over and back, whatever the bridge's clock says (H32)."""
    chance = Random(seed)
    world = _taken_over(chance, ahead_ms)
    assert sorted(world.owners("orders")) == [0, 1, 2, 3]
    world.followers[0].die()
    world.go_on(25, chance)
    world.follow("d")
    world.go_on(10, chance)
    assert sorted(world.owners("orders")) == [0, 1, 2, 3]
    world.topics.rule("orders", "take_over", "never")
    _until(world, "following", chance)
    world.go_on(4, chance)
    assert {each.state for each in world.followers} == {"follow"}
    assert set.union(*(each.works for each in world.followers)) == {
        ("orders", "main", number) for number in range(4)
    }
    _check_records(world, tmp_path)


@pytest.mark.parametrize("seed", range(6))
def test_drivers_die_on_the_way(seed: int, tmp_path: Path) -> None:
    """A driver dies after some records of a batch, at any footing: the next one goes on or back."""
    chance = Random(seed)
    world = FollowerWorld()
    world.topics.tick(1)
    for client in "abc":
        world.follow(client)
    for _ in range(4):
        world.go_on(chance.randint(1, 12), chance)
        _kill(world, chance.randint(0, 6))
    _until(world, "own", chance, 90)
    assert sorted(world.owners("orders")) == [0, 1, 2, 3]
    world.topics.rule("orders", "take_over", "never")
    world.go_on(chance.randint(0, 3), chance)
    _kill(world, chance.randint(0, 6))
    _until(world, "following", chance)
    world.go_on(4, chance)
    assert {each.state for each in world.followers} == {"follow"}
    _check_records(world, tmp_path)


def test_a_lost_state_on_the_way() -> None:
    """The state is lost while the group goes over: it follows again, and goes over once more."""
    chance = Random(7)
    world = FollowerWorld()
    world.topics.tick(1)
    for client in "ab":
        world.follow(client)
    _until(world, "freezing", chance)
    world.lose_state()
    world.go_on(30, chance)
    _until(world, "own", chance)
    world.lose_state()
    world.go_on(30, chance)
    _until(world, "own", chance)
    assert sorted(world.owners("orders")) == [0, 1, 2, 3]
