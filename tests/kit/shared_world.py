"""Worlds whose groups share a bounded room, and what fills it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairlead.codec.shard import open_shard
from fairlead.core.rules.group_rules import GroupRules
from fairlead.core.rules.quota import BUILT_IN, Quota
from fairlead.engine.context import ShardContext
from tests.kit.client import Client
from tests.kit.memory_topics import PARTITIONS, START_MS, shard_of
from tests.kit.world import World, settle_two, state_of, with_rules

SHARE = 60_000


LONG = 20_000


@dataclass(slots=True)
class Shared(World):
    """A world whose shards may hold so many bytes each; a group by itself may have them all."""

    quota: Quota = BUILT_IN
    heartbeat_bytes_per_second: int = 0

    def context(self, shard: int) -> ShardContext:
        """Return the driver's context with that quota."""
        return with_rules(
            World.context(self, shard),
            defaults=GroupRules(quota=self.quota),
            state_bytes=SHARE * PARTITIONS.shards,
            heartbeat_bytes_per_second=self.heartbeat_bytes_per_second,
        )

    def kept(self, group: str) -> int:
        """Return how many bytes of a group are stored."""
        stored = self.stored[shard_of(group)]
        assert stored is not None
        slot = open_shard(stored).slots.get(group)
        return 0 if slot is None else len(slot.body)

    def kept_of_all(self, shard: int) -> int:
        """Return how many bytes are stored of all groups of a shard."""
        stored = self.stored[shard]
        assert stored is not None
        return sum(len(slot.body) for slot in open_shard(stored).slots.values())


def begun(**fields: Any) -> Shared:
    """Return a world with one group of two members that has settled."""
    world = Shared(**fields)
    settle_two(world)
    return world


def fat(letter: str = "x", tags: int = 80) -> Mapping[str, Any]:
    """Return what a member says that subscribes to so many tags of 240 letters: about 20 KB."""
    said = {"topic": "orders", "expression_type": "tag", "expression": "", "sub_version": START_MS}
    return {"subscriptions": [{**said, "tags": [f"{n:03d}{letter * 237}" for n in range(tags)]}]}


def near(group: str, number: int) -> list[str]:
    """Return names of so many groups of the same shard."""
    names = (f"near-{each:04d}" for each in range(10_000))
    same = (name for name in names if shard_of(name) == shard_of(group))
    return [next(same) for _ in range(number)]


def crowd(world: World, groups: list[str], *, lease_ms: int = 60_000) -> None:
    """In each of these groups three members say as much as they like, one after another."""
    for member in range(3):
        for group in groups:
            said = {**fat(), "lease_ms": lease_ms}
            Client(world.topics, group, f"fat-{member}").beat(**said)
        world.topics.now_ms += 1_000
        world.topics.tick(world.generation)
        world.run_all()


def part_of(world: World) -> int:
    """Return what a group of the shard of orders may grow to; 0: there is room."""
    stored = world.stored[shard_of("orders")]
    assert stored is not None
    return open_shard(stored).header.group_bytes


def held_open(**fields: Any) -> Shared:
    """Return a world whose barrier waits for its first member, for longer than anybody lives."""
    world = begun(**fields)
    world.pass_seconds(30)
    world.generation += 1
    world.topics.tick(world.generation)
    world.clients[1].claim(world.generation)
    world.clients[0].generation = world.generation - 1
    world.pass_seconds(62)
    assert state_of(world).barrier is not None
    return world
