"""A replay over a loss of the state: what began anew is replayed from where it began."""

from random import Random

import pytest

from fairlead.replay.shard_replay import cuts_of
from tests.kit.memory_topics import PARTITIONS
from tests.kit.replays import compare_of, decisions_of, live
from tests.kit.world import World


@pytest.mark.parametrize("window_ms", [603_000, 4_000])
def test_a_lost_and_rebuilt_state_replays(window_ms: int) -> None:
    """A state that was lost and rebuilt, and one that was put back after, come out of the loop."""
    world = World()
    chance = Random(window_ms)
    world.topics.tick(1)
    live(world, 9, chance)
    stored, read = dict(world.stored), dict(world.read)
    world.lose_state(window_ms)
    live(world, 9, chance, first=9)
    world.start_driver()
    live(world, 20, chance, first=18)
    comparison = compare_of(world)
    assert str(comparison.difference) == "None"
    assert comparison.generations == 3
    begun = [cut.origin.generation if cut.origin else 1 for cut in cuts_of(decisions_of(world))]
    assert set(begun) == {1, 2}
    world.lose_state(window_ms)
    live(world, 18, chance, first=38)
    world.stored, world.read = stored, read
    world.start_driver()
    live(world, 6, chance, first=56)
    comparison = compare_of(world)
    assert str(comparison.difference) == "None"
    assert comparison.generations == 5


def test_a_loss_in_the_midst_of_a_batch() -> None:
    """What a driver wrote before it was killed and its checkpoint lost is explained as well."""
    world = World()
    chance = Random(9)
    world.topics.tick(1)
    live(world, 9, chance)
    for shard in range(PARTITIONS.shards):
        world.join(f"late-{shard}", ("orders", "group-1")[shard])
        world.run(shard, killed_after=10_000)
    world.lose_state()
    live(world, 20, chance, first=9)
    comparison = compare_of(world)
    assert str(comparison.difference) == "None"
    assert comparison.generations == 2
