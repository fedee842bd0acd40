"""The runs that break a life, a lease or a start with one rule less, all rules in force (CE7–CE16).

The rows about clocks (CE10 and CE11) are played with the real clock of a shard, in
``tests/engine/test_lapse_stories.py``.
"""

from fairlead_client.model import Process

from fairlead.core.outputs import Assignment
from tests.handover.beginnings import gated_b, gates, has_passed, holders, owned_by_a
from tests.handover.story import Story
from tests.kit.group_world import key_of


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


def test_ce7b_a_holder_that_was_not_heard_yet_is_waited_for() -> None:
    """The state is lost and B, the target, acknowledges at once; A works and is heard later."""
    story, a = owned_by_a()
    b = story.joins("b")
    story.engine()
    story.world.lose(story.generation + 1)
    story.world.pass_time(3_000)
    b.reads_all()
    b.passes()
    story.points({0: "b"})
    story.engine()
    b.reads_all()
    assert (b.starts, story.owner()) == ([], "a")
    a.processes(2)
    a.reads_all()
    story.time(16_000)
    a.reads_all()
    a.stops()
    b.reads_all()
    assert (story.owner(), b.starts[0][2]) == ("b", 2)


def test_ce7c_of_two_claims_the_newer_works() -> None:
    """A, draining, and B, started by A's release, both claim: B's claim counts (rule H15)."""
    story, a, b = gated_b()
    a.reads()
    story.restarts(marked=False)
    a.reads()
    a.stops()
    b.places["releases"] = len(story.released) - 1
    b.learns_late()
    b.reads_all()
    assert story.owner() == "b"
    story.world.marker = story.generation
    story.engine()
    assert has_passed(story) is False
    b.learns()
    story.engine()
    a.reads_all()
    assert (has_passed(story), holders(story), story.owner()) == (True, ["b"], "b")


def test_ce7c_of_two_claims_the_newer_works_though_a_release_is_missing() -> None:
    """A claims while it drains, and its release is read after the barrier: B's claim counts."""
    story, a, b = gated_b()
    a.reads()
    story.restarts(marked=False)
    a.reads()
    a.stops()
    late = next(each for each in story.world.waiting if each.source.topic == "releases")
    story.world.waiting.remove(late)
    b.places["releases"] = len(story.released) - 1
    b.learns_late()
    b.reads_all()
    assert story.owner() == "b"
    b.learns()
    c = story.joins("c")
    story.points({0: "c"})
    story.world.marker = story.generation
    story.engine()
    assert (has_passed(story), holders(story)) == (True, ["b", "c"])
    story.world.waiting.append(late)
    story.engine()
    c.reads_all()
    assert (gates(story), story.owner()) == (["b"], "b")


def test_ce7d_epochs_of_a_new_driver_are_new() -> None:
    """The group's state is lost: epochs begin under the new generation, and count (rule H5)."""
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


def test_ce7e_an_old_driver_that_believes_a_queue_free_gives_it_to_nobody() -> None:
    """The old driver knows no holder, so its add has no gate: the generation alone shuts it."""
    story, a = owned_by_a()
    a.leaves()
    story.engine()
    zombie = story.another_engine()
    story.restarts()
    b = story.joins("b")
    story.points({0: "b"})
    story.engine()
    b.reads_all()
    c = story.joins("c")
    zombie.world.waiting += story.world.waiting
    zombie.points({0: "c"})
    zombie.engine()
    c.reads_all()
    granted = [each for each in story.told if isinstance(each, Assignment) and each.member == c.key]
    assert granted[-1].add[0].after == ()
    assert (c.starts, story.owner()) == ([], "b")


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
    """The engine refuses A's heartbeats: A works on, and keeps its queue (rule H10)."""
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
    story.time(4_000)
    assert a.session.state.value == "running"
    a.reads_all()
    a.reads_again()
    assert (a.starts, story.owner()) == ([], "b")


def test_ce13_a_gate_of_before_opens_nothing_after() -> None:
    """B waits at a gate when its lease ends; A's release comes later, and C is the target now."""
    story, a, b = gated_b()
    story.deaths = True
    c = story.joins("c")
    b.reads()
    b.heard = False
    story.points({0: "c"})
    story.time(26_000)
    b.heard = True
    story.time(4_000)
    assert (b.life > 1, b.session.state.value, gates(story)) == (True, "running", ["a"])
    a.reads()
    a.stops()
    b.reads_releases()
    c.reads_all()
    assert (b.starts, story.owner()) == ([], "c")


def test_ce14_a_batch_run_again_under_a_new_driver_contradicts_nothing() -> None:
    """A's add was lost with its batch: A claims what it runs, so B waits (rule H16)."""
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
    """A dies with unprocessed messages: B starts where A was, not at the end (rule H7)."""
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
    """A's leave is read first: B is gated, and starts at A's release (rule H11)."""
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
