"""Joins and leaves that come together are shared out together, and wait no longer than the rule."""

import pytest

from fairlead.core.step import due_ms
from tests.kit.group_operator import owners_of, pause
from tests.kit.group_settling import held, settle
from tests.kit.group_world import GroupWorld, settled

SETTLE_MS = 10_000


def world_of(*clients: str, queues: int = 6, **times: int) -> GroupWorld:
    """Return a settled group whose changes settle."""
    world = settled(*clients, queues=queues)
    world.rule("timing", {"settle_ms": SETTLE_MS, **times})
    settle(world)
    return world


def moves_of(world: GroupWorld) -> int:
    """Return how many queues the last run began to move."""
    return sum(move.stage == "dropped" for move in world.decision.moves)


def test_joins_within_the_window_make_one_decision() -> None:
    """Three clients join within the window: one decision shares, at its end."""
    world = world_of("a")
    opened = world.clock_ms
    for client in ("b", "c", "d"):
        world.beat(client)
        world.run()
        assert world.decision.state.phase == "settling"
        assert world.decision.moves == ()
        assert world.told(client).assigned == ()
        world.pass_time(3_000)
        world.beat("a")
    assert world.state is not None
    assert due_ms(world.state, world.rules) == opened + SETTLE_MS
    world.pass_time(1_000)
    world.run()
    assert world.decision.triggers == ("settled",)
    assert world.decision.cause[0].because == "3 client_joined within 10000 ms"
    assert moves_of(world) == 4
    assert owners_of(world) == {0: "a", 1: "a", 2: "b", 3: "b", 4: "c", 5: "d"}
    assert world.state.settling is None


def test_first_members_of_a_group() -> None:
    """A group that is deployed at once is shared once, by all who came within the window."""
    world = GroupWorld()
    world.rule("timing", {"settle_ms": SETTLE_MS})
    world.run()
    world.beat("a")
    world.publish(4)
    world.pass_time(9_999)
    world.beat("b")
    world.run()
    assert held(world) == {}
    world.pass_time(1)
    world.run()
    assert held(world) == {"a": [0, 1], "b": [2, 3]}


def test_window_is_the_bound() -> None:
    """Further changes do not lengthen the window for the queues of a leaver (rule H24)."""
    world = world_of("a", "b", queues=4)
    world.leave("b")
    settle(world)
    for number in range(9):
        world.pass_time(1_000)
        world.beat(f"x{number}")
        world.beat("a")
        world.run()
        assert held(world) == {"a": [0, 1]}
    world.pass_time(1_000)
    world.run()
    settle(world)
    assert sum(map(len, held(world).values())) == 4


def test_lapse_opens_the_window_at_its_deadline() -> None:
    """A late lapse opens its window when lease and margin were over (rule H24)."""
    world = world_of("a", "b", queues=4)
    world.pass_time(13_001 + SETTLE_MS)
    world.beat("a")
    world.run()
    assert held(world) == {"a": [0, 1, 2, 3]}
    assert world.decision.triggers == ("client_expired", "settled")


def test_back_within_the_window() -> None:
    """Who restarts within the window has its queues back at once; its end moves nothing."""
    world = world_of("a", "b", queues=4)
    world.leave("b")
    settle(world)
    world.pass_time(4_000)
    world.beat("a")
    world.beat("b", life=2)
    world.run()
    assert held(world) == {"a": [0, 1], "b": [2, 3]}
    world.pass_time(6_000)
    world.beat("a")
    world.beat("b", life=2)
    world.run()
    assert world.decision.triggers == ("settled",)
    assert world.decision.moves == ()
    assert world.decision.state.phase == "stable"


def test_trigger_waits_for_the_window() -> None:
    """A trigger inside the window shares nothing; the next is a whole period after it."""
    world = world_of("a", trigger_ms=5_000)
    world.beat("b")
    world.run()
    for _ in range(3):
        world.pass_time(3_000)
        world.beat("a")
        world.beat("b")
        world.run()
        assert held(world) == {"a": [0, 1, 2, 3, 4, 5]}
    world.pass_time(1_000)
    world.run()
    assert moves_of(world) == 3


def test_operator_does_not_wait() -> None:
    """A rule that is set in the window ends it: all changes count in its decision."""
    world = world_of("a")
    world.beat("b")
    world.run()
    world.rule("strategy", {"name": "AVG_BY_CIRCLE"})
    world.run()
    assert world.decision.triggers == ("rules_changed",)
    assert owners_of(world) == {0: "a", 1: "b", 2: "a", 3: "b", 4: "a", 5: "b"}
    assert world.state is not None
    assert world.state.settling is None


def test_routes_open_no_window() -> None:
    """New queues are shared at once: nobody reads them meanwhile."""
    world = world_of("a", "b")
    world.route(8)
    world.bounds(8)
    world.run()
    settle(world)
    assert sum(map(len, held(world).values())) == 8


def test_grace_over_settles() -> None:
    """Clients that are given up one after the other are given up in one decision."""
    world = world_of("a", "b", "c", restart_grace_ms=60_000)
    world.leave("b")
    settle(world)
    world.pass_time(5_000)
    world.beat("a")
    world.leave("c")
    settle(world)
    world.pass_time(55_000)
    world.beat("a")
    world.run()
    assert held(world) == {"a": [0, 1]}
    assert world.decision.state.phase == "settling"
    world.pass_time(5_000)
    world.beat("a")
    world.run()
    assert held(world) == {"a": [0, 1]}
    world.pass_time(5_000)
    world.beat("a")
    world.run()
    assert held(world) == {"a": [0, 1, 2, 3, 4, 5]}
    assert world.decision.cause[0].because == "2 grace_over within 10000 ms"


def test_pause_ends_the_window() -> None:
    """A pause closes the window, and resume shares at once."""
    world = world_of("a")
    world.beat("b")
    world.run()
    pause(world)
    world.run()
    assert world.state is not None
    assert world.state.settling is None
    world.beat("c")
    world.run()
    assert world.state.settling is None
    pause(world, ended=True)
    world.run()
    assert owners_of(world) == {0: "a", 1: "a", 2: "b", 3: "b", 4: "c", 5: "c"}


@pytest.mark.parametrize("cut", [1, 2, 3, 4])
def test_end_does_not_depend_on_cuts(cut: int) -> None:
    """The window begins at the record of the first change, however the log is cut."""
    world = world_of("a")
    for number, client in enumerate(("b", "c", "d", "e"), 1):
        world.pass_time(500)
        world.beat(client)
        if number % cut == 0:
            world.run()
    world.run()
    assert world.state is not None
    assert world.state.settling is not None
    assert world.state.settling.opened_ms == 1_500
    assert dict(world.state.settling.changes) == {"client_joined": 4}
