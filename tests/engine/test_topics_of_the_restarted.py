"""A client that restarts in a full shard, and alone reads a topic of its group."""

from tests.kit.replays import replayed
from tests.kit.shared_world import Shared, crowd, near, part_of
from tests.kit.world import state_of


def test_who_restarts_gets_its_topic_back_in_a_full_shard() -> None:
    """Whoever took the room of all takes no topic from a client that was there just now."""
    world = Shared()
    world.topics.tick(1)
    world.join("a")
    leaver = world.join("p", subscribed=("payments",))
    world.pass_seconds(6)
    assert {queue[0] for queue in leaver.held} == {"payments"}
    crowd(world, near("orders", 6))
    assert part_of(world)
    leaver.gone = True
    leaver.leave()
    world.pass_seconds(3)
    again = world.join("p", life=2, subscribed=("payments",))
    world.pass_seconds(30)
    assert part_of(world)
    assert "p" in {key.client_id for key in state_of(world).members}
    assert {queue[0] for queue in again.held} == {"payments"}
    assert replayed(world).same
