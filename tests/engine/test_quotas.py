"""Quotas on what comes by the heartbeats topic: the surplus is refused, what was there goes on."""

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from fairlead.codec.shard import open_shard
from fairlead.core.rules.group_rules import GroupRules
from fairlead.core.rules.quota import Quota
from fairlead.engine.context import ShardContext
from tests.kit.client import Client
from tests.kit.memory_topics import PARTITIONS, START_MS, shard_of
from tests.kit.replays import replayed
from tests.kit.world import World, settle_two, with_rules

SMALL = Quota(members=5, records_per_second=20)


@dataclass(slots=True)
class Bounded(World):
    """A world with quotas: 40 groups, 4 a second, and so much for each group."""

    quota: Quota = SMALL
    groups_max: int = 40
    new_groups_per_second: int = 4

    def context(self, shard: int) -> ShardContext:
        """Return the driver's context with the quotas."""
        context = World.context(self, shard)
        return with_rules(
            context,
            defaults=GroupRules(quota=self.quota),
            groups_max=self.groups_max,
            new_groups_per_second=self.new_groups_per_second,
        )

    def groups(self) -> set[str]:
        """Return the groups that the shards know."""
        stored = [self.stored[shard] for shard in range(PARTITIONS.shards)]
        return {group for one in stored if one is not None for group in open_shard(one).slots}


def begun(**fields: Any) -> Bounded:
    """Return a world with one group of two members that has settled."""
    world = Bounded(**fields)
    settle_two(world)
    assert set(world.owners("orders").values()) == {"a", "b"}
    return world


def invent(world: World, groups: int) -> None:
    """An abuser heartbeats in so many new groups."""
    for number in range(groups):
        Client(world.topics, f"new-{number:05d}", "abuser").beat()


def reasons(world: World) -> Counter[str]:
    """Return how many dead letters there are of each reason."""
    return Counter(record["reason"] for record in world.kinds("rejects"))


def refused(world: World, reason: str) -> int:
    """Return how many records were refused for this reason."""
    return world.counts[f"rejects/{reason}"]


def test_new_groups_come_at_a_pace() -> None:
    """Of a burst five seconds' worth comes at once, the others wait for their next heartbeat."""
    world = begun()
    invent(world, 300)
    world.run_all()
    assert len(world.groups()) == 1 + 20
    assert refused(world, "quota_new_groups") == 280
    assert 0 < reasons(world)["quota_new_groups"] <= 2 * 10
    world.topics.now_ms += 2_000
    world.topics.tick(1)
    invent(world, 300)
    world.run_all()
    assert 1 + 20 < len(world.groups()) <= 1 + 20 + 2 * 4 + 2


def test_there_are_only_so_many_groups() -> None:
    """Each shard makes its share; a group by rule is none of the clients' making."""
    world = begun(new_groups_per_second=0)
    invent(world, 300)
    world.run_all()
    assert len(world.groups()) == 40
    assert refused(world, "quota_groups") == 300 - 39
    world.topics.rule("wanted", "slots", "group")
    world.run_all()
    late = world.join("c", "wanted")
    world.pass_seconds(4)
    assert "wanted" in world.groups()
    assert late.held
    assert set(world.owners("orders").values()) == {"a", "b"}


def test_members_are_as_many_as_they_may_be() -> None:
    """Who comes above the quota is refused; who is there keeps all, and may restart."""
    world = begun()
    for number in range(30):
        Client(world.topics, "orders", f"stranger-{number:03d}").beat()
        world.topics.now_ms += 100
    world.run_all()
    assert len(world.decisions[-1]["members"]) == 5
    assert refused(world, "quota_members") == reasons(world)["quota_members"] == 27
    world.clients[0].gone = True
    again = world.join("a", life=2)
    world.pass_seconds(3)
    assert again.held


def test_a_member_has_only_so_many_topics() -> None:
    """A heartbeat with more topics changes nothing, and counts for the lease."""
    world = begun(quota=Quota(topics=3))
    greedy = world.clients[0]
    greedy.subscribed = ("orders", *(f"topic-{number}" for number in range(9)))
    world.pass_seconds(30)
    assert set(world.owners("orders").values()) == {"a", "b"}
    assert refused(world, "quota_topics") == reasons(world)["quota_topics"] > 5
    assert not world.counts["events/member/lapsed"]


