"""Duplicate ids, drain deadlines, mute members and eager groups, told as stories."""

from itertools import pairwise

from fairlead_client.model import Process

from fairlead.core.model import Position
from tests.handover.beginnings import (
    eager_a_beside_b,
    gated_b,
    gates,
    owned_by_a,
    start_of,
    value,
)
from tests.handover.story import Story
from tests.kit.group_world import key_of


def test_of_two_processes_with_one_id_the_greater_stays() -> None:
    """The older one gets a notice and leaves; the newer takes over; they never share."""
    story, a = owned_by_a()
    newer = story.joins("a", process=Process(9_000, "process-newer"), life=10)
    story.engine()
    a.processes(3)
    a.reads_all()
    a.stops()
    newer.reads_all()
    story.engine()
    newer.reads_all()
    assert (story.owner(), start_of(newer)) == ("a'", 3)
    story.time(4_000)
    a.reads_all()
    story.time(4_000)
    assert not a.alive


def test_the_winner_is_the_same_after_a_loss_in_any_order() -> None:
    """The state is lost, and the newer one's heartbeat is read first: still the older one stops."""
    story, a = owned_by_a()
    newer = story.joins("a", process=Process(9_000, "process-newer"), life=10)
    story.engine()
    a.loses()
    newer.loses()
    story.world.state = None
    story.restarts(marked=False)
    story.world.beat("a", life=11, process=(9_000, "process-newer"))
    story.engine()
    a.reads()
    newer.reads()
    story.time(4_000)
    a.reads_all()
    newer.reads_all()
    assert newer.alive
    assert newer.session.state.value == "running"
    assert a.session.state.value == "leaving"


def test_a_forced_release_is_at_the_contiguous_position() -> None:
    """A does not stop within its deadline: the session releases, and refuses what A says later."""
    story, a, b = gated_b()
    a.processes(2)
    a.reads()
    story.time(31_000)
    b.reads_all()
    assert (story.owner(), start_of(b)) == ("b", 2)
    assert a.session.counts["forced_releases"] == 1
    assert a.session.ownership.epochs == {}


def test_an_ordered_client_has_no_deadline() -> None:
    """It drains for as long as it takes; the engine raises the alarm and takes nothing."""
    story = Story()
    a = story.joins("a", drain_deadline_ms=None, ordered=True)
    story.engine()
    a.reads_all()
    b = story.joins("b")
    story.world.rule("on_mute", "force")
    story.engine()
    b.reads_all()
    story.moves(0, "b")
    a.reads()
    story.time(60_000)
    b.reads_all()
    assert story.owner() == "a"
    assert "mute_member" in story.decisions[-1].alarms
    a.stops()
    b.reads_all()
    assert story.owner() == "b"


def test_an_ordered_successor_starts_at_the_release() -> None:
    """No tick and no lock round lie between: it begins in the moment in which it reads it."""
    story = Story()
    a = story.joins("a", ordered=True)
    story.engine()
    a.reads_all()
    a.processes(3)
    b = story.joins("b", ordered=True)
    story.engine()
    story.moves(0, "b")
    a.reads()
    b.reads_all()
    begun_ms = story.now_ms
    assert (story.owner(), len(b.may_work())) == ("a", 0)
    a.stops()
    # The engine has not read it either: the release alone opens the gate.
    b.reads_releases()
    assert (story.owner(), start_of(b)) == ("b", 3)
    assert story.now_ms == begun_ms


def test_a_mute_member_keeps_its_queue_and_is_an_alarm() -> None:
    """A heartbeats and never reads: B waits, and everybody may know."""
    story, _, b = gated_b()
    story.time(60_000)
    b.reads_all()
    assert (story.owner(), b.starts) == ("a", [])
    assert story.decisions[-1].alarms == ("mute_member",)
    assert any("mute_member" in decision.triggers for decision in story.decisions)


def test_a_mute_member_is_passed_where_the_rule_says_so() -> None:
    """B is granted the queue beside A, which is marked unsafe until A releases (rule H26)."""
    story, a, b = gated_b()
    story.world.rule("on_mute", "force")
    story.time(20_000)
    assert value(story).overtaken == ()
    story.unsafe = True
    story.time(30_000)
    assert [grant.member for grant in value(story).overtaken] == [a.key]
    granted = [move for each in story.decisions for move in each.moves if move.unsafe]
    assert {move.member for move in granted} == {b.key}
    assert story.decisions[-1].state.unsafe == 1
    b.reads_all()
    b.processes(1)
    story.time(3_000)
    assert [grant.member for grant in value(story).overtaken] == [a.key]
    a.reads_all()
    a.stops()
    story.engine()
    assert value(story).overtaken == ()
    assert story.owner() == "b"


