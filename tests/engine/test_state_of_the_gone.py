"""What is kept of members that are gone, what a heartbeat really adds, and who may come back."""

from random import Random

import pytest

from fairlead.core.rules.group_rules import GroupRules
from fairlead.core.rules.quota import Quota
from fairlead.engine.context import ShardContext
from tests.kit.client import Client
from tests.kit.memory_topics import START_MS
from tests.kit.replays import replayed
from tests.kit.shared_world import SHARE, Shared, begun, crowd, fat, near, part_of
from tests.kit.world import World, state_of, with_rules


def come_and_go(world: World, rounds: int, *, group: str = "orders") -> None:
    """In each second fifty clients join a group and leave it at once, under names of their own."""
    for number in range(rounds * 50):
        client = Client(world.topics, group, f"{number}-{'x' * 200}")
        client.beat()
        client.leave()
        if number % 50 == 49:
            world.pass_seconds(1)


def test_who_is_gone_is_forgotten() -> None:
    """After twice its lease nothing is left of a member, also in a group that is quiet."""
    world = begun()
    before = world.kept("orders")
    come_and_go(world, 2)
    assert len(state_of(world).tombstones) == 100
    world.pass_seconds(90)
    assert not state_of(world).tombstones
    assert world.kept("orders") < before + 100


def test_who_is_gone_takes_room() -> None:
    """Clients that come and go fill a shard no further than others, and it is full no longer."""
    world = begun()
    come_and_go(world, 12)
    assert part_of(world)
    assert world.kept("orders") < 1.5 * SHARE
    assert world.counts["rejects/quota_state_bytes"]
    decided = len(world.decisions)
    world.pass_seconds(90)
    assert not part_of(world)
    # Nothing else has happened: it is looked at because somebody was forgotten in a full shard.
    assert [each["triggers"] for each in world.decisions[decided:]] == [["trigger"]]
    late = near("orders", 1)[0]
    world.join("d", late)
    world.pass_seconds(3)
    assert world.kept(late)


@pytest.mark.parametrize("leaves", [True, False])
def test_a_restart_in_a_full_shard(*, leaves: bool) -> None:
    """Who was there comes back, in a group above its part; no new client, and no large one."""
    world = begun()
    former = [world.join(f"m-{number:02d}") for number in range(30)]
    world.pass_seconds(4)
    crowd(world, near("orders", 6), lease_ms=600_000)
    assert 0 < part_of(world) < world.kept("orders")
    for client in former:
        if leaves:
            client.leave()
            world.pass_seconds(1)
        client.gone = True
        world.join(client.client_id, life=2)
        world.pass_seconds(1)
    world.pass_seconds(15)
    assert len(state_of(world).members) == 32
    refused = world.counts["events/heartbeat/rejected"]
    Client(world.topics, "orders", "new").beat()
    world.clients[0].leave()
    Client(world.topics, "orders", "a", life=2).beat(**fat())
    for life in (3, 4, 5):
        Client(world.topics, "orders", "m-00", life=life).beat()
    world.pass_seconds(1)
    assert len(state_of(world).members) == 32
    assert world.counts["events/heartbeat/rejected"] == refused + 4


class Awaiting(Shared):
    """A world whose groups wait for a client that is gone."""

    def context(self, shard: int) -> ShardContext:
        """Return the driver's context with that rule."""
        defaults = GroupRules(quota=Quota(state_bytes=100_000), restart_grace_ms=300_000)
        return with_rules(Shared.context(self, shard), defaults=defaults, state_bytes=0)


def test_who_is_waited_for_takes_room() -> None:
    """A client that is gone and may come back counts as one that is there; it comes back."""
    world = Awaiting()
    world.topics.tick(1)
    for number in range(12):
        client = Client(world.topics, "orders", f"m-{number}")
        client.beat(**fat())
        client.leave()
        world.pass_seconds(1)
    assert world.kept("orders") < 150_000
    assert len(state_of(world).awaited) == 5
    Client(world.topics, "orders", "m-0", life=2).beat(**fat())
    world.pass_seconds(1)
    assert len(state_of(world).members) == 1


def test_what_is_not_taken_over_makes_no_room() -> None:
    """A member's older words let nobody in who comes in the same batch, nor in its replay."""
    world = Shared(quota=Quota(state_bytes=99_000))
    world.topics.tick(1)
    full = [Client(world.topics, "orders", f"m-{number}") for number in range(4)]
    for client in full:
        client.beat(**fat())
    world.pass_seconds(3)
    late = {
        "subscriptions": [{**fat()["subscriptions"][0], "tags": [], "sub_version": START_MS - 1}]
    }
    for _ in range(9):
        full[0].beat(**late)
    world.run_all()
    Client(world.topics, "orders", "more").beat(**fat())
    Client(world.topics, "orders", "and more").beat(**fat())
    world.run_all()
    world.pass_seconds(20)
    assert replayed(world).same
    for _ in range(9):
        full[0].beat(**late)
    for number in range(9):
        Client(world.topics, "orders", f"other-{number}").beat(**fat())
    world.run_all()
    assert len(state_of(world).members) <= 4


@pytest.mark.parametrize("number", range(3))
def test_a_replay_forgets_the_same(number: int) -> None:
    """However the records were cut into batches, and over a death of the driver."""
    chance = Random(number)
    world = begun()
    for second in range(50):
        if second % 17 < 6:
            group = chance.choice([*near("orders", 2), "orders"])
            for each in range(40):
                client = Client(world.topics, group, f"{second}-{each}-{'x' * 200}")
                client.beat()
                client.leave()
        if second % 5 == 1:
            world.join(f"late-{second}")
        world.pass_seconds(1, chance)
        if second == 28:
            world.start_driver()
    world.pass_seconds(2)
    assert world.counts["rejects/quota_state_bytes"]
    found = replayed(world)
    assert found.same, found


def test_a_key_that_is_no_group_is_not_kept() -> None:
    """Releases are counted by their group, until their second is over: no name is a megabyte."""
    world = begun()
    for number in range(3):
        world.topics.append("releases", 0, f"{number}{'k' * 100_000}".encode(), b"{}")
    world.run_all()
    stored = world.stored[0]
    assert stored is not None
    assert len(stored.liveness) < 10_000


def test_a_replay_forgets_the_same_where_a_group_has_a_quota() -> None:
    """Nothing is decided when the gone are forgotten, and a replay reads on to the next joiner."""
    world = Shared(quota=Quota(state_bytes=25_000))
    world.topics.tick(1)
    world.join("a")
    world.pass_seconds(3)
    come_and_go(world, 1)
    world.pass_seconds(90)
    assert not state_of(world).tombstones
    members = len(state_of(world).members)
    Client(world.topics, "orders", "b").beat(**fat(tags=60))
    world.pass_seconds(3)
    assert len(state_of(world).members) == members + 1
    found = replayed(world)
    assert found.same, found
