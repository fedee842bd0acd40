"""A topic that is made again under its name, while somebody still reads the one that is gone.

Offsets of the former identity mean nothing in the new one: taken for a start they would skip its
first messages.
"""

from fairlead.core.model import Epoch, Position
from fairlead.core.moment import Moment
from fairlead.core.outputs import Assignment
from fairlead.core.records import Reset
from fairlead.core.step import step
from tests.kit.group_world import GROUP, GroupWorld, queue_of, settled


def starts(world: GroupWorld, client: str) -> list[tuple[int, int]]:
    """Return (queue id, offset) of each add that the last run wrote for a client."""
    return [(add.queue.queue_id, add.position.offset) for add in world.adds(client)]


def test_nobody_waits_behind_the_release_of_a_former_identity() -> None:
    """H7: a successor is granted after the release; a gate would make it start at its offset."""
    world = settled("a", queues=1, chain_cap=2)
    held = world.epoch_of(0)
    world.route(1, identity="two")
    world.run()
    world.bounds(1, identity="two")
    world.run()
    assert [output.add for output in world.outputs if isinstance(output, Assignment)] == []
    world.release("a", 0, held, 50)
    world.run()
    assert starts(world, "a") == [(0, 0)]


def test_a_final_claim_of_a_former_identity_is_no_start_of_a_queue_that_comes_back() -> None:
    """A queue that was forgotten with its topic, and grows again, is not where it once was."""
    world = settled("a", queues=2)
    former = world.epoch_of(1)
    world.route(None)
    world.run()
    for number in (0, 1):
        world.release("a", number, former, 50)
    world.run()
    world.route(1, identity="two")
    world.bounds(1, identity="two")
    world.run()
    world.route(2, identity="two")
    world.run()
    world.driver(2)
    world.claims("a", (0, world.epoch_of(0), 3, True), (1, former, 50, False))
    world.run()
    world.bounds(2, identity="two")
    world.run()
    assert starts(world, "a") == [(1, 0)]


def test_a_claim_of_a_queue_that_is_not_there_yet_waits_for_no_route() -> None:
    """A queue that was away, and claimed as left at a driver's start, starts where it was left."""
    world = settled("a", queues=2)
    former = world.epoch_of(1)
    world.route(1)
    world.run()
    world.release("a", 1, former, 50)
    world.run()
    world.driver(2)
    world.claims("a", (0, world.epoch_of(0), 3, True), (1, former, 50, False))
    world.run()
    world.route(2)
    world.bounds(2)
    world.run()
    assert starts(world, "a") == [(1, 50)]


def test_what_an_older_state_does_not_know_of_is_of_the_former_identity() -> None:
    """Once the topic is recreated, the engine drops a grant that an older checkpoint forgot."""
    world = settled("a", queues=1)
    forgotten = Epoch(1, 9)
    world.driver(2)
    world.claims("a", (0, forgotten, 20, True))
    world.route(1, identity="two")
    world.run()
    assert forgotten in [drop.epoch for drop in world.told("a").drop]
    world.bounds(1, identity="two")
    world.run()
    world.release("a", 0, forgotten, 25)
    world.run()
    assert starts(world, "a") == [(0, 0)]


def test_a_reset_of_the_new_identity_is_read_before_its_route() -> None:
    """Control is applied before routes: what was asked after the topic was made again counts."""
    world = settled("a", queues=1)
    held = world.epoch_of(0)
    world.route(1, identity="two")
    world.pass_time(10)
    world.add("control", Reset(GROUP, queue_of(0), 7, "alice"))
    world.run()
    world.release("a", 0, held, 50)
    world.bounds(1, identity="two")
    world.run()
    assert starts(world, "a") == [(0, 7)]


def test_a_reset_of_the_former_identity_is_read_with_the_route_of_the_new_one() -> None:
    """An offset of a queue that is gone says nothing of the one under its name."""
    world = settled("a", queues=1)
    held = world.epoch_of(0)
    world.add("control", Reset(GROUP, queue_of(0), 7, "alice"))
    world.pass_time(10)
    world.route(1, identity="two")
    world.run()
    world.release("a", 0, held, 50)
    world.bounds(1, identity="two")
    world.run()
    assert starts(world, "a") == [(0, 0)]


def test_what_is_granted_with_the_route_is_of_the_identity_that_it_tells() -> None:
    """A reset in the same step has drawn the decision's epoch: the new queue's grant counts."""
    world = settled("a", queues=1)
    world.reset(0, 50)
    world.route(2)
    world.bounds(2)
    world.run()
    world.progress("a", 1, world.epoch_of(1), 77)
    world.run()
    assert world.state is not None
    assert world.state.queues[queue_of(1)].base == Position(0, 77)


def test_grants_of_the_same_driver_are_of_the_former_identity_too() -> None:
    """A group that lost records passes its own generation once more: its grants are no newer."""
    world = settled("a", queues=1)
    held = world.epoch_of(0)
    moment = Moment(world.clock_ms, world.clock_ms, 1, incomplete=True)
    world.state = step(world.state, [], moment, world.rules).state
    world.route(1, identity="two")
    world.run()
    world.claims("a", (0, held, 50, True))
    world.pass_time(20_000)
    world.beat("a")
    world.run()
    assert held in [drop.epoch for drop in world.told("a").drop]
    assert world.state is not None
    assert world.state.queues[queue_of(0)].base is None
