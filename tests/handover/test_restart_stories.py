"""Restarts, old checkpoints, healing, resets, duplicate ids and mute members, told as stories.

The rows of the second round of counter-examples: each test plays its run with the real core and the
real sessions, every rule in force.
"""

from itertools import pairwise

from fairlead_client.model import Process

from fairlead.core.model import Position
from fairlead.core.state import QueueState
from tests.core.world import key_of, queue_of
from tests.handover.story import Client, Story
from tests.handover.test_counter_examples import gated_b, gates, owned_by_a


def start_of(client: Client) -> int:
    """The offset at which a client started last."""
    return client.starts[-1][2]


def value(story: Story, queue: int = 0) -> QueueState:
    """What the engine remembers of a queue."""
    assert story.world.state is not None
    return story.world.state.queues[queue_of(queue)]


# Section 2: driver restarts and old checkpoints.


def test_an_older_state_grants_nothing_beside_what_runs() -> None:
    """Yesterday's state gives the queue to A; B, which holds it by a lost decision, is adopted."""
    story, a = owned_by_a()
    b = story.joins("b")
    story.engine()
    b.reads_all()
    older = story.world.state
    story.moves(0, "b")
    a.reads()
    a.stops()
    b.reads_all()
    assert story.owner() == "b"
    story.targets = {0: "a"}
    story.world.state = older
    story.restarts()
    a.reads()
    b.reads()
    story.engine()
    a.reads_all()
    b.reads_all()
    assert gates(story) in ([], ["b"])
    assert story.owner() == "b"


def test_a_member_that_has_not_acknowledged_is_waited_for() -> None:
    """B's acknowledgement is on its way: nothing is granted to A meanwhile."""
    story, a, b = gated_b()
    a.reads()
    a.stops()
    b.reads_all()
    story.restarts()
    a.reads()
    story.moves(0, "a")
    assert story.decisions[-1].state.phase == "barrier"
    a.reads_all()
    assert story.owner() == "b"
    b.reads()
    story.engine()
    b.reads_all()
    b.stops()
    a.reads_all()
    assert story.owner() == "a"


def test_a_member_whose_heartbeats_were_not_read_yet_is_waited_for() -> None:
    """An older state does not know B; its heartbeat stands before the marker, so B must answer."""
    story, a = owned_by_a()
    older, before = story.world.state, len(story.told)
    b = story.joins("b")
    beats = list(story.world.waiting)
    story.moves(0, "b")
    a.reads()
    a.stops()
    b.reads_all()
    assert (story.owner(), len(story.told) > before) == ("b", True)
    story.world.state = older
    story.world.waiting = [*beats]
    story.restarts()
    a.reads()
    story.points({0: "a"})
    story.engine()
    assert story.decisions[-1].state.phase == "barrier"
    a.reads_all()
    assert story.owner() == "b"
    b.reads()
    story.engine()
    assert story.owner() == "b"


def test_the_last_position_of_a_stopped_queue_is_in_the_acknowledgement() -> None:
    """A released at 5 under a decision that the older state lacks: B starts at 5, not before."""
    story, a = owned_by_a()
    b = story.joins("b")
    story.engine()
    b.reads_all()
    older = story.world.state
    story.moves(0, "b")
    a.processes(5)
    a.reads()
    a.stops()
    story.world.waiting = []
    story.world.state = older
    story.restarts()
    a.reads()
    b.reads()
    story.moves(0, "b")
    b.reads_all()
    assert (story.owner(), start_of(b)) == ("b", 5)


def test_a_restart_inside_a_barrier_begins_it_anew() -> None:
    """The second driver waits for its own acknowledgements; owners go on all the while."""
    story, a, b = gated_b()
    story.restarts()
    a.reads()
    story.engine()
    story.restarts()
    story.engine()
    assert story.decisions[-1].state.phase == "barrier"
    assert story.owner() == "a"
    a.reads()
    b.reads()
    story.engine()
    assert story.decisions[-1].state.phase != "barrier"
    a.reads_all()
    a.stops()
    b.reads_all()
    assert story.owner() == "b"


def test_a_rule_change_during_an_uncommitted_batch() -> None:
    """The batch that read the rule wrote and died; the next driver reads the rule again, once.

    A obeyed the drop meanwhile, and B started by A's release: B is adopted, nothing moves twice.
    """
    story, a = owned_by_a()
    b = story.joins("b")
    story.engine()
    b.reads_all()
    committed = story.world.state
    a.processes(3)
    story.points({0: "b"})
    uncommitted = list(story.world.waiting)
    story.engine()
    a.reads()
    a.stops()
    b.reads_all()
    assert story.owner() == "b"
    story.world.state = committed
    story.world.waiting = uncommitted + story.world.waiting
    story.restarts()
    a.reads()
    b.reads()
    story.engine()
    a.reads_all()
    b.reads_all()
    assert (story.owner(), len(b.starts), value(story).chain[0].member) == ("b", 1, b.key)
    assert start_of(b) == 3


