"""Rule H31: who works on after words in its name stops at once, and the alarm is raised."""

from fairlead.core.membership.spoken_for import SPOKEN_FOR
from fairlead.core.model import Epoch
from fairlead.core.outputs import Assignment, Decision, Gone, Notice
from tests.kit.group_world import GroupWorld, key_of, queue_of

HELD_SOMETHING = 7
MARGIN_MS, HEARTBEAT_MS, LEASE_MS = 3_000, 3_000, 10_000


def _two(queues: int = 2) -> GroupWorld:
    """Return a world in which a and b share the queues."""
    world = GroupWorld()
    world.beat("a")
    world.beat("b")
    world.publish(queues)
    assert (world.owned("a"), world.owned("b")) == ([0], [1])
    return world


def _epoch(world: GroupWorld, number: int) -> Epoch:
    assert world.state is not None
    return world.state.queues[queue_of(number)].chain[0].epoch


def _alarms(world: GroupWorld) -> list[str]:
    return [one for each in world.outputs if isinstance(each, Decision) for one in each.alarms]


def _beats_on(world: GroupWorld, held: int, milliseconds: int = HEARTBEAT_MS) -> None:
    world.pass_time(milliseconds)
    world.beat("a", held=held)
    world.beat("b")
    world.run()


def _left_by_others(world: GroupWorld) -> None:
    """Somebody leaves and releases in the name of a, which works on."""
    started = _epoch(world, 0)
    world.leave("a", last_started=started)
    world.release("a", 0, started, 40, last_started=started)
    world.run()
    assert world.owned("b") == [0, 1]


def test_a_forged_leave_is_seen_by_the_next_heartbeat() -> None:
    """The first heartbeat that still holds a queue ends the window, with an alarm (rule H31)."""
    world = _two()
    _left_by_others(world)
    world.pass_time(1_000)
    world.beat("a", held=HELD_SOMETHING)
    world.run()
    told = world.told("a")
    assert (told.assigned, told.add, told.drop) == ((), (), ())
    # The record of somebody who is gone is deleted behind it.
    order = [type(each) for each in world.outputs if getattr(each, "member", None) == key_of("a")]
    assert order == [Assignment, Gone]
    assert _alarms(world) == []
    _beats_on(world, held=0)
    assert _alarms(world) == [SPOKEN_FOR]
    (notice,) = [each for each in world.outputs if isinstance(each, Notice)]
    assert (notice.member, notice.code) == (key_of("a"), "lapsed")
    (cause,) = [each for each in world.decision.cause if each.kind == SPOKEN_FOR]
    assert (cause.client_id, cause.at is not None) == ("a", True)
    _beats_on(world, held=0)
    assert (_alarms(world), world.outputs) == ([], ())


def test_a_forged_leave_of_a_member_that_holds_on() -> None:
    """A heartbeat beyond the margin that still holds something is alarmed by itself."""
    world = _two()
    _left_by_others(world)
    _beats_on(world, held=HELD_SOMETHING, milliseconds=MARGIN_MS + 1)
    assert SPOKEN_FOR in _alarms(world)


def test_an_honest_leave_raises_nothing() -> None:
    """Heartbeats that were sent before the last release may be read after it."""
    world = _two()
    started = _epoch(world, 0)
    world.leave("a", last_started=started)
    late = world.clock_ms
    world.pass_time(100)
    world.release("a", 0, started, 40, last_started=started)
    world.run()
    world.clock_ms = late + 50
    world.beat("a", held=HELD_SOMETHING)
    world.clock_ms = late + 8_000
    # Whoever waits for the acknowledgement of its last release heartbeats until its lease ends.
    world.beat("a", held=0)
    world.run()
    assert (_alarms(world), world.outputs) == ([], ())


def test_a_leave_that_its_member_never_said_is_alarmed_without_queues_too() -> None:
    """Nothing was in danger, but nobody heartbeats a lease and more after its own last word."""
    world = _two()
    _left_by_others(world)
    _beats_on(world, held=0, milliseconds=LEASE_MS + MARGIN_MS + 1)
    assert SPOKEN_FOR in _alarms(world)


def test_a_forged_release_is_told_at_once_and_alarmed() -> None:
    """Its member hears at once what it holds; its next heartbeat is the alarm (rule H31)."""
    world = _two()
    world.release("a", 0, _epoch(world, 0), 40)
    world.run()
    granted = {entry.epoch for entry in world.told("a").assigned}
    assert granted == {_epoch(world, 0)}
    assert _alarms(world) == []
    _beats_on(world, held=HELD_SOMETHING, milliseconds=MARGIN_MS + 1)
    assert _alarms(world) == [SPOKEN_FOR]
    _beats_on(world, held=HELD_SOMETHING, milliseconds=1_000)
    assert _alarms(world) == []


def test_a_release_that_was_asked_for_raises_nothing() -> None:
    """A move is a drop and its release; the member heartbeats on, as it should."""
    world = _two()
    world.beat("Z")
    world.run()
    assert world.state is not None
    for queue, value in sorted(world.state.queues.items()):
        for grant in value.chain:
            if grant.dropped:
                world.release(grant.member.client_id, queue.queue_id, grant.epoch, 40)
    world.run()
    _beats_on(world, held=0, milliseconds=MARGIN_MS + 1)
    _beats_on(world, held=0, milliseconds=MARGIN_MS + 1)
    assert SPOKEN_FOR not in _alarms(world)


def test_who_obeys_the_drop_of_an_older_driver_raises_nothing() -> None:
    """It was dropped, the driver died, and the barrier took its claim for a running one."""
    world = _two()
    held = _epoch(world, 0)
    world.driver(2)
    for client, claim in (("a", (0, held, 30, True)), ("b", (1, _epoch(world, 1), 30, True))):
        world.beat(client)
        world.claims(client, claim)
    world.run()
    world.release("a", 0, held, 40)
    world.run()
    _beats_on(world, held=0, milliseconds=MARGIN_MS + 1)
    assert SPOKEN_FOR not in _alarms(world)


def test_a_forged_release_beyond_the_end_is_told_and_alarmed_as_well() -> None:
    """The engine refuses its position, and then repeats to its member what it holds."""
    world = _two()
    world.release("a", 0, _epoch(world, 0), 10**9)
    world.run()
    for _ in range(2):
        world.bounds(2)
        world.run()
    assert {entry.epoch for entry in world.told("a").assigned} == {_epoch(world, 0)}
    _beats_on(world, held=HELD_SOMETHING, milliseconds=MARGIN_MS + 1)
    assert SPOKEN_FOR in _alarms(world)
