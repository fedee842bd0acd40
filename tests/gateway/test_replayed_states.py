"""A `state` that was used already brings nothing back: no start, no epoch, no generation."""

import pytest
from fairlead_client.thin.thin_words import Stopped, Work

from fairlead.gateway.outputs import UNAVAILABLE, Refusal
from tests.gateway.gateway_world import FIRST, QUEUE, SECOND, Thin, World, joined


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_late_gateway_learns_of_a_replay_before_it_answers(number: int) -> None:
    """It reads its own heartbeat back, and so whatever newer states have made others write."""
    # The states are those of the join, of the start, and of the stop.
    world = World()
    gateway, thin = world.gateway(), Thin(world)
    world.claim_generation()
    world.deliver(gateway)
    states = [thin.join(gateway).state]
    world.grant(thin.session, FIRST)
    world.deliver(gateway)
    assert [start.epoch for start in thin.poll(gateway).start] == [FIRST]
    states.append(thin.state)
    world.drop(thin.session, FIRST, SECOND)
    world.deliver(gateway)
    assert [stop.epoch for stop in thin.poll(gateway, Work(QUEUE, FIRST, 125)).stop] == [FIRST]
    states.append(thin.state)
    thin.poll(gateway, stopped=(Stopped(QUEUE, FIRST, 125),))
    thin.poll(gateway)
    world.claim_generation()
    written = {kind: world.written(kind) for kind in ("claims", "release", "progress")}
    refusal = thin.refused(world.gateway(has_read=False), state=states[number])
    assert (refusal.status, refusal.reason) == (409, "state_replayed")
    again = {kind: world.written(kind) for kind in written}
    assert again["release"] == written["release"]
    assert again["progress"] == written["progress"]
    assert all(claims in written["claims"] for claims in again["claims"])
    assert {claims["generation"] for claims in again["claims"]} == {1}


def test_a_gateway_that_lags_tells_no_start_of_an_old_state() -> None:
    """It kept the session, others went on with it: it answers a start once it has read them."""
    world = World()
    first, second, thin = world.gateway(), world.gateway(), Thin(world)
    world.claim_generation()
    world.deliver(first)
    world.deliver(second)
    thin.join(first)
    thin.poll(first)
    old = thin.state
    world.grant(thin.session, FIRST)
    world.deliver(first)
    assert thin.poll(second).start
    world.drop(thin.session, FIRST, SECOND)
    world.deliver(second)
    assert thin.poll(second, Work(QUEUE, FIRST, 125)).stop
    thin.poll(second, stopped=(Stopped(QUEUE, FIRST, 125),))
    world.delivers = False
    request = thin.ask(first, state=old)
    while world.unconfirmed:
        world.confirm(*world.unconfirmed.pop(0))
    assert request not in world.answers
    world.deliver(first)
    refusal = world.answers[request]
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "state_replayed"


def test_a_gateway_that_reads_nothing_tells_no_start() -> None:
    """Its heartbeat stands in the log and never comes back: the client asks another gateway."""
    world = World()
    thin, gateway = joined(world), world.gateways[0]
    thin.poll(gateway)
    world.grant(thin.session, FIRST)
    world.deliver(gateway)
    world.delivers = False
    request = thin.ask(gateway, wait_ms=3_000)
    while world.unconfirmed:
        world.confirm(*world.unconfirmed.pop(0))
    world.pass_time(3_000)
    assert world.answers[request] == UNAVAILABLE
