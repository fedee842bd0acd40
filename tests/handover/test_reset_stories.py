"""Resets of a queue by an operator, told as stories."""

from fairlead.core.model import Position
from tests.handover.beginnings import follow_reset, gated_b, owned_by_a, start_of, value


def test_a_reset_backwards_repeats_from_there() -> None:
    """The holder releases, and gets the queue again from the reset (rule H25)."""
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
    assert story.committed[0].position == (reset, 2)


def test_a_reset_forwards_skips_to_there() -> None:
    """Messages between are skipped because an operator said so."""
    story, a = owned_by_a()
    a.processes(3)
    reset = story.resets_to(50)
    follow_reset(story, a)
    assert (start_of(a), a.works[0].reset) == (50, reset)


def test_a_late_release_of_an_older_era_loses_by_itself() -> None:
    """B is gated with the reset's position; A's release is smaller as a pair (rule H25)."""
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
    """After a rollback the engine reads the reset again: nothing happens (rule H25)."""
    story, a = owned_by_a()
    story.resets_to(2)
    record = story.world.waiting[-1]
    follow_reset(story, a)
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
    follow_reset(story, a)
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
    follow_reset(story, a)
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
    follow_reset(story, a)
    a.processes(8)
    a.leaves()
    story.engine()
    assert story.committed[0].position == (reset, 12)
    story.world.state = None
    story.world.waiting = [record]
    story.restarts()
    story.engine()
    b = story.joins("b")
    story.points({0: "b"})
    story.engine()
    b.reads_all()
    assert (story.owner(), start_of(b)) == ("b", 12)
