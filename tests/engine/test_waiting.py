"""Notices of waiting go through whole shards: into state, topics and replays."""

from random import Random
from typing import Any

import orjson
import pytest

from fairlead.codec.shard import open_shard
from tests.kit.memory_topics import shard_of
from tests.kit.replays import compare_of, kill
from tests.kit.world import World

RUN = "3c6d7a52-51c9-4c56-8a4a-3b1f3e0c9d11"


def _sign(world: World, cluster: str = "main", state: str = "running") -> None:
    record = {"kind": "bridge", "cluster": cluster, "bridge": RUN, "state": state}
    world.topics.append("offsets", 0, orjson.dumps([cluster]), record | {"every_ms": 10_000})


def _absent(world: World) -> None:
    record = {"kind": "absent", "group": "orders", "topic": "returns", "cluster": "main"}
    world.topics.append("offsets", 0, b'["returns","orders"]', record)


def _told(world: World) -> list[tuple[str | None, str]]:
    told: list[dict[str, Any]] = [
        each for each in world.kinds("assignments") if each.get("code") == "waiting"
    ]
    return [(each["reason"], each["message"]) for each in told]


@pytest.mark.parametrize("seed", [1, 2])
def test_each_reason_to_wait_is_given_and_replayed(seed: int) -> None:
    """No bridge, no topic, a new engine, the topic: each has its notice, in any cut."""
    world, chance = World(), Random(seed)
    world.topics.tick(1)
    _sign(world)
    signed = "2026-06-09 10:13:20Z"
    world.join("c1", subscribed=("returns",))
    world.pass_seconds(16, chance)
    ((reason, message),) = _told(world)
    assert reason == "bridge"
    assert message.startswith("no bridge has answered for topic returns since 2026-06-09 10:13:2")
    assert message.endswith(f"that of cluster main last gave a sign of life at {signed}")
    _absent(world)
    world.pass_seconds(4, chance)
    assert [reason for reason, _ in _told(world)] == ["bridge", "topic"]
    kill(world, 10_000, 10_000)
    world.pass_seconds(4, chance)
    assert [reason for reason, _ in _told(world)] == ["bridge", "topic", "topic"]
    world.queues["returns"] = 2
    world.topics.route("returns", 2)
    world.pass_seconds(8, chance)
    assert [reason for reason, _ in _told(world)] == ["bridge", "topic", "topic", None]
    comparison = compare_of(world)
    assert str(comparison.difference) == "None"


@pytest.mark.parametrize("seed", [1, 2])
def test_a_life_under_rules(seed: int) -> None:
    """Drained, not designated, a new engine, named too: each has its notice, in any cut."""
    world, chance = World(), Random(seed)
    world.topics.tick(1)
    world.join("c1")
    world.topics.rule("orders", "drain", {"client_id": "c1"}, "c1")
    world.pass_seconds(8, chance)
    assert [reason for reason, _ in _told(world)] == ["drained"]
    world.topics.rule("orders", "designated", {"only": ["c2"]})
    world.topics.rule("orders", "drain", None, "c1")
    world.pass_seconds(4, chance)
    assert _told(world)[-1][0] == "designated"
    kill(world, 10_000, 10_000)
    world.pass_seconds(4, chance)
    assert [reason for reason, _ in _told(world)][-2:] == ["designated", "designated"]
    world.topics.rule("orders", "designated", {"only": ["c*"]})
    world.pass_seconds(8, chance)
    assert _told(world)[-1][0] is None
    comparison = compare_of(world)
    assert str(comparison.difference) == "None"


def test_signs_are_remembered() -> None:
    """Each shard keeps the newest sign of each cluster, of sixteen at most, over its bytes."""
    world = World()
    world.topics.tick(1)
    for number in range(20):
        world.topics.now_ms += 1_000
        _sign(world, f"cluster-{number:02}")
    _sign(world, "cluster-19", "stopped")
    world.run_all()
    at_ms = world.topics.now_ms
    for stored in world.stored.values():
        assert stored is not None
        bridges = open_shard(stored).header.bridges
        assert sorted(bridges) == [f"cluster-{number:02}" for number in range(4, 20)]
        assert bridges["cluster-19"] == (at_ms, "stopped")
    assert world.counts["records/offsets/bridge/applied"] == 21
    assert world.counts["records_read/offsets"] == 21


def test_an_absent_topic_concerns_its_own_shard() -> None:
    """That a topic is absent concerns the group that asked, in its own shard alone."""
    world = World()
    world.topics.tick(1)
    world.join("c1", subscribed=("returns",))
    world.run_all()
    _absent(world)
    world.run_all()
    for shard, stored in world.stored.items():
        assert stored is not None
        groups = list(open_shard(stored).slots)
        assert groups == (["orders"] if shard == shard_of("orders") else [])
    assert [reason for reason, _ in _told(world)] == ["topic"]