def test_the_successor_of_a_forced_one_proves_nothing_about_the_mute() -> None:
    """B was granted past A and releases: A's mark stays, for A may still be working (rule H26)."""
    story, a, b = gated_b()
    story.world.rule("on_mute", "force")
    story.unsafe = True
    story.time(45_000)
    b.reads_all()
    b.processes(2)
    c = story.joins("c")
    story.moves(0, "c")
    b.reads()
    b.stops()
    story.engine()
    c.reads_all()
    assert [grant.member for grant in value(story).overtaken] == [a.key]
    assert start_of(c) == 2
    story.deaths = True
    a.crashes()
    story.time(16_000)
    assert value(story).overtaken == ()


def test_healing_of_a_mute_member_backs_off() -> None:
    """A never reads its healed record: the engine writes it half as often each time."""
    story, a, b = gated_b()
    story.world.rule("on_mute", "force")
    story.unsafe = True
    a.works[0].stopping = False
    healed = []
    for _ in range(60):
        before = len(story.decisions)
        story.time(3_000)
        b.reads_all()
        healed += [story.now_ms for each in story.decisions[before:] if "healed" in each.triggers]
    waits = [later - earlier for earlier, later in pairwise(healed)]
    assert len(waits) >= 4
    assert waits == sorted(waits)
    assert waits[-1] >= 30_000
    assert key_of("a") in (story.world.state.members if story.world.state else {})


def test_a_mute_member_holds_a_barrier_until_it_is_forced() -> None:
    """A never acknowledges: with force the barrier ends, and all is marked (rule H27)."""
    story, a = owned_by_a(queues=2)
    b = story.joins("b")
    story.points({1: "b"})
    story.engine()
    a.reads_all()
    a.stops(1)
    b.reads_all()
    story.engine()
    story.world.rule("on_mute", "force")
    story.engine()
    story.restarts()
    b.reads()
    story.time(20_000)
    b.reads_all()
    assert story.decisions[-1].state.phase == "barrier"
    story.unsafe = True
    story.points({0: "b"})
    story.time(15_000)
    alarms = {alarm for each in story.decisions for alarm in each.alarms}
    assert "barrier_mute" in alarms
    assert story.decisions[-1].state.phase != "barrier"
    assert [grant.member for grant in value(story, 0).overtaken] == [a.key]
    assert value(story, 1).overtaken == ()
    b.reads_all()
    assert 0 in b.works
    a.reads_all()
    a.stops(0)
    story.engine()
    assert value(story, 0).overtaken == ()


def test_an_eager_group_waits_for_nobody() -> None:
    """Drop and ungated add in one decision: B starts at A's progress while A still works."""
    story, a, b = eager_a_beside_b()
    a.processes(3)
    story.time(1_500)
    story.unsafe = True
    story.moves(0, "b")
    b.reads_all()
    assert start_of(b) == 3
    assert set(a.works) == set(b.works) == {0}
    assert [move.unsafe for move in story.decisions[-1].moves] == [False, True]
    a.processes(2)
    a.reads()
    a.stops()
    story.engine()
    assert value(story).overtaken == ()
    assert value(story).base == Position(0, 5)


def test_an_eager_group_gives_a_queue_back_to_one_who_still_stops() -> None:
    """A's new add has no gate: A begins anew only when its own work under the old one is over."""
    story, a, _ = eager_a_beside_b()
    story.unsafe = True
    story.moves(0, "b")
    a.reads()
    story.moves(0, "a")
    a.reads_all()
    assert (len(a.starts), a.works[0].stopping) == (1, True)
    a.stops()
    assert (len(a.starts), a.works[0].stopping) == (2, False)


def test_back_in_a_cooperative_group_nobody_is_forgotten() -> None:
    """Whoever was overtaken is not waited for, but the next move waits for the newest holder."""
    story, a, b = eager_a_beside_b()
    story.unsafe = True
    story.moves(0, "b")
    b.reads_all()
    story.world.rule("mode", "cooperative")
    c = story.joins("c")
    story.moves(0, "c")
    c.reads_all()
    assert (gates(story), c.starts) == (["b"], [])
    b.reads()
    b.stops()
    c.reads_all()
    assert 0 in c.works
    assert [grant.member for grant in value(story).overtaken] == [a.key]


def test_an_ordered_member_makes_an_eager_group_wait() -> None:
    """The rule does nothing while one is there, and an alarm says so; setting it is refused."""
    story, _ = owned_by_a()
    story.world.rule("mode", "eager")
    story.engine()
    b = story.joins("b", ordered=True)
    story.moves(0, "b")
    assert gates(story) == ["a"]
    assert "rule_without_effect" in story.decisions[-1].alarms
    b.reads_all()
    assert story.owner() == "a"
    story.world.rule("mode", "cooperative")
    story.engine()
    story.world.rule("mode", "eager")
    result = story.world.run()
    assert result.counts["rule", "rejected"] == 1
