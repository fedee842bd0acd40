"""What may be kept of all groups together, and how fast large heartbeats may fill it."""

from random import Random

import pytest

from fairlead.core.rules.quota import Quota
from fairlead.engine.admission import LETTERS_PER_SECOND
from tests.kit.client import Client
from tests.kit.memory_topics import PARTITIONS, shard_of
from tests.kit.replays import replayed
from tests.kit.shared_world import LONG, SHARE, Shared, begun, crowd, fat, near


def test_a_full_shard_still_takes_a_small_member() -> None:
    """Groups that took all the room grow no further; a small one still takes a member."""
    world = begun()
    groups = near("orders", 6)
    crowd(world, groups)
    share = world.kept_of_all(shard_of("orders"))
    # What comes before the next decision is let in: one member of each group. Its subscription is
    # kept twice, as its own and as the group's newest.
    assert SHARE <= share < 2 * len(groups) * LONG + 10_000
    assert world.counts["events/heartbeat/rejected"] == 2 * len(groups)
    letter = next(each for each in world.kinds("rejects") if each["reason"] == "quota_state_bytes")
    assert "the state of all groups has reached its limit" in letter["detail"]
    assert "groups.state_bytes" in letter["remedy"]
    world.join("c")
    world.pass_seconds(4)
    assert set(world.owners("orders").values()) == {"a", "b", "c"}
    late = next(name for name in near("orders", 7) if name not in groups)
    world.join("d", late)
    world.pass_seconds(1)
    assert not world.kept(late)
    world.topics.rule(late, "slots", "group")
    world.join("e", late)
    world.pass_seconds(4)
    assert world.kept(late)


def test_room_comes_back() -> None:
    """Who took it is silent for its lease, and others may grow again."""
    world = begun()
    crowd(world, near("orders", 6), lease_ms=10_000)
    world.pass_seconds(20)
    assert world.kept_of_all(shard_of("orders")) < SHARE
    Client(world.topics, "orders", "late").beat(**fat())
    world.topics.tick(1)
    world.run_all()
    assert world.kept("orders") > LONG - 2_000


def test_bytes_are_those_that_are_stored() -> None:
    """A text counts as it is written: four bytes for one of these letters."""
    world = Shared(quota=Quota(state_bytes=100_000))
    world.topics.tick(1)
    for number in range(12):
        Client(world.topics, "orders", f"m-{number}").beat(**fat("\U0001f600", 20))
    world.run_all()
    assert 90_000 < world.kept("orders") < 130_000
    assert world.counts["rejects/quota_state_bytes"] >= 6


def test_a_burst_in_one_batch() -> None:
    """Large heartbeats come at a pace, whoever writes them; a member's count for its lease."""
    world = begun(heartbeat_bytes_per_second=2 * LONG * PARTITIONS.shards)
    groups = near("orders", 30)
    for group in groups:
        Client(world.topics, group, "fat").beat(**fat())
    world.clients[0].beat(**fat())
    world.run_all()
    taken = sum(world.kept(group) > LONG - 2_000 for group in groups)
    assert 2 * 5 - 2 <= taken <= 2 * 5
    assert world.counts["rejects/quota_bytes"] == len(groups) - taken + 1
    assert world.counts["records/heartbeats/over_quota/refused"] == len(groups) - taken + 1
    assert world.kept("orders") < LONG
    for _ in range(12):
        world.topics.now_ms += 1_000
        world.topics.tick(1)
        for group in groups:
            Client(world.topics, group, "fat").beat(**fat())
        world.clients[0].beat(**fat())
        world.clients[1].beat()
        world.run_all()
    assert not world.counts["events/member/lapsed"]
    assert set(world.owners("orders").values()) == {"a", "b"}


def test_invented_groups_with_large_heartbeats() -> None:
    """Letters tell of a few: whoever invents names is not told of each."""
    world = begun(heartbeat_bytes_per_second=1_000)
    for group in near("orders", 60):
        Client(world.topics, group, "fat").beat(**fat())
    world.run_all()
    assert world.counts["rejects/quota_bytes"] == 60
    assert 0 < len(world.kinds("rejects")) <= LETTERS_PER_SECOND


def test_small_heartbeats_and_claims_are_no_large_ones() -> None:
    """However many they are, and however large what is said once."""
    world = begun(heartbeat_bytes_per_second=1_000)
    for number in range(30):
        world.join(f"small-{number}")
    world.topics.append_of("heartbeats", "orders", b" " * 6_000)
    world.pass_seconds(4)
    assert not world.counts["rejects/quota_bytes"]
    assert len(world.decisions[-1]["members"]) == 32


@pytest.mark.parametrize("number", range(3))
def test_a_replay_refuses_the_same(number: int) -> None:
    """However the records were cut into batches, and over a death of the driver."""
    chance = Random(number)
    world = begun(heartbeat_bytes_per_second=24_000)
    groups = [*near("orders", 5), *near("payments", 5)]
    for second in range(14):
        for group in chance.sample(groups, 4):
            said = {**fat(tags=chance.randrange(80)), "lease_ms": 10_000}
            Client(world.topics, group, f"fat-{chance.randrange(5)}").beat(**said)
        if second % 4 == 1:
            world.join(f"late-{second}")
        world.pass_seconds(1, chance)
        if second == 8:
            world.start_driver()
    world.pass_seconds(2)
    assert world.counts["rejects/quota_state_bytes"]
    assert world.counts["rejects/quota_bytes"]
    found = replayed(world)
    assert found.same, found
