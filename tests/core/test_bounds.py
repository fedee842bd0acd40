"""Rule H30: a position that nobody can have reached is refused, and an honest one never is."""

import pytest

from fairlead.core.model import Epoch, Position
from fairlead.core.outputs import Decision, Rejection
from fairlead.core.positions.bounds import DOUBTS_MAX, LEAP, OUT_OF_BOUNDS
from tests.kit.group_world import GroupWorld
from tests.kit.one_queue import ABSURD, FIRST, epoch_of_first, owned_by_a


def _moving(world: GroupWorld) -> Epoch:
    """Let an operator move the queue from a to b; return the epoch of a's grant."""
    held = epoch_of_first(world)
    world.rule("pin", {"queue": list(FIRST), "client_id": "b"}, *map(str, FIRST))
    world.rule("strategy", {"name": "STICKY"})
    world.beat("b")
    world.run()
    return held


def _base(world: GroupWorld) -> Position | None:
    assert world.state is not None
    return world.state.queues[FIRST].base


def _alarms(world: GroupWorld) -> set[str]:
    return {
        alarm for output in world.outputs if isinstance(output, Decision) for alarm in output.alarms
    }


def _refused(world: GroupWorld) -> list[tuple[str, str | None, int]]:
    return [
        (output.reason, output.field, output.source.offset)
        for output in world.outputs
        if isinstance(output, Rejection)
    ]


def test_a_release_beyond_the_end_is_asked_for_and_refused() -> None:
    """The queue goes on from its last believable position, and the alarm names it (rule H30)."""
    world = owned_by_a()
    held = _moving(world)
    world.progress("a", 0, held, 50, end=100)
    world.release("a", 0, held, ABSURD)
    world.run()
    assert (world.adds("b") if world.outputs else [], _alarms(world)) == ([], set())
    assert [asked.queues for asked in world.requests()] == [(FIRST,)]
    # The first answer may be of before: the member may have got further since.
    world.bounds(1, last=120)
    world.run()
    assert _refused(world) == []
    world.pass_time(5_000)
    world.beat("a")
    world.beat("b")
    world.run()
    assert [asked.queues for asked in world.requests()] == [(FIRST,)]
    world.bounds(1, last=120)
    world.run()
    assert OUT_OF_BOUNDS in _alarms(world)
    assert _refused(world) == [(OUT_OF_BOUNDS, "position", 0)]
    assert [add.position for add in world.adds("b")] == [Position(0, 50)]
    (cause,) = [one for one in world.decision.cause if one.kind == OUT_OF_BOUNDS]
    assert (cause.client_id, cause.queue) == ("a", FIRST)


def test_an_honest_release_beyond_a_stale_end_is_believed() -> None:
    """The known end is old: the bridge's answer proves the release (rule H30)."""
    world = owned_by_a()
    held = _moving(world)
    world.release("a", 0, held, 150)
    world.run()
    world.bounds(1, last=151)
    world.run()
    assert [add.position for add in world.adds("b")] == [Position(0, 150)]
    assert (_alarms(world), _refused(world)) == (set(), [])


def test_a_reset_that_nobody_asked_for_is_refused() -> None:
    """Progress and release that count an invented reset move nothing; a real one is followed."""
    # Else it would stand above all that is honestly reached, and above each reset to come.
    world = owned_by_a()
    held = epoch_of_first(world)
    world.progress("a", 0, held, 50, end=100)
    world.progress("a", 0, held, Position(2**62, 3), end=100)
    world.run()
    assert (_base(world), _alarms(world)) == (Position(0, 50), {OUT_OF_BOUNDS})
    assert [reason for reason, _, _ in _refused(world)] == [OUT_OF_BOUNDS]
    world.progress("a", 0, held, 60, end=100)
    world.run()
    assert _base(world) == Position(0, 60)
    _moving(world)
    world.release("a", 0, held, Position(2**62, 99))
    world.run()
    # That it has stopped is believed, where it stopped is not.
    assert [add.position for add in world.adds("b")] == [Position(0, 60)]
    world.reset(0, 7)
    world.run()
    base = _base(world)
    assert base is not None
    assert (0 < base.reset < 2**62, base.offset) == (True, 7)


def test_an_answer_of_before_refuses_nobody() -> None:
    """An answer that was under way when the release was read says nothing against it."""
    world = owned_by_a()
    held = _moving(world)
    world.release("a", 0, held, 150)
    world.run()
    world.bounds(1, last=140)
    world.run()
    world.bounds(1, last=150)
    world.run()
    assert [add.position for add in world.adds("b")] == [Position(0, 150)]
    assert (_alarms(world), _refused(world)) == (set(), [])


