"""Acknowledgements that an earlier driver reads, before the one that they are for has started."""

import pytest

from fairlead.core.model import Epoch, Position
from fairlead.core.records import Claim, Claims
from fairlead.core.recovery import remembered
from tests.kit.group_world import GROUP, GroupWorld, key_of, queue_of, settled

PAYMENTS = queue_of(0, "payments")


def _claimed_early(
    number: int, position: int, *, running: bool, identity: str | None
) -> GroupWorld:
    """Return a world behind the barrier of a driver whose start its member knew before it."""
    world = settled("a", "b", queues=2)
    assert world.owned("a") == [0]
    for client, held in (("a", 0), ("b", 1)):
        world.progress(client, held, world.epoch_of(held), 5, end=100)
    world.run()
    epochs = [world.epoch_of(each) for each in range(2)] + [Epoch(1, 1)]
    world.generation = 2
    world.claims("a", (number, epochs[number], position, running), identity=identity)
    world.claims("b", (1, epochs[1], 5, True), identity=identity)
    world.generation = 1
    world.run()
    world.driver(2)
    world.beat("a")
    world.beat("b")
    world.run()
    assert world.state is not None
    assert world.state.barrier is None
    return world


@pytest.mark.parametrize("identity", [None, "one"])
def test_a_position_that_was_claimed_early_counts(identity: str | None) -> None:
    """Also of a queue that its member has stopped: nobody tells it again."""
    world = _claimed_early(0, 50, running=False, identity=identity)
    assert world.state is not None
    assert world.state.queues[queue_of(0)].base == Position(0, 50)


@pytest.mark.parametrize("identity", [None, "one"])
def test_a_queue_without_a_route_that_was_claimed_early_has_its_owner(identity: str | None) -> None:
    """Whoever says that it runs one is believed, and goes on until the route is there."""
    world = settled("a", queues=1)
    topics = ("orders", "payments")
    world.beat("a", topics=topics)
    world.run()
    claims = (
        Claim(queue_of(0), world.epoch_of(0), Position(0, 5), running=True, identity="one"),
        Claim(PAYMENTS, Epoch(1, 99), Position(0, 50), running=True, identity=identity),
    )
    world.add("heartbeats", Claims(GROUP, key_of("a"), 2, 0, 1, claims))
    world.run()
    world.driver(2)
    world.beat("a", topics=topics)
    world.run()
    assert world.state is not None
    assert world.state.barrier is None
    assert world.state.queues[PAYMENTS].base == Position(0, 50)


def test_each_member_may_have_started_every_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is one of each member: what all of them claim may be many times the queues."""
    monkeypatch.setattr(remembered, "remembered_max", lambda _draft: 4)
    world = settled("a", "b")
    world.driver(2)
    for client, runs in (("a", (0, 1)), ("b", (2, 3))):
        claims = ((number, world.epoch_of(number), 5, number in runs) for number in range(4))
        world.claims(client, *claims)
    world.run()
    world.pass_time(3_000)
    for client in "ab":
        world.beat(client)
    world.run()
    assert world.state is not None
    assert world.state.barrier is None
