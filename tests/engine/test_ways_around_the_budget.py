"""What could fill the state although every quota held: routes, barriers, many small heartbeats."""

from collections.abc import Mapping
from typing import Any

from fairlead.engine.admission import LARGE_BYTES
from tests.kit.client import Client
from tests.kit.memory_topics import START_MS, shard_of
from tests.kit.replays import replayed
from tests.kit.shared_world import SHARE, Shared, begun, crowd, fat, held_open, near, part_of
from tests.kit.world import World, state_of


def subscribed(*topics: str) -> Mapping[str, Any]:
    """Return what a member says that subscribes to these topics."""
    said = {"expression_type": "tag", "expression": "", "tags": [], "sub_version": START_MS + 1}
    return {"subscriptions": [{**said, "topic": topic} for topic in topics]}


def asked(world: World, group: str, topic: str) -> int:
    """Return how often a group has asked for the route of a topic."""
    found = [each for each in world.kinds("requests") if each["group"] == group]
    return sum((each["what"], each["topic"]) == ("route", topic) for each in found)


def told(world: World, client_id: str) -> list[str | None]:
    """Return the reasons to wait in a client's notices, in order; None: nothing keeps it."""
    notices = [each for each in world.kinds("assignments") if each["kind"] == "notice"]
    return [
        each["reason"]
        for each in notices
        if each["client_id"] == client_id and each["code"] == "waiting"
    ]


def live_on(world: World, client: Client, seconds: int) -> None:
    """Let time pass in which a client says each second that it reads payments too."""
    client.gone = True
    for _ in range(seconds):
        client.beat(**subscribed("orders", "payments"))
        world.pass_seconds(1)


def test_a_full_shard_takes_no_more_routes() -> None:
    """No group asks for another topic, or takes one: its queues would be many. Later it does."""
    world = begun()
    crowd(world, near("orders", 6))
    assert world.kept("orders") < part_of(world)
    world.queues["payments"] = 600
    before = world.kept("orders")
    live_on(world, world.clients[0], 3)
    world.topics.route("payments", 600)
    live_on(world, world.clients[0], 2)
    assert "payments" not in state_of(world).routes
    assert not asked(world, "orders", "payments")
    assert world.counts["full_now"]
    assert told(world, "a") == ["room"]
    assert world.kept("orders") < before + 1_000
    # What it knows goes on, and may grow.
    world.queues["orders"] += 4
    world.topics.route("orders", world.queues["orders"])
    live_on(world, world.clients[0], 5)
    assert len(state_of(world).queues) == world.queues["orders"]
    # So it may where nobody was there for a while.
    for client in world.clients:
        client.gone = True
        client.leave()
    world.pass_seconds(2)
    again = world.join("a", life=2)
    world.pass_seconds(5)
    assert part_of(world)
    assert state_of(world).routes.keys() == {"orders"}
    assert len(world.owners("orders")) == world.queues["orders"]
    live_on(world, again, 150)
    assert asked(world, "orders", "payments")
    assert "payments" in state_of(world).routes
    assert told(world, "a")[-1] is None
    assert replayed(world).same


def test_a_mute_member_opens_no_door() -> None:
    """A barrier that is held open takes everybody only until whoever is alive was heard."""
    world = held_open(heartbeat_bytes_per_second=4_000)
    before = world.kept("orders")
    for second in range(5):
        for number in range(20):
            Client(world.topics, "orders", f"fat-{second}-{number}").beat(**fat())
        world.pass_seconds(1)
    assert world.kept("orders") < before + SHARE
    assert world.counts["rejects/quota_bytes"]
    assert replayed(world).same


def test_words_of_strangers_in_an_open_barrier_are_not_kept() -> None:
    """Who is not known by then invents no queues: neither by claims nor by progress."""
    world = held_open()
    before = world.kept("orders")
    for number in range(20):
        stranger = Client(world.topics, "orders", f"stranger-{number}")
        for queue in range(200):
            stranger.held["orders", f"invented-{number}", queue] = ([1, 1], "held")
        stranger.claim(world.generation)
        stranger.work(1)
    world.pass_seconds(1)
    assert world.kept("orders") < before + 500
    assert replayed(world).same


def test_an_unknown_owner_is_heard_in_a_barrier() -> None:
    """Until lease and margin are over everybody is read, as whoever may own queues."""
    world = begun(heartbeat_bytes_per_second=4_000)
    world.pass_seconds(30)
    world.generation += 1
    world.topics.tick(world.generation)
    world.pass_seconds(2)
    for number in range(4):
        Client(world.topics, "orders", f"fat-{number}").beat(**fat())
    world.pass_seconds(1)
    assert len(state_of(world).members) == 6


def test_heartbeats_of_some_size_have_a_pace() -> None:
    """Those of a few kilobytes each fill no shard in one batch."""
    world = Shared(heartbeat_bytes_per_second=40_000)
    world.topics.tick(1)
    for group in near("orders", 4):
        for number in range(100):
            said = fat(tags=14)
            assert LARGE_BYTES < 14 * 240
            Client(world.topics, group, f"m-{number}").beat(**said)
    world.run_all()
    assert world.kept_of_all(shard_of("orders")) < 2 * SHARE
    assert world.counts["rejects/quota_bytes"]