def test_a_lowered_quota_disturbs_nobody() -> None:
    """Members, topics and queues above a quota that was lowered stay."""
    world = begun()
    quota = {"members": 1, "topics": 1, "queues": 1}
    world.topics.rule("orders", "quota", quota)
    world.pass_seconds(20)
    assert set(world.owners("orders").values()) == {"a", "b"}
    assert len(world.owners("orders")) == 4
    world.join("c")
    world.pass_seconds(3)
    assert refused(world, "quota_members")


def test_queues_above_the_quota_are_not_taken_until_it_is_raised() -> None:
    """A route with too many queues is refused; after a rule raises the quota it is asked for."""
    world = begun(quota=Quota(queues=6))
    world.queues["orders"] = 9
    world.topics.route("orders", 9)
    world.pass_seconds(3)
    assert sorted(world.owners("orders")) == [*range(4)]
    assert refused(world, "quota_queues") == 1
    world.topics.rule("orders", "quota", {"queues": 9})
    world.pass_seconds(5)
    assert sorted(world.owners("orders")) == [*range(9)]


def test_state_is_no_greater_than_it_may_be() -> None:
    """Members that would make the stored group too great are refused."""
    world = begun(quota=Quota(state_bytes=100_000), new_groups_per_second=0)
    topics = tuple(f"{number:03d}-" + "x" * 100 for number in range(90))
    for number in range(40):
        Client(world.topics, "orders", f"stranger-{number:03d}", subscribed=topics).beat()
        world.topics.now_ms += 100
    world.run_all()
    assert 2 < len(world.decisions[-1]["members"]) < 15
    assert refused(world, "quota_state_bytes") > 25
    stored = world.stored[shard_of("orders")]
    assert stored is not None
    assert len(open_shard(stored).slots["orders"].body) < 100_000


@pytest.mark.parametrize("fat", [{"tags": [f"tag-{each:05d}" for each in range(2_000)]}, {}])
def test_members_that_grow_are_counted_as_they_are(fat: dict[str, Any]) -> None:
    """Who was let in with little to remember is refused with much, tags too, and stays a member."""
    world = begun(quota=Quota(state_bytes=100_000), new_groups_per_second=0)
    topics = ("orders", "payments", "returns", "stock")
    for number in range(10):
        world.join(f"grown-{number}", subscribed=topics)
    world.pass_seconds(4)
    about = {"expression_type": "tag", "expression": "x" * 4_000, "tags": [], **fat}
    for client in world.clients[2:]:
        said = [{"topic": each, **about, "sub_version": START_MS + 1} for each in topics]
        client.beat(subscriptions=said[:1] if fat else said)
        world.topics.now_ms += 100
    world.run_all()
    assert 3 <= refused(world, "quota_state_bytes") < 10
    stored = world.stored[shard_of("orders")]
    assert stored is not None
    assert len(open_shard(stored).slots["orders"].body) < 130_000
    world.pass_seconds(12)
    assert len(world.decisions[-1]["members"]) == 12


def flood(world: World, records: int, client_id: str = "stranger") -> Client:
    """A client writes so many heartbeats at once."""
    client = Client(world.topics, "orders", client_id)
    for _ in range(records):
        client.beat()
    return client


def test_a_flood_of_strangers_takes_nobody_out_of_the_group() -> None:
    """Members' heartbeats count, progress is read and who leaves is heard, beside 500 a second."""
    world = begun()
    before = world.counts["events/progress/applied"]
    for second in range(30):
        if second == 20:
            world.clients[1].leave()
        flood(world, 500)
        world.pass_seconds(1)
    assert not world.counts["events/member/lapsed"]
    assert "b" not in world.owners("orders").values()
    assert "a" in world.owners("orders").values()
    assert world.counts["events/progress/applied"] - before >= 10
    assert refused(world, "quota_records") > 30 * 400
    assert reasons(world)["quota_records"] <= 2 * 34


def test_a_member_that_floods_keeps_its_lease() -> None:
    """Rule H10: a heartbeat that is refused for its number counts for the lease."""
    world = begun(quota=Quota(records_per_second=10))
    world.topics.now_ms += 1_000
    for _ in range(9):
        world.topics.now_ms += 1_000
        world.topics.tick(1)
        flood(world, 60)
        for member in world.clients[:1]:
            for _ in range(40):
                member.beat()
        world.run_all()
    assert refused(world, "quota_records") > 100
    world.topics.now_ms += 6_000
    world.topics.tick(1)
    world.run_all()
    expired = {
        cause["client_id"]
        for decision in world.decisions
        for cause in decision["cause"]
        if cause["kind"] == "client_expired"
    }
    assert "a" not in expired


