"""A state that was put back from before its group was made, where only rules make groups."""

from dataclasses import dataclass

from fairlead.engine.context import ShardContext
from tests.kit.memory_topics import NAMES, shard_of
from tests.kit.replays import replayed
from tests.kit.world import World, with_rules


@dataclass(slots=True)
class _Ruled(World):
    """A world in which no heartbeat makes a group."""

    def context(self, shard: int) -> ShardContext:
        """Return the driver's context: groups are made by rules alone."""
        return with_rules(World.context(self, shard), auto_create=False)


def test_whoever_works_in_a_group_of_a_rule_that_is_read_late_is_asked_first() -> None:
    """The marker and all heartbeats before it may be read in a batch before the rule."""
    world = _Ruled()
    world.topics.tick(1)
    world.topics.rule("group-1", "slots", "subscribers")
    world.join("z", "group-1")
    world.pass_seconds(3)
    stored, read = dict(world.stored), dict(world.read)
    world.topics.rule("orders", "slots", "subscribers")
    world.pass_seconds(1)
    world.join("a")
    world.join("b")
    world.pass_seconds(6)
    assert world.owners("orders") == {0: "a", 1: "a", 2: "b", 3: "b"}
    world.stored, world.read = stored, read
    world.topics.now_ms += 1_000
    world.join("c")
    world.generation += 1
    shard = shard_of("orders")
    world.topics.tick(
        world.generation, control_end=len(world.topics.rows[NAMES.name("control"), shard])
    )
    for client in world.clients:
        client.claim(world.generation)
    world.hold_back("control", shard)
    world.run_all()
    for _ in range(20):
        world.pass_seconds(1)
        world.owners("orders")
    assert set(world.owners("orders").values()) == {"a", "b", "c"}
    assert replayed(world).same


def test_a_group_that_no_rule_made_is_forgotten_once_all_rules_are_read() -> None:
    """Until then its words are kept: a rule might have made it. Nobody in it is given anything."""
    world = _Ruled()
    world.topics.tick(1)
    world.pass_seconds(3)
    world.join("a", "nobodys")
    world.generation += 1
    shard = shard_of("nobodys")
    world.topics.rule("group-1", "slots", "subscribers")
    end = len(world.topics.rows[NAMES.name("control"), shard])
    world.topics.tick(world.generation, control_end=end)
    world.hold_back("control", shard)
    world.run_all()
    assert [each["group"] for each in world.kinds("decisions")] == ["nobodys"]
    world.pass_seconds(40)
    causes = [each["triggers"] for each in world.kinds("decisions") if each["group"] == "nobodys"]
    assert causes[-1] == ["group_evicted"]
    assert len(causes) == 2
    assert not world.kinds("assignments")
    assert {each["reason"] for each in world.kinds("rejects")} == {"unknown_group"}
    assert replayed(world).same
