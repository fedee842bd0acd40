"""The runs in which another clock takes a living client for dead, played with the shard's own.

Rows CE10 and CE11 of the counter-examples: a batch whose ends were fixed long before it runs,
batches that read a little of a backlog each, and a leader whose clock is behind. The clock of the
log cannot run ahead of what was read.
"""

from random import Random

from tests.kit.memory_topics import PARTITIONS, shard_of
from tests.kit.world import World

GROUP = "orders"


def _settled() -> World:
    world = World()
    for client_id in ("a", "b"):
        world.join(client_id)
    world.pass_seconds(6)
    assert set(world.owners(GROUP).values()) == {"a", "b"}
    return world


def _unread(world: World, seconds: int) -> None:
    """Let time pass in which the driver ticks, clients heartbeat, and nothing is read."""
    for second in range(seconds):
        world.topics.now_ms += 1_000
        world.topics.tick(world.generation)
        if second % 3 == 0:
            for client in world.clients:
                client.beat()


def _nobody_expired(world: World) -> bool:
    world.deliver()
    triggers = {each for decision in world.decisions for each in decision["triggers"]}
    return "client_expired" not in triggers and set(world.owners(GROUP).values()) == {"a", "b"}


def test_ce10_a_batch_that_stalls_between_its_ends_and_its_run() -> None:
    """What is appended after the ends were fixed is not read: time that passed since counts not."""
    world = _settled()
    shard = shard_of(GROUP)
    world.run(shard, killed_after=0)
    _unread(world, 60)
    world.run(shard)
    assert _nobody_expired(world)
    world.run_all()
    assert _nobody_expired(world)


def test_ce11_a_backlog_that_is_read_a_little_at_a_time() -> None:
    """A heartbeat that is in the log behind other records is read before its member can lapse."""
    for seed in range(5):
        world, chance = _settled(), Random(seed)
        _unread(world, 90)
        for _ in range(40):
            for shard in range(PARTITIONS.shards):
                world.run(shard, chance=chance)
            assert _nobody_expired(world)


def test_ce11b_two_batches_the_second_of_which_stalls() -> None:
    """The batch before has read everything, the stalled one reads nothing new: nobody lapses."""
    world = _settled()
    shard = shard_of(GROUP)
    world.run(shard)
    world.run(shard, killed_after=0)
    _unread(world, 30)
    world.run(shard)
    assert _nobody_expired(world)


def test_ce11c_a_leader_whose_clock_is_a_tick_behind() -> None:
    """The partition moves to a broker behind and back within a lease: the margin bears it."""
    world = _settled()
    for _ in range(4):
        world.pass_seconds(5)
        world.topics.now_ms -= 1_000
        world.pass_seconds(5)
        world.topics.now_ms += 1_000
    assert _nobody_expired(world)


def test_ce10_who_is_dead_lapses_all_the_same() -> None:
    """The clock of the log goes on with the driver's ticks, so a silent client is found."""
    world = _settled()
    world.clients[0].gone = True
    world.pass_seconds(20)
    assert set(world.owners(GROUP).values()) == {"b"}