def release(world: World, records: int) -> None:
    """Somebody releases so many grants that nobody has, in a member's name."""
    member = world.clients[0]
    for number in range(records):
        record = {
            "kind": "release",
            "group": "orders",
            "client_id": member.client_id,
            "incarnation": member.incarnation,
            "queue": ["orders", "broker-a", number % 4],
            "epoch": [1, 900_000 + number],
            "position": [0, number],
        }
        world.topics.append_of("releases", "orders", record)


def test_a_flood_of_releases_loses_none_that_is_awaited() -> None:
    """What ends no grant is refused above the quota; who leaves is released, all queues at once."""
    world = begun(quota=Quota(members=5, records_per_second=10))
    world.queues["orders"] = 60
    world.topics.route("orders", 60)
    world.pass_seconds(5)
    assert sorted(world.owners("orders")) == [*range(60)]
    for second in range(6):
        release(world, 300)
        if second == 2:
            world.clients[1].leave()
        world.pass_seconds(1)
    world.pass_seconds(3)
    assert set(world.owners("orders").values()) == {"a"}
    assert sorted(world.owners("orders")) == [*range(60)]
    assert world.counts["records/releases/over_quota/refused"] > 6 * 250
    assert refused(world, "quota_records") == world.counts["records/releases/over_quota/refused"]
    assert 6 <= reasons(world)["quota_records"] <= 7
    assert not world.counts["events/member/lapsed"]


def test_releases_of_a_lower_quota() -> None:
    """A group's own quota counts for its releases too."""
    world = begun()
    world.topics.rule("orders", "quota", {"records_per_second": 10})
    world.run_all()
    release(world, 15)
    world.run_all()
    assert world.counts["records/releases/over_quota/refused"] == 5


def test_quotas_wait_for_the_marker() -> None:
    """Until a new driver's marker was read everybody is heard: they may own queues."""
    world = begun(groups_max=1, new_groups_per_second=1)
    world.join("x", "other")
    world.pass_seconds(1)
    before = Counter(world.counts)
    world.generation += 1
    invent(world, 50)
    for client in world.clients:
        client.claim(world.generation)
    world.run_all()
    assert len(world.groups()) >= 50
    assert world.counts["rejects/quota_groups"] == before["rejects/quota_groups"]


def test_a_member_that_floods_in_a_barrier() -> None:
    """Of who is known the surplus is refused; who is not is heard, and each claim."""
    world = begun(quota=Quota(members=50, records_per_second=10))
    flooding, late = world.clients
    world.generation += 1
    world.topics.tick(world.generation)
    world.run_all()
    for second in range(4):
        for _ in range(300):
            flooding.beat()
        flood(world, 1, f"unknown-{second}")
        if second == 2:
            flooding.claim(world.generation)
            late.claim(world.generation)
        world.topics.now_ms += 1_000
        world.topics.tick(world.generation)
        world.run_all()
    assert refused(world, "quota_records") > 4 * 270
    world.pass_seconds(4)
    assert {"a", "b"} <= set(world.owners("orders").values())
    assert not world.counts["events/member/lapsed"]
    assert {f"unknown-{second}" for second in range(4)} <= set(world.decisions[-1]["members"])


def test_nobody_is_refused_while_a_lost_state_is_gathered() -> None:
    """After a loss whoever is heard may own queues, however many there are."""
    world = begun(groups_max=2, new_groups_per_second=1)
    world.lose_state()
    before = refused(world, "quota_groups") + refused(world, "quota_new_groups")
    invent(world, 100)
    world.run_all()
    assert refused(world, "quota_groups") + refused(world, "quota_new_groups") == before
    assert len(world.groups()) >= 100


@pytest.mark.parametrize("number", range(3))
def test_a_replay_refuses_the_same_records(number: int) -> None:
    """However the records were cut into batches, and over a death of the driver."""
    chance = Random(number)
    world = begun(quota=Quota(members=4, topics=2, records_per_second=12))
    for second in range(12):
        invent(world, 30 + chance.randrange(40))
        flood(world, chance.randrange(40))
        release(world, chance.randrange(40))
        for index in range(chance.randrange(6)):
            flood(world, 2, f"stranger-{index}")
        if second == 6:
            world.topics.rule("orders", "quota", {"records_per_second": 10})
            world.topics.rule("new-00039", "quota", {"members": 2})
        world.pass_seconds(1, chance)
        if second == 8:
            world.start_driver()
    world.pass_seconds(2)
    assert refused(world, "quota_records")
    assert world.counts["records/releases/over_quota/refused"]
    assert refused(world, "quota_new_groups")
    found = replayed(world)
    assert found.same, found