# Section 3: healing.


def test_a_lost_add_is_healed() -> None:
    """B's only record is lost: its digest differs, and it is written again."""
    story, a, b = gated_b()
    b.loses()
    a.reads()
    a.stops()
    story.engine()
    b.loses()
    b.reads_all()
    assert story.owner() is None
    story.time(9_000)
    b.reads_all()
    assert story.owner() == "b"


def test_a_lost_drop_is_healed() -> None:
    """A's drop is lost: A works on until it is told again, and B waits."""
    story, a, b = gated_b()
    a.loses()
    story.time(9_000)
    b.reads_all()
    assert story.owner() == "a"
    a.reads_all()
    a.stops()
    b.reads_all()
    assert story.owner() == "b"


def test_an_older_add_read_after_its_grant_shuts_no_gate() -> None:
    """The grant is read first, then the gated add of the same epoch: B starts once, and goes on."""
    story, a, b = gated_b()
    a.processes(4)
    a.reads()
    a.stops()
    story.engine()
    b.skips(
        next(
            i
            for i, output in enumerate(story.told[b.places["told"] :], 1)
            if output.member == b.key
        )
    )
    b.reads()
    assert (story.owner(), start_of(b)) == ("b", 4)
    b.reads_again()
    assert len(b.starts) == 1


def test_a_position_never_goes_back_by_an_older_add() -> None:
    """The healed add has the newer base; the older one, read later, keeps the greater."""
    story, a, b = gated_b()
    story.engine()
    first = b.places["told"]
    a.processes(6)
    story.time(1_500)
    story.world.beat("b", held=1)
    story.time(6_000)
    story.deaths = True
    a.crashes()
    story.time(16_000)
    del first
    b.reads_again()
    b.reads_all()
    b.reads_again()
    assert (story.owner(), start_of(b), len(b.starts)) == ("b", 6, 1)


def test_a_set_that_lacks_a_newer_add_takes_nothing_away() -> None:
    """An old whole set is read again after a newer add: absence there says nothing of it."""
    story, a = owned_by_a()
    story.engine()
    a.reads_again()
    assert story.owner() == "a"
    b = story.joins("b")
    story.engine()
    b.reads_all()
    story.moves(0, "b")
    a.reads()
    a.stops()
    b.reads_all()
    story.engine()
    b.reads_again()
    assert story.owner() == "b"


# Section 4: resets.


def test_a_reset_backwards() -> None:
    """The holder is dropped and gets the queue again from the reset, after its own release."""
    story, a = owned_by_a()
    a.processes(9)
    reset = story.resets_to(2)
    story.engine()
    assert story.decisions[-1].triggers == ("reset",)
    a.reads_all()
    assert story.owner() == "a"
    a.stops()
    story.engine()
    a.reads_all()
    assert (story.owner(), start_of(a), a.works[0].reset) == ("a", 2, reset)
    assert story.committed[0] == Position(reset, 2)


def test_a_reset_forwards() -> None:
    """Messages between are skipped because an operator said so."""
    story, a = owned_by_a()
    a.processes(3)
    reset = story.resets_to(50)
    story.engine()
    a.reads_all()
    a.stops()
    a.reads_all()
    assert (start_of(a), a.works[0].reset) == (50, reset)


def test_a_late_release_of_an_older_era_loses_by_itself() -> None:
    """B is gated with the reset's position; A's release is read, and is smaller as a pair."""
    story, a, b = gated_b()
    a.processes(40)
    reset = story.resets_to(5)
    story.engine()
    a.reads()
    b.reads()
    a.stops()
    story.engine()
    b.reads_all()
    assert (story.owner(), start_of(b), b.works[0].reset) == ("b", 5, reset)


def test_a_reset_read_again_is_applied_once() -> None:
    """The record comes again, as control is read again after a rollback: nothing happens."""
    story, a = owned_by_a()
    story.resets_to(2)
    record = story.world.waiting[-1]
    story.engine()
    a.reads_all()
    a.stops()
    a.reads_all()
    a.processes(4)
    story.time(1_500)
    story.world.waiting.append(record)
    decided = len(story.decisions)
    story.engine()
    assert (len(story.decisions), story.owner()) == (decided, "a")


