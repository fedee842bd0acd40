"""The runs that break a handover with one rule less, played with every rule in force (CE1 to CE17).

Each test tells the run of its row with the real core and the real sessions. docs/handover.md has
the table of rows; every word of a client is followed by a look for two owners, holes and needless
repetitions.
"""

import pytest
from fairlead_client.model import Process

from fairlead.core.handover import Phase, phase_of
from tests.core.world import key_of, queue_of
from tests.handover.story import Client, Story


def owned_by_a(**settings: object) -> tuple[Story, Client]:
    """A client owns the only queue, and has read so."""
    story = Story(**settings)  # type: ignore[arg-type]  # fields of Story
    a = story.joins("a")
    story.engine()
    a.reads_all()
    assert story.owner() == "a"
    return story, a


def gated_b(**settings: object) -> tuple[Story, Client, Client]:
    """The queue goes from A to B in one decision; neither has read it."""
    story, a = owned_by_a(**settings)
    b = story.joins("b")
    story.engine()
    b.reads_all()
    story.moves(0, "b")
    assert phase(story) is Phase.HANDOVER
    return story, a, b


def phase(story: Story) -> Phase:
    """Where the engine sees the queue."""
    assert story.world.state is not None
    return phase_of(story.world.state.queues[queue_of(0)])


def gates(story: Story) -> list[str]:
    """Who the newest add of the queue waits for."""
    assert story.world.state is not None
    chain = story.world.state.queues[queue_of(0)].chain
    return [grant.member.client_id for grant in chain[:-1]]


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
    """The target flaps from A to B and back: A's new add waits for B, which may have started."""
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
    """With a longer chain A's new add names B and A, and needs no wait for either answer."""
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


def test_ce3_a_lapse_of_the_gated_one_frees_nobody_else() -> None:
    """B dies while it is gated: A has not read its drop, so C waits for A."""
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


def test_ce7_an_add_that_nobody_has_read_dies_with_its_generation() -> None:
    """A acknowledges the new driver with its add unread; then the add is refused."""
    story = Story()
    a, b = story.joins("a"), story.joins("b")
    story.points({0: "a"})
    story.engine()
    story.restarts()
    a.reads_generations()
    b.reads()
    story.moves(0, "b")
    a.reads_all()
    b.reads_all()
    assert (a.starts, story.owner()) == ([], "b")


def test_ce7c_of_two_claims_the_newer_works() -> None:
    """A claims while it drains; B opens its gate by A's release, and claims too: B's counts."""
    story, a, b = gated_b()
    a.reads()
    story.restarts(marked=False)
    a.reads()
    a.stops()
    b.places["releases"] = len(story.released) - 1
    b.learns_late()
    b.reads_all()
    assert story.owner() == "b"
    b.reads()
    story.world.marker = story.generation
    story.engine()
    a.reads_all()
    assert (gates(story), story.owner()) == ([], "b")


def test_ce7d_epochs_of_a_new_driver_are_new() -> None:
    """The group's state is lost: its epochs begin under the new generation, and are taken."""
    story, a = owned_by_a()
    before = a.starts[0][1]
    a.leaves()
    story.engine()
    story.world.state = None
    story.restarts()
    b = story.joins("b")
    story.points({})
    story.engine()
    b.reads_all()
    assert story.owner() == "b"
    assert b.starts[0][1] > before
    assert b.starts[0][1].generation == story.generation


def test_ce7e_an_old_driver_gives_nothing_to_a_new_client() -> None:
    """A client that starts first learns the newest generation; adds of an older one are refused."""
    story, a = owned_by_a()
    zombie = story.another_engine()
    story.restarts()
    a.reads()
    story.engine()
    c = story.joins("c")
    zombie.world.waiting += story.world.waiting
    zombie.points({0: "c"})
    zombie.engine()
    c.reads_all()
    assert any(output.member == c.key for output in story.told)
    assert (c.starts, story.owner()) == ([], "a")


def test_ce8_heartbeats_of_a_superseded_life_count() -> None:
    """An older process with the id goes on working until it has stopped, however long it takes."""
    story, a = owned_by_a()
    newer = story.joins("a", process=Process(9_000, "process-newer"), life=10)
    story.time(30_000)
    newer.reads_all()
    assert (story.owner(), newer.starts) == ("a", [])
    a.reads_all()
    a.stops()
    newer.reads_all()
    assert story.owner() == "a'"


def test_ce9_a_late_acknowledgement_revives_nobody() -> None:
    """A's heartbeat was appended; it learns so after its deadline, and works on nothing."""
    story, a = owned_by_a()
    story.deaths = True
    b = story.joins("b")
    story.engine()
    a.heard = False
    story.time(3_000)
    a.frozen = True
    story.time(17_000)
    b.reads_all()
    assert story.owner() == "b"
    a.frozen = False
    a.answers()
    assert a.may_work() == {}
    assert story.owner() == "b"


def test_ce12_a_refused_heartbeat_counts_for_its_lease() -> None:
    """A heartbeats what this engine does not take; it works on, and nobody takes its queue."""
    story, a = owned_by_a()
    b = story.joins("b")
    story.engine()
    a.message_model = "broadcasting"
    story.time(40_000)
    b.reads_all()
    assert story.world.state is not None
    assert key_of("a") in story.world.state.members
    assert story.owner() == "a"


def test_ce13_gates_die_with_the_lease() -> None:
    """A's lease ends with its add unread; the add names a life that is no more."""
    story = Story()
    a = story.joins("a")
    story.engine()
    story.deaths = True
    b = story.joins("b")
    story.points({0: "b"})
    a.heard = False
    story.time(26_000)
    assert a.life > 1
    b.reads_all()
    assert story.owner() == "b"
    a.heard = True
    a.reads_all()
    a.reads_again()
    assert a.starts == []


def test_ce14_a_batch_run_again_under_a_new_driver_contradicts_nothing() -> None:
    """The add to A was written and the batch lost; the target is B now, and A still gets it back.

    What A claims is adopted, so B waits for it.
    """
    story = Story()
    a, b = story.joins("a"), story.joins("b")
    story.world.run()
    before = story.world.state
    story.world.route(1)
    story.world.bounds(1)
    story.engine()
    a.reads_all()
    assert story.owner() == "a"
    story.world.state = before
    story.restarts()
    a.reads()
    b.reads()
    story.moves(0, "b")
    b.reads_all()
    assert story.owner() == "a"
    assert gates(story) == ["a"]
    a.reads()
    a.stops()
    b.reads_all()
    assert story.owner() == "b"


def test_ce15_after_a_lapse_the_successor_starts_at_the_known_progress() -> None:
    """A dies with messages unprocessed: B starts where A was, not at the end of the queue."""
    story, a, b = gated_b()
    story.deaths = True
    a.processes(4)
    story.time(1_500)
    a.crashes()
    b.reads()
    story.time(16_000)
    b.reads_all()
    assert (story.owner(), b.starts[0][2]) == ("b", 4)


def test_ce16_a_leave_read_before_its_release_frees_nothing() -> None:
    """A's leave is read first: B is gated, and starts at A's release."""
    story, a = owned_by_a()
    b = story.joins("b")
    story.engine()
    a.processes(5)
    a.leaves(busy=True)
    story.engine()
    b.reads_all()
    assert (story.owner(), gates(story)) == ("a", ["a"])
    a.stops()
    b.reads_all()
    assert b.starts[0][2] == 5


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
    """B follows the releases from after A's: the engine's second add opens its gate."""
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
    """A releases, gets the queue again, and its old release is read once more."""
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