def test_the_end_that_the_member_told_is_enough() -> None:
    """A release with its progress waits for no bridge, in whichever order the two are read."""
    for progress_first in (True, False):
        world = owned_by_a()
        held = _moving(world)
        if progress_first:
            world.progress("a", 0, held, 150, end=160)
            world.run()
            world.release("a", 0, held, 155)
        else:
            world.release("a", 0, held, 155)
            world.run()
            world.progress("a", 0, held, 155, end=160)
        world.run()
        assert [add.position for add in world.adds("b")] == [Position(0, 155)]
        assert world.requests() == []


def test_a_successor_that_has_started_does_not_wait() -> None:
    """It read the release itself: its progress resolves the older grant before any answer."""
    world = owned_by_a()
    held = _moving(world)
    world.release("a", 0, held, 150)
    world.run()
    world.progress("b", 0, Epoch(1, world.state.number if world.state else 0), 150)
    world.run()
    assert (world.owned("a"), world.owned("b")) == ([], [0])


@pytest.mark.parametrize("end", [None, ABSURD + 1])
def test_progress_beyond_the_end_is_not_believed(end: int | None) -> None:
    """Also where the member says that the queue ends there: a bridge is asked first."""
    world = owned_by_a()
    held = epoch_of_first(world)
    world.progress("a", 0, held, ABSURD, end=end)
    world.run()
    assert _base(world) == Position(0, 0)
    assert [asked.queues for asked in world.requests()] == [(FIRST,)]
    for _ in range(2):
        world.bounds(1, last=100)
        world.run()
    assert OUT_OF_BOUNDS in _alarms(world)
    assert _refused(world) == [(OUT_OF_BOUNDS, "position", 1)]
    assert _base(world) == Position(0, 0)
    world.progress("a", 0, held, 60, end=100)
    world.run()
    assert _base(world) == Position(0, 60)


def test_a_leap_that_a_bridge_proves_counts() -> None:
    """A compacted queue may leap: it is asked for once, and believed."""
    world = owned_by_a()
    world.progress("a", 0, epoch_of_first(world), 2 * LEAP, end=3 * LEAP)
    world.run()
    world.bounds(1, last=3 * LEAP)
    world.run()
    assert (_base(world), _alarms(world)) == (Position(0, 2 * LEAP), set())


def test_a_release_below_what_its_own_grant_told_is_refused() -> None:
    """Its position is not believed; that its member has stopped is."""
    world = owned_by_a()
    held = _moving(world)
    world.progress("a", 0, held, 50, end=100)
    world.run()
    world.release("a", 0, held, 20)
    world.run()
    assert OUT_OF_BOUNDS in _alarms(world)
    assert _refused(world) == [(OUT_OF_BOUNDS, "position", 0)]
    assert [add.position for add in world.adds("b")] == [Position(0, 50)]


def test_a_release_behind_which_retention_deleted_is_honest() -> None:
    """The minimum has moved past a slow member: what it released is no lie."""
    world = owned_by_a()
    held = _moving(world)
    world.bounds(1, first=80, last=100)
    world.release("a", 0, held, 20)
    world.run()
    assert (_alarms(world), _refused(world)) == (set(), [])


def _behind_a_barrier() -> tuple[GroupWorld, Epoch]:
    """Return a world whose second driver waits for a, which is at 50 of 100, and a's epoch."""
    world = owned_by_a()
    held = epoch_of_first(world)
    world.progress("a", 0, held, 50, end=100)
    world.run()
    world.driver(2)
    world.beat("a")
    return world, held


def test_a_claim_beyond_the_end() -> None:
    """A barrier believes claims; what lies beyond the known end waits for the bounds."""
    world, held = _behind_a_barrier()
    world.claims("a", (0, held, ABSURD, True), identity="one")
    world.run()
    assert (world.owned("a"), _base(world)) == ([0], Position(0, 50))
    for _ in range(2):
        world.bounds(1, last=100)
        world.run()
    assert OUT_OF_BOUNDS in _alarms(world)
    assert (world.owned("a"), _base(world)) == ([0], Position(0, 50))


