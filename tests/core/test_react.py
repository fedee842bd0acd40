"""Under the rule ``react`` = ``on_tick`` changes of who consumes what wait for the trigger."""

from fairlead.core.records import RuleSet
from tests.kit.group_world import GroupWorld, settled


def _ticking(*clients: str) -> GroupWorld:
    world = settled(*clients)
    world.rule("react", "on_tick")
    world.run()
    return world


def _at_the_trigger(world: GroupWorld, *clients: str) -> None:
    for _ in range(2):
        world.pass_time(9_500)
        for client in clients:
            world.beat(client)
        world.run()


def test_a_lapse_waits_for_the_trigger() -> None:
    """The queues of a dead client belong to nobody until the next trigger."""
    world = _ticking("a", "b")
    world.pass_time(9_000)
    world.beat("a")
    world.run()
    world.pass_time(6_000)
    world.beat("a")
    world.run()
    assert "client_expired" in world.decision.triggers
    assert (world.owned("a"), world.decision.state.unassigned) == ([0, 1], 2)
    world.pass_time(5_000)
    world.beat("a")
    world.run()
    assert world.owned("a") == [0, 1, 2, 3]
    assert world.decision.triggers == ("trigger",)


def test_unsubscribing_stops_at_once_and_is_shared_at_the_trigger() -> None:
    """A member that unsubscribes gets a drop at once; the next owner waits for the trigger."""
    world = GroupWorld()
    world.rule("react", "on_tick")
    for client in "ab":
        world.beat(client, topics=("orders", "payments"))
    world.publish(2, "orders", "payments")
    world.beat("a", topics=("payments",))
    world.run()
    assert [drop.queue.topic for drop in world.told("a").drop] == ["orders"]
    assert not any(move.stage == "gated" for move in world.decision.moves)


def test_an_operators_rule_does_not_wait() -> None:
    """A rule is decided as it is read, and counts every change until then."""
    world = _ticking("a")
    world.beat("b")
    world.run()
    assert world.owned("b") == []
    world.rule("drain", {"client_id": "a"}, "a")
    world.run()
    assert world.owned("b") == [0, 1, 2, 3]


def test_who_returns_under_its_client_id_does_not_wait() -> None:
    """A client that was restarted is granted its queues in the step that hears it."""
    world = _ticking("a", "b")
    world.leave("b")
    for number in (2, 3):
        world.release("b", number, world.epoch_of(number), 5)
    world.run()
    world.beat("b", life=2)
    world.run()
    assert world.owned("b", 2) == [2, 3]


def test_the_window_of_settling_is_not_opened() -> None:
    """The trigger gathers changes already."""
    world = _ticking("a")
    world.rule("timing", {"settle_ms": 5_000})
    world.run()
    world.beat("b")
    world.run()
    assert world.state is not None
    assert world.state.settling is None
    _at_the_trigger(world, "a", "b")
    assert world.owned("b") == [2, 3]


def test_without_the_rule_a_join_counts_at_once() -> None:
    """On change is built in, and holds again when the rule is removed."""
    world = _ticking("a")
    world.add("control", RuleSet("orders", "react", (), None, "alice"))
    world.run()
    world.beat("b")
    world.run()
    assert world.owned("b") == [2, 3]


def test_a_member_that_asks_has_a_decision_at_once() -> None:
    """What waits for the trigger counts with the heartbeat that asks; the cause says who asked."""
    world = _ticking("a")
    world.beat("b")
    world.run()
    world.beat("b")
    world.run()
    assert world.owned("b") == []
    world.beat("b", decide=True)
    world.run()
    assert world.owned("b") == [2, 3]
    (cause,) = world.decision.cause
    assert (cause.kind, cause.client_id) == ("decision_asked", "b")
    assert world.decision.triggers == ("decision_asked",)


def test_who_asks_for_what_is_in_force_is_told_nothing() -> None:
    """Nothing is to be decided: nothing is written."""
    world = _ticking("a", "b")
    world.beat("b", decide=True)
    world.run()
    assert world.outputs == ()


def test_who_asks_ends_no_window_and_no_pause() -> None:
    """An operator's word stands above a member's; of who leaves it counts nothing."""
    for rule, value in (("pause", True), ("timing", {"settle_ms": 5_000})):
        world = settled("a")
        world.rule(rule, value)
        world.run()
        world.beat("b")
        world.run()
        world.beat("b", decide=True)
        world.run()
        assert world.owned("b") == []
    world = _ticking("a")
    world.beat("b")
    world.run()
    world.leave("b")
    world.beat("b", decide=True)
    world.run()
    assert world.owned("a") == [0, 1, 2, 3]
