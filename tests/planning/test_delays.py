"""Plans of groups that wait: for a client to come back, for a window to end, for a pause to end."""

import pytest

from fairlead.planning.changes import Changes, Join
from fairlead.planning.holdings import holdings_of
from tests.kit.live_group import (
    after_of,
    heard_alone,
    look,
    owners_of,
    planned,
    remarks,
    rule,
    set_rules,
)
from tests.kit.world import state_of, world_of

GRACE = rule("timing", {"restart_grace_ms": 60_000})
PAUSE = rule("pause", True)  # noqa: FBT003 - the rule's value


@pytest.mark.parametrize("strategy", ["AVG", "STICKY"])
@pytest.mark.parametrize("seconds", [5, 30])
def test_absent_keeps_its_share(strategy: str, seconds: int) -> None:
    """Who is waited for keeps its share in a plan, as in the engine, and is named."""
    world = world_of("c1", "c2", "c3")
    set_rules(world, GRACE, rule("strategy", {"name": strategy}))
    world.pass_seconds(10)
    world.clients[1].leave()
    world.pass_seconds(seconds)
    state = state_of(world)
    assert list(state.awaited) == ["c2"]
    assert "c2 is gone; its queues are kept until it returns (restart_grace_ms)" in remarks(world)
    assert list(look(world).planned.state.awaited) == ["c2"]
    assert owners_of(look(world).planned.state) == owners_of(state)
    found = planned(world, Changes())
    assert found.moves == 0
    assert len(found.orphans) == 17 - len(owners_of(state))
    world.pass_seconds(60)
    assert len(owners_of(state_of(world))) == 17
    assert look(world).planned.state.awaited == {}


def test_dead_client_is_waited_for() -> None:
    """A client that died within the grace is found in the heartbeats of before its lease."""
    world = world_of("c1", "c2")
    set_rules(world, GRACE)
    world.pass_seconds(2)
    dead = world.clients.pop(1)
    heard_alone(world, 30, world.clients[0])
    assert list(look(world).planned.state.awaited) == [dead.client_id]
    assert not any("does not heartbeat" in text for text in remarks(world))


def test_holdings_of_a_drained_client() -> None:
    """A client that is drained holds its queues until its release is in the log, and then none."""
    world = world_of("c1", "c2")
    held = holdings_of(look(world), ["c1", "nobody"])
    assert [*held] == ["c1"]
    set_rules(world, rule("drain", {"client_id": "c1"}))
    assert holdings_of(look(world), ["c1"]) == held
    world.pass_seconds(6)
    assert holdings_of(look(world), ["c1"]) == {}
    assert len(holdings_of(look(world), ["c1", "c2"])["c2"]) == 17


def test_leaver_of_a_plan_is_gone() -> None:
    """A plan shows where the queues of a client that leaves go in the end, and says what waits."""
    world = world_of("c1", "c2", "c3")
    set_rules(world, GRACE)
    world.pass_seconds(3)
    found = planned(world, Changes(leaves=("c2",)))
    assert len(after_of(found)) == 17
    assert found.orphans == ()
    assert (
        "restart_grace_ms = 60000: the queues of a leaving client move only after this time"
        in found.remarks
    )


def test_pause_and_window_are_told() -> None:
    """Of a paused group a plan shows what comes at its end, and says so; likewise of a window."""
    world = world_of("c1", "c2")
    set_rules(world, PAUSE)
    world.pass_seconds(3)
    found = planned(world, Changes(joins=(Join("c9"),)))
    assert len(set(after_of(found).values())) == 3
    assert found.moves > 0
    assert found.remarks == ("the group is paused: nothing of this happens before it is resumed",)
    set_rules(world, rule("pause", None), rule("timing", {"settle_ms": 5_000}))
    world.pass_seconds(3)
    found = planned(world, Changes(joins=(Join("c9"),)))
    assert found.remarks == ("settle_ms = 5000: joins and leaves count this long after the first",)