def test_a_rollback_behind_a_reset_neither_loses_nor_repeats_it() -> None:
    """The state before the reset is put back: what A claims follows it already."""
    story, a = owned_by_a()
    older = story.world.state
    story.resets_to(2)
    record = story.world.waiting[-1]
    story.engine()
    a.reads_all()
    a.stops()
    a.reads_all()
    a.processes(4)
    story.world.state = older
    story.world.waiting = [record]
    story.restarts()
    a.reads()
    story.engine()
    a.reads_all()
    assert (story.owner(), len(a.starts), value(story).base) == (
        "a",
        2,
        Position(record.source.offset + 1, 6),
    )


def test_a_reset_that_arrives_in_a_barrier_is_carried_out_at_its_end() -> None:
    """Owners go on in the barrier; then what follows an older reset is dropped and starts anew."""
    story, a = owned_by_a()
    a.processes(7)
    story.restarts(marked=False)
    story.engine()
    reset = story.resets_to(1)
    story.engine()
    a.reads()
    assert story.owner() == "a"
    story.world.marker = story.generation
    story.engine()
    a.reads_all()
    a.stops()
    story.engine()
    a.reads_all()
    assert (story.owner(), start_of(a), a.works[0].reset) == ("a", 1, reset)


def test_two_resets_the_newer_one_wins() -> None:
    """Both are read in one batch: one move, to the newer."""
    story, a = owned_by_a()
    a.processes(9)
    story.resets_to(1)
    newest = story.resets_to(3)
    story.engine()
    a.reads_all()
    a.stops()
    a.reads_all()
    assert (start_of(a), a.works[0].reset) == (3, newest)


def test_a_reset_while_nobody_is_there_waits_for_the_first() -> None:
    """A stopped group is reset: it is not forgotten, and the first client starts there."""
    story, a = owned_by_a()
    a.processes(9)
    a.leaves()
    story.engine()
    reset = story.resets_to(4)
    story.time(700_000)
    assert story.world.state is not None
    b = story.joins("b")
    story.points({0: "b"})
    story.engine()
    b.reads_all()
    assert (story.owner(), start_of(b), b.works[0].reset) == ("b", 4, reset)


def test_a_reset_of_a_group_of_which_nothing_is_known() -> None:
    """State and members are gone; what was committed says that the reset was followed already."""
    story, a = owned_by_a()
    reset = story.resets_to(4)
    record = story.world.waiting[-1]
    story.engine()
    a.reads_all()
    a.stops()
    a.reads_all()
    a.processes(8)
    a.leaves()
    story.engine()
    assert story.committed[0] == Position(reset, 12)
    story.world.state = None
    story.world.waiting = [record]
    story.restarts()
    story.engine()
    b = story.joins("b")
    story.points({0: "b"})
    story.engine()
    b.reads_all()
    assert (story.owner(), start_of(b)) == ("b", 12)


# Section 5: duplicate client ids.


def test_of_two_processes_with_one_id_the_greater_stays() -> None:
    """The older one is told and leaves; the newer takes over, and they never share the queue."""
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
    story.time(5_000)
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


# Section 6: drain deadline and mute members.


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


def test_a_mute_member_keeps_its_queue_and_is_an_alarm() -> None:
    """A heartbeats and never reads: B waits, and everybody may know."""
    story, _, b = gated_b()
    story.time(60_000)
    b.reads_all()
    assert (story.owner(), b.starts) == ("a", [])
    assert story.decisions[-1].alarms == ("mute_member",)
    assert "mute_member" in story.decisions[-1].triggers


def test_a_mute_member_is_passed_where_the_rule_says_so() -> None:
    """B is granted the queue beside A, which is marked unsafe until A releases."""
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
    """B was granted past A and releases: A's mark stays, for A may still be working."""
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
    """A never reads what it is told again: each time it is told half as often."""
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
    """A never acknowledges the new driver; with force it counts as lapsed, and all is marked."""
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


# Eager groups.


def test_an_eager_group_waits_for_nobody() -> None:
    """Drop and ungated add in one decision: B starts at A's progress while A still works."""
    story, a = owned_by_a()
    b = story.joins("b")
    story.world.rule("mode", "eager")
    story.engine()
    b.reads_all()
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


def test_back_in_a_cooperative_group_nobody_is_forgotten() -> None:
    """Whoever was overtaken is not waited for, but the next move waits for the newest holder."""
    story, a = owned_by_a()
    b = story.joins("b")
    story.world.rule("mode", "eager")
    story.engine()
    b.reads_all()
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
