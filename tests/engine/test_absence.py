"""Graces, windows, pauses and duplicates through the whole engine: counted, kept, and replayed."""

import pytest

from tests.kit.client import Client
from tests.kit.group_world import GROUP
from tests.kit.live_group import rule, set_rules
from tests.kit.replays import compare_of
from tests.kit.world import World

PAUSE = rule("pause", True)  # noqa: FBT003 - the rule's value


@pytest.fixture(scope="module")
def world() -> World:
    """One client of a group restarts, one waits for a pause to end, and one is doubled."""
    world = World(queues={"orders": 6})
    world.topics.tick(1)
    for client_id in ("c1", "c2", "c3"):
        world.join(client_id)
    set_rules(world, rule("timing", {"restart_grace_ms": 60_000, "settle_ms": 4_000}))
    world.pass_seconds(10)
    second = world.clients[1]
    held = dict(second.held)
    second.leave()
    world.pass_seconds(8)
    for queue, (epoch, _) in held.items():
        record = {"queue": [*queue], "epoch": epoch, "position": [0, 999]}
        sender = {"group": GROUP, "client_id": "c2", "incarnation": second.incarnation}
        progress = {"kind": "progress", **sender, "queues": [record]}
        world.topics.append_of("heartbeats", GROUP, progress)
    world.join("c2", life=2)
    world.pass_seconds(8)
    set_rules(world, PAUSE)
    world.pass_seconds(2)
    world.join("c4")
    world.pass_seconds(25)
    world.start_driver()
    world.pass_seconds(5)
    set_rules(world, rule("pause", None))
    world.pass_seconds(8)
    # Another process with the client id c4: its own start, its own uuid.
    other = Client(world.topics, GROUP, "c4", life=7, generation=world.generation)
    for _ in range(4):
        other.beat(process={"start_ms": 1_000_000_000_000, "uuid": other.incarnation,
                            "incarnations": 1})  # fmt: skip
        world.pass_seconds(3)
    return world


def test_nobody_else_moved(world: World) -> None:
    """Each queue has its owner in the end, and only the pause's end took queues from anybody."""
    assert sorted(world.owners(GROUP)) == [0, 1, 2, 3, 4, 5]
    dropped = {
        tuple(decision["triggers"])
        for decision in world.decisions
        if any(move["stage"] == "dropped" for move in decision["moves"])
    }
    assert dropped <= {("rules_changed",), ("settled",), ("route_changed", "offsets_known")}


def test_what_came_of_a_restart_is_counted(world: World) -> None:
    """What came of the restart, and what came too late of the former life, is counted."""
    assert world.counts["events/member/awaited"] == 1
    assert world.counts["events/member/returned"] == 1
    assert world.counts["events/member/not_returned"] == 0
    assert world.counts["fenced/progress/not_a_member"] == 2
    assert world.counts["alarms/duplicate_client_id"] >= 1


def test_each_way_to_wait_shows_in_a_phase(world: World) -> None:
    """Each way to wait was seen in the phase of a decision."""
    phases = {decision["state"]["phase"] for decision in world.decisions}
    assert phases >= {"settling", "waiting_for_clients", "paused", "stable"}


def test_a_recorded_wait_replays_to_the_same_bytes(world: World) -> None:
    """The recorded log gives the same bytes again, over the start of another driver."""
    comparison = compare_of(world)
    assert str(comparison.difference) == "None"
    assert comparison.same
    assert comparison.generations == 2