def test_what_was_claimed_and_is_nobodys_waits_for_its_bounds() -> None:
    """Its member has stopped beyond the known end: it goes on there once a bridge has said so."""
    world = owned_by_a()
    held = epoch_of_first(world)
    world.driver(2)
    world.beat("a")
    world.claims("a", (0, held, 150, False), identity="one")
    world.run()
    assert (world.owned("a"), [asked.what for asked in world.requests()]) == ([], ["offsets"])
    world.bounds(1, last=150)
    world.run()
    assert [add.position for add in world.adds("a")] == [Position(0, 150)]


def _told_in_a_barrier(how: str, position: int | Position, identity: str | None) -> GroupWorld:
    """Return a world behind a barrier in which a record gives a position of a's queue."""
    world, held = _behind_a_barrier()
    if how == "progress":
        world.progress("a", 0, held, position, identity=identity)
    if how == "release":
        world.release("a", 0, held, position, identity=identity)
        world.leave("a", last_started=held)
    claimed = position if how == "claims" else 50
    world.claims("a", (0, held, claimed, how != "release"), identity=identity)
    world.run()
    world.run()
    assert world.state is not None
    assert world.state.barrier is None
    return world


@pytest.mark.parametrize("identity", [None, "one"])
@pytest.mark.parametrize("how", ["claims", "progress", "release"])
def test_whatever_is_told_in_a_barrier_has_bounds(how: str, identity: str | None) -> None:
    """Also what names no life of its topic, and a release: its successor would skip messages."""
    world = _told_in_a_barrier(how, ABSURD, identity)
    assert _base(world) == Position(0, 50)
    for _ in range(2):
        world.pass_time(1_000)
        world.bounds(1, last=100)
        world.run()
    assert OUT_OF_BOUNDS in _alarms(world)
    assert _base(world) == Position(0, 50)


@pytest.mark.parametrize("identity", [None, "one"])
@pytest.mark.parametrize("how", ["claims", "progress", "release"])
def test_an_honest_word_in_a_barrier_is_believed(how: str, identity: str | None) -> None:
    """The end that is known is old: nobody starts before a bridge tells, and then it counts."""
    world = _told_in_a_barrier(how, 150, identity)
    world.pass_time(1_000)
    world.bounds(1, last=160)
    world.run()
    assert (_alarms(world), _base(world)) == (set(), Position(0, 150))


@pytest.mark.parametrize("identity", [None, "one"])
@pytest.mark.parametrize("how", ["claims", "progress", "release"])
def test_a_reset_that_is_invented_in_a_barrier_is_refused(how: str, identity: str | None) -> None:
    """It would stand above everything that is reached, and above every reset to come."""
    world = _told_in_a_barrier(how, Position(999, 70), identity)
    world.pass_time(1_000)
    world.bounds(1, last=100)
    world.run()
    assert OUT_OF_BOUNDS in _alarms(world)
    assert _base(world) == Position(0, 50)


def test_a_reset_that_is_followed_in_a_barrier_is_no_invention() -> None:
    """Its record may be read behind the word of who has followed it: both are there at the end."""
    world = owned_by_a()
    held = epoch_of_first(world)
    world.progress("a", 0, held, 50, end=100)
    world.run()
    world.driver(2, marked=False)
    world.beat("a")
    world.reset(0, 70)
    world.claims("a", (0, Epoch(1, 9), Position(1, 75), True), identity=None)
    world.run(unread="control")
    world.marker = 2
    world.run()
    world.bounds(1, last=100)
    world.run()
    assert (_alarms(world), _base(world)) == (set(), Position(1, 75))


def test_the_new_topic_forgets_what_was_doubted() -> None:
    """A doubt is of one life of the topic: the next one has other bounds."""
    world = owned_by_a()
    held = _moving(world)
    world.release("a", 0, held, ABSURD)
    world.run()
    world.route(1, identity="two")
    world.run()
    world.release("a", 0, held, ABSURD)
    assert world.state is not None
    world.release("b", 0, world.state.queues[FIRST].chain[-1].epoch, None)
    world.bounds(1, identity="two", last=5)
    world.run()
    assert [add.position for add in world.adds("b")] == [Position(0, 0)]


def test_more_words_than_are_put_aside_are_refused() -> None:
    """The oldest record gives way with a dead letter, so its sender hears of the refusal."""
    world = owned_by_a()
    held = _moving(world)
    world.progress("a", 0, held, 50, end=100)
    world.run()
    for more in range(DOUBTS_MAX + 1):
        world.release("a", 0, held, ABSURD + more)
    world.run()
    assert _refused(world) == [(OUT_OF_BOUNDS, "position", 0)]
    # As where a bridge refuses it: that its sender has stopped is believed.
    assert [add.position for add in world.adds("b")] == [Position(0, 50)]
