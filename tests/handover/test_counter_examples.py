"""The runs that break a move with one rule less, played with every rule in force (CE1–CE6, CE17).

Each test tells the run of its row with the real core and the real sessions. Every word of a client
is followed by a look for two owners, holes and needless repetitions. docs/handover.md has the table
of the rows.
"""

import pytest

from fairlead.core.handover.chain import Phase
from tests.handover.beginnings import gated_b, gates, phase
from tests.handover.story import Story


def test_one_decision_moves_a_queue() -> None:
    """Drop and gated add are one decision; the successor reads the release itself."""
    story, a, b = gated_b()
    decided = len(story.decisions)
    a.processes(7)
    a.reads()
    a.stops()
    b.reads_all()
    assert b.starts == [(0, b.starts[0][1], 7)]
    assert len(story.decisions) == decided
    story.engine()
    b.reads_all()
    assert phase(story) is Phase.OWNED
    assert len(b.starts) == 1


def test_ce1_the_third_client_waits_for_the_second() -> None:
    """The target flaps from A to B and back: A waits for B, which may have started (rule H6)."""
    story, a, b = gated_b()
    story.moves(0, "a")
    assert phase(story) is Phase.BLOCKED
    a.reads()
    a.stops()
    story.engine()
    assert gates(story) == ["b"]
    a.reads_all()
    b.reads(1)
    b.reads_releases()
    assert story.owner() == "b"
    b.reads()
    b.stops()
    a.reads_releases()
    assert story.owner() == "a"


def test_ce1_with_room_for_three() -> None:
    """A longer chain: A's new add names B and A, and waits for no answer (rule H1)."""
    story, a, b = gated_b(cap=3)
    story.moves(0, "a")
    assert gates(story) == ["a", "b"]
    a.reads()
    a.stops()
    a.reads_all()
    assert story.owner() is None
    b.reads_all()
    a.reads_all()
    assert story.owner() == "a"


def test_ce2_an_answer_of_the_second_does_not_free_the_first() -> None:
    """B was gated and answers "never": A may still be working, so C waits for A."""
    story, a, b = gated_b()
    c = story.joins("c")
    story.engine()
    story.moves(0, "c")
    b.reads()
    assert b.releases == [(0, b.releases[0][1], None)]
    story.engine()
    assert gates(story) == ["a"]
    c.reads_all()
    assert story.owner() == "a"
    a.processes(3)
    a.reads()
    a.stops()
    c.reads_all()
    assert (story.owner(), c.starts[0][2]) == ("c", 3)


def test_ce2_with_room_for_three() -> None:
    """C's list names B and A; B's "never" opens nothing while A may be working (rule H2)."""
    story, a, b = gated_b(cap=3)
    c = story.joins("c")
    story.engine()
    story.moves(0, "c")
    assert gates(story) == ["a", "b"]
    b.reads()
    assert [offset for _, _, offset in b.releases] == [None]
    c.reads_all()
    assert (c.starts, story.owner()) == ([], "a")
    a.processes(3)
    a.reads()
    a.stops()
    c.reads_all()
    assert (story.owner(), c.starts[0][2]) == ("c", 3)


def test_ce3_a_lapse_of_the_gated_one_frees_nobody_else() -> None:
    """B dies while it is gated: A has not read its drop, so C waits for A (rule H6)."""
    story, a, b = gated_b()
    story.deaths = True
    c = story.joins("c")
    b.crashes()
    story.points({0: "c"})
    story.time(16_000)
    assert gates(story) == ["a"]
    c.reads_all()
    assert story.owner() == "a"
    a.reads()
    a.stops()
    c.reads_all()
    assert story.owner() == "c"


def test_ce4_a_drop_read_before_its_add_is_remembered() -> None:
    """A reads the drop first and answers "never"; the add, read later, is refused."""
    story = Story()
    a = story.joins("a")
    story.engine()
    b = story.joins("b")
    story.engine()
    b.reads_all()
    story.moves(0, "b")
    a.skips(len(story.told) - a.places["told"] - 2)
    a.reads()
    story.engine()
    a.reads_again()
    b.reads_all()
    assert (a.starts, story.owner()) == ([], "b")


def test_ce5_a_drop_read_again_while_draining_is_not_answered() -> None:
    """The drop comes again while A stops: no "never", so B's gate stays shut."""
    story, a, b = gated_b()
    a.reads()
    a.reads_again()
    b.reads_all()
    assert (a.releases, story.owner()) == ([], "a")
    a.processes(1)
    a.stops()
    b.reads_all()
    assert b.starts[0][2] == 1


def test_ce6_a_drop_read_again_after_the_release_is_not_answered() -> None:
    """The true release is in the log: B starts at it and not at an older base."""
    _, a, b = gated_b()
    a.processes(1)
    a.reads()
    a.stops()
    a.reads_again()
    assert [offset for _, _, offset in a.releases] == [1]
    b.reads_all()
    assert b.starts[0][2] == 1


def test_ce17_a_drop_of_what_never_started_is_answered() -> None:
    """Without B's "never" the engine would wait for B for ever."""
    story, a, b = gated_b()
    story.moves(0, "a")
    b.reads()
    story.engine()
    a.reads()
    a.stops()
    a.reads_all()
    story.engine()
    a.reads_all()
    assert story.owner() == "a"


def test_ce17_a_release_that_the_successor_never_reads_is_granted() -> None:
    """B follows the releases from after A's: the engine's second add opens its gate (rule H4)."""
    story, a, b = gated_b()
    a.reads()
    a.processes(6)
    a.stops()
    b.places["releases"] = len(story.released)
    b.reads_all()
    assert story.owner() is None
    story.engine()
    b.reads_all()
    assert (story.owner(), b.starts[0][2]) == ("b", 6)


def test_a_grant_that_comes_after_the_start_changes_nothing() -> None:
    """B started by the release; the engine's second add, and the first again, start nothing."""
    story, a, b = gated_b()
    a.reads()
    a.stops()
    b.reads_all()
    story.engine()
    b.processes(3)
    b.reads_all()
    b.reads_again()
    assert len(b.starts) == 1
    assert story.owner() == "b"


@pytest.mark.parametrize("offset", [None, 4])
def test_a_release_that_is_read_again_ends_no_later_tenure(offset: int | None) -> None:
    """A releases, gets the queue again, and its old release is read twice more (rule H3)."""
    story, a, b = gated_b()
    if offset:
        a.processes(offset)
    a.reads()
    a.stops()
    b.reads_all()
    story.engine()
    story.moves(0, "a")
    b.reads()
    b.stops()
    a.reads_all()
    story.engine()
    assert story.owner() == "a"
    story.world.add("releases", story.released[0])
    story.engine()
    assert phase(story) is Phase.OWNED
    story.world.add("releases", story.released[0])
    story.moves(0, "b")
    assert gates(story) == ["a"]
    b.reads_all()
    assert story.owner() == "a"


def test_an_add_is_lost_and_only_a_later_record_is_read() -> None:
    """B never reads its add; the whole set of a later record holds it, and the gate decides."""
    story, a, b = gated_b(queues=2)
    b.loses()
    story.moves(1, "b")
    b.reads()
    assert [queue for queue, _, _ in b.starts] == []
    a.reads()
    for queue in sorted(a.works):
        if a.works[queue].stopping:
            a.stops(queue)
    b.reads_all()
    assert story.owner(0) == "b"
