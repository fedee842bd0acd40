"""A group without members is planned with what it subscribed to while it had some."""

import orjson

from fairlead.observed.last_topics import LastTopics, last_topics
from fairlead.observed.reading import read_live_group
from fairlead.planning.changes import Changes, Join, records_of
from fairlead.planning.plan import plan
from strategies.registry import STRATEGIES
from tests.kit.live_group import GROUP, TICK_MS, after_of
from tests.kit.memory_source import MemorySource
from tests.kit.memory_topics import bounds
from tests.kit.world import World, world_of


def _last(world: World, group: str = GROUP) -> LastTopics | None:
    source = MemorySource(world.topics)
    return last_topics(read_live_group(source, group, STRATEGIES, TICK_MS, forgotten=True), source)


def _all_leave(world: World) -> None:
    for client in world.clients:
        client.leave()
    world.clients = []
    world.pass_seconds(3)


def test_of_the_last_life_alone() -> None:
    """The topics are those since the group was last without members, also a long time later."""
    world = world_of("c1", "c2")
    _all_leave(world)
    found = _last(world)
    assert found is not None
    assert found.topics == ("orders", "payments")
    world.join("c3", subscribed=("payments",))
    world.pass_seconds(4)
    _all_leave(world)
    world.pass_seconds(90)
    world.topics.rule("*", "slots", "group")
    world.pass_seconds(2)
    found = _last(world)
    assert found is not None
    assert found.topics == ("payments",)
    epoch = world.decisions[-1]["epoch"]
    assert found.told_by == f"its decisions up to {epoch[0]}.{epoch[1]}"


def test_a_life_longer_than_the_first_look() -> None:
    """A topic that was granted long before the end counts as well as one of the last minute."""
    world = world_of("c1")
    world.pass_seconds(70)
    world.queues["bills"] = 2
    world.join("c2", subscribed=("bills",))
    world.pass_seconds(5)
    _all_leave(world)
    found = _last(world)
    assert found is not None
    assert found.topics == ("bills", "orders", "payments")


def test_engine_and_clients_are_dead() -> None:
    """Where nobody took the sets of the last members, they say it; who joins gets all of it."""
    world = world_of("c1")
    world.topics.now_ms += 3_600_000
    world.topics.append_of("heartbeats", GROUP, b"somebody else")
    source = MemorySource(world.topics)
    live = read_live_group(source, GROUP, STRATEGIES, TICK_MS, forgotten=True)
    found = last_topics(live, source)
    assert found == LastTopics(("orders", "payments"), "the assignments of its last members")
    joined = Changes(joins=(Join("c9", found.topics),))
    assert len(after_of(plan(live.planned, records_of(live.planned, joined)))) == 17


def test_commits_of_a_group_without_decisions_count() -> None:
    """What a bridge told of a group's commits counts where no decision is left; of others not."""
    world = world_of("c1")
    told = bounds("bills", "orders", 2)
    told["queues"][1]["committed"] = [0, 7]
    world.topics.append("offsets", 0, orjson.dumps(["orders", "bills"]), told)
    untouched = orjson.dumps(["payments", "bills"])
    world.topics.append("offsets", 0, untouched, bounds("bills", "payments", 2))
    assert _last(world, "bills") == LastTopics(("orders",), "its commits")
    assert _last(world, "bill") is None
