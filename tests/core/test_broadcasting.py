"""Members of the broadcasting model: seen, told, and without a share."""

from fairlead.core.model import MemberProfile
from fairlead.core.outputs import Assignment, Decision, Request
from tests.kit.group_world import GroupWorld, key_of, settled

READS_ALL = MemberProfile(message_model="broadcasting", consume_from="first_offset")


def test_it_is_a_member_and_owns_nothing() -> None:
    """It stands among the members of decisions, and gets one assignment that is empty."""
    world = GroupWorld()
    world.beat("a", profile=READS_ALL)
    world.publish(4)
    assert world.decision.members == ("a",)
    assert world.decision.state.queues == 0
    world.pass_time(5_000)
    world.beat("a", profile=READS_ALL)
    world.run()
    assert world.outputs == ()
    assert world.owned("a") == []


def test_its_topics_are_asked_for_by_their_routes_alone() -> None:
    """It follows the routes topic, so its routes are wanted; where it begins is its own matter."""
    world = GroupWorld()
    world.beat("a", profile=READS_ALL)
    world.run()
    asked = [output.what for output in world.outputs if isinstance(output, Request)]
    assert asked == ["route"]
    world.route(4)
    world.run()
    world.pass_time(9_000)
    world.beat("a", profile=READS_ALL)
    world.run()
    assert [output for output in world.outputs if isinstance(output, Request)] == []


def test_it_makes_no_slot_even_under_slots_group() -> None:
    """Where every member counts for every topic, it does not: it has no queue to lose."""
    world = settled("a", "c")
    world.rule("slots", "group")
    world.beat("b", profile=READS_ALL)
    world.run()
    world.pass_time(20_000)
    for client, profile in (("a", None), ("b", READS_ALL), ("c", None)):
        world.beat(client, profile=profile)
    world.run()
    assert (world.owned("a"), world.owned("b"), world.owned("c")) == ([0, 1], [], [2, 3])


def test_its_coming_and_going_moves_nothing_and_opens_no_window() -> None:
    """A join, a leave and a lapse of one that broadcasts concern nobody's queues."""
    world = settled("a", "c")
    world.rule("timing", {"settle_ms": 5_000, "restart_grace_ms": 5_000})
    world.run()
    world.beat("b", profile=READS_ALL)
    world.beat("d", profile=READS_ALL)
    world.run()
    assert world.decision.moves == ()
    world.leave("b")
    world.run()
    assert world.state is not None
    assert (world.decision.moves, world.state.settling, world.state.awaited) == ((), None, {})
    world.pass_time(10_000)
    world.beat("a")
    world.beat("c")
    world.run()
    world.pass_time(4_000)
    world.run()
    assert world.decision.triggers == ("client_expired",)
    assert (world.decision.moves, world.state.settling, world.state.awaited) == ((), None, {})


def test_a_life_that_broadcasts_takes_the_place_of_one_that_shared() -> None:
    """Under one client id the newest process counts, also if it broadcasts: the queues go on."""
    world = settled("a", "c")
    world.beat("a", life=2, process=(9, "a"), profile=READS_ALL)
    world.run()
    assert {move.member.client_id for move in world.decision.moves if move.stage == "gated"} == {
        "c"
    }


def test_no_barrier_waits_for_it() -> None:
    """It was never granted anything, so a new driver needs no acknowledgement of it."""
    world = settled("a")
    world.beat("b", profile=READS_ALL)
    world.run()
    world.driver(2)
    world.run()
    world.claims("a", *((n, world.epoch_of(n), 0, True) for n in range(4)))
    world.run()
    assert world.state is not None
    assert world.state.barrier is None
    assert world.owned("a") == [0, 1, 2, 3]


def test_an_ordered_one_keeps_no_group_from_being_eager() -> None:
    """Nobody works beside it on a queue that is its own, for it has none."""
    world = settled("a")
    world.beat("b", profile=MemberProfile(message_model="broadcasting", ordered=True))
    world.run()
    world.rule("mode", "eager")
    result = world.run()
    assert result.counts["rule", "applied"] == 1


def test_its_digest_is_that_of_nothing() -> None:
    """A broadcasting member that says it holds something gets the empty assignment again."""
    world = settled("a")
    world.beat("b", profile=READS_ALL)
    world.run()
    for _ in range(3):
        world.pass_time(1_500)
        world.beat("a")
        world.beat("b", profile=READS_ALL, held=5)
        world.run()
    told = [output for output in world.outputs if isinstance(output, Assignment)]
    assert [(each.member, each.assigned) for each in told] == [(key_of("b"), ())]
    assert any("healed" in o.triggers for o in world.outputs if isinstance(o, Decision))
