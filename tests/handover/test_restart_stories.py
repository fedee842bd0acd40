"""Drivers that start again, with the state whole or put back from yesterday, told as stories."""

from tests.handover.beginnings import a_beside_b, gated_b, gates, owned_by_a, start_of, value


def test_an_older_state_grants_nothing_beside_what_runs() -> None:
    """Yesterday's state gives the queue to A; B, which holds it by a lost decision, is adopted."""
    story, a, b = a_beside_b()
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
    """B's acknowledgement is on its way: nothing is granted to A meanwhile (rule H14)."""
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
    story, a, b = a_beside_b()
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
    """A batch that read a rule wrote and died: the next driver reads it and moves nothing twice."""
    story, a, b = a_beside_b()
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
