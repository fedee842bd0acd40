"""The light barrier after a driver's start: who is waited for, what is adopted, what is void."""

import pytest

from fairlead.core.model import Epoch, Position
from fairlead.core.outputs import Assignment
from tests.kit.group_world import GroupWorld, key_of, queue_of, settled


def commands(world: GroupWorld) -> list[object]:
    """Return every drop and add that the last run wrote."""
    return [
        command
        for output in world.outputs
        if isinstance(output, Assignment)
        for command in (*output.drop, *output.add)
    ]


def test_nothing_is_granted_until_the_marker_and_every_ack() -> None:
    """Nothing moves until the marker is read and each live member acknowledged (rule H14)."""
    world = settled("a", "b")
    epochs = {number: world.epoch_of(number) for number in range(4)}
    world.driver(2, marked=False)
    world.beat("c")
    world.run()
    assert commands(world) == []
    assert world.decision.triggers[0] == "generation_started"
    assert world.decision.state.phase == "barrier"
    for client, numbers in (("a", (0, 1)), ("b", (2, 3))):
        world.claims(client, *((number, epochs[number], 5, True) for number in numbers))
    world.claims("c")
    world.run()
    assert commands(world) == []
    world.marker = 2
    world.run()
    assert "generation_passed" in world.decision.triggers
    assert (world.owned("a"), world.owned("b")) == ([0, 1], [2])
    assert all(
        Epoch(2, 0) < output.epoch for output in world.outputs if isinstance(output, Assignment)
    )


def test_a_member_that_has_not_acknowledged_is_waited_for_until_it_lapses() -> None:
    """A member that died before its ack holds the barrier only for lease and margin."""
    world = settled("a", "b")
    held = world.epoch_of(0)
    world.driver(2)
    world.claims("a", (0, held, 9, True), (1, held, 9, True))
    world.run()
    for _ in range(5):
        world.pass_time(2_700)
        world.beat("a")
        world.run()
    assert "generation_passed" in world.decision.triggers
    assert world.owned("a") == [0, 1, 2, 3]


def test_a_mute_member_raises_the_alarm_and_stops_nobody() -> None:
    """A member that beats but never acknowledges raises barrier_mute once; owners go on."""
    world = settled("a", "b")
    world.driver(2)
    world.claims("a")
    world.run()
    alarms = []
    for _ in range(20):
        world.pass_time(3_000)
        world.beat("a")
        world.beat("b")
        world.run()
        alarms += [world.decision.alarms] if world.outputs else []
    assert alarms == [("barrier_mute",)]
    assert world.owned("b") == [2, 3]


def test_a_claim_that_the_state_does_not_know_is_adopted() -> None:
    """With an older state put back, what members claim is the truth."""
    world = settled("a", queues=1)
    old = world.state
    world.beat("b")
    world.run()
    world.driver(2)
    world.state = old
    world.beat("b")
    newer = Epoch(1, 9)
    world.claims("a")
    world.claims("b", (0, newer, 70, True))
    world.run()
    assert world.owned("b") in ([0], [])
    assert world.state is not None
    value = world.state.queues[queue_of(0)]
    assert value.chain[0].member == key_of("b")
    assert value.base == Position(0, 70)


def test_of_two_claims_the_higher_epoch_wins() -> None:
    """Of a draining claim and its successor's, the newer one works (CE7c; rule H15)."""
    world = settled("a", "b", queues=1)
    world.driver(2)
    first, second = Epoch(1, 3), Epoch(1, 4)
    world.claims("a", (0, first, 10, True))
    world.claims("b", (0, second, 12, True))
    world.run()
    assert world.state is not None
    oldest = world.state.queues[queue_of(0)].chain[0]
    assert (oldest.member, oldest.epoch) == (key_of("b"), second)
    world.release("a", 0, first, 11)
    world.run()
    assert commands(world) == []


def test_a_release_that_is_read_before_its_claim_ends_the_claim() -> None:
    """A claim of a grant that was released meanwhile is no running claim."""
    world = settled("a", "b", queues=1)
    held = world.epoch_of(0)
    world.driver(2)
    world.release("a", 0, held, 20)
    world.run()
    world.claims("a", (0, held, 15, True))
    world.claims("b")
    world.run()
    assert [(add.position, add.epoch) for add in world.adds("a")] == [
        (Position(0, 20), Epoch(2, world.state.number if world.state else 0))
    ]


def test_final_positions_of_the_acks_count() -> None:
    """A queue stopped before the barrier starts at the final that its ack lists (rule H15)."""
    world = settled("a", queues=1)
    held = world.epoch_of(0)
    world.driver(2)
    world.claims("a", (0, held, 44, False))
    world.run()
    assert [add.position.offset for add in world.adds("a")] == [44]


def test_a_start_inside_a_barrier_starts_it_anew() -> None:
    """Acknowledgements of an older generation do not pass a newer one."""
    world = settled("a")
    held = world.epoch_of(0)
    everything = tuple((number, held, 1, True) for number in range(4))
    world.driver(2, marked=False)
    world.claims("a", *everything)
    world.run()
    world.driver(3)
    world.run()
    assert world.decision.state.phase == "barrier"
    world.claims("a", *everything)
    world.run()
    assert "generation_passed" in world.decision.triggers


def test_a_group_met_before_the_marker_waits_as_well() -> None:
    """A group that an older state does not know may be one that a newer state knew."""
    world = GroupWorld(generation=2, marker=1)
    world.beat("a")
    world.route(1)
    world.run()
    world.route(1)
    world.bounds(1)
    world.run()
    assert commands(world) == []
    world.marker = 2
    world.claims("a", (0, Epoch(1, 7), 30, True))
    world.run()
    assert world.owned("a") == [0]
    assert commands(world) == []


def test_acknowledgements_in_parts_count_only_when_complete() -> None:
    """Half an acknowledgement is none."""
    world = settled("a", queues=1)
    world.driver(2)
    world.claims("a")
    arrival = world.waiting.pop()
    half = arrival.record.__class__(
        **{
            name: getattr(arrival.record, name)
            for name in ("group", "member", "generation", "queues")
        }
        | {"part": 0, "parts": 2}
    )
    world.add("heartbeats", half)
    world.run()
    assert world.state is not None
    assert world.state.barrier is not None


def test_acknowledgements_read_by_the_driver_before_are_kept() -> None:
    """An ack that an older driver still read passes the newer driver's barrier."""
    world = settled("a", queues=1)
    held = world.epoch_of(0)
    world.generation = 2
    world.claims("a", (0, held, 3, True))
    world.generation = 1
    world.run()
    world.driver(2)
    world.run()
    assert "generation_passed" in world.decision.triggers
    assert world.owned("a") == [0]


@pytest.mark.parametrize("impossible", [Epoch(2, 10**6), Epoch(9, 1)])
@pytest.mark.parametrize("how", ["claims", "progress", "release"])
def test_nobody_has_come_anywhere_under_an_epoch_to_come(how: str, impossible: Epoch) -> None:
    """Whoever speaks in a barrier under an epoch that nobody can have moves no start."""
    world = settled("a", queues=1)
    held = world.epoch_of(0)
    world.driver(2)
    world.beat("a")
    world.beat("x")
    world.claims("x", *([(0, impossible, 90, False)] if how == "claims" else []))
    if how == "progress":
        world.progress("x", 0, impossible, 90)
    if how == "release":
        world.release("x", 0, impossible, 90)
    world.claims("a", (0, held, 5, True))
    world.run()
    assert world.state is not None
    assert (world.state.barrier, world.owned("a")) == (None, [0])
    assert world.state.queues[queue_of(0)].base == Position(0, 5)


@pytest.mark.parametrize("lost", [False, True])
def test_who_is_still_at_work_in_an_eager_group_is_not_forgotten(*, lost: bool) -> None:
    """The state knows less than both claims: the older one stays overtaken until it stops (H15)."""
    world = settled("a", "b", queues=2)
    world.rule("mode", "eager")
    world.run()
    before, own, held = world.state, world.epoch_of(0), world.epoch_of(1)
    world.leave("b", last_started=held)
    world.run()
    given = world.epoch_of(1)
    assert given > held
    world.state = before
    if lost:
        world.lose(2)
        world.rule("mode", "eager")
    else:
        world.driver(2)
    world.leave("b", last_started=held)
    world.claims("a", (0, own, 5, True), (1, given, 7, True))
    world.claims("b", (1, held, 6, True))
    for _ in range(1 + 5 * lost):
        world.beat("a")
        world.beat("b", held=1)
        world.run()
        world.pass_time(3_000 * lost)
    assert world.state is not None
    assert world.state.barrier is None
    value = world.state.queues[queue_of(1)]
    assert [(grant.member, grant.epoch) for grant in value.chain] == [(key_of("a"), given)]
    assert [(grant.member, grant.dropped) for grant in value.overtaken] == [(key_of("b"), True)]
    world.publish(2)
    world.release("b", 1, held, 8, last_started=held)
    world.run()
    assert world.state.queues[queue_of(1)].overtaken == ()
    assert key_of("b") not in world.state.members
