"""Gateways with other settings, or without brokers, give no lease and start that the log lacks."""

from fairlead_client.model import Epoch
from fairlead_client.thin.thin_words import PollAnswer, Stopped

from fairlead.gateway.gateway import Gateway, GatewayTimes
from fairlead.gateway.outputs import UNAVAILABLE
from tests.gateway.gateway_world import (
    FIRST,
    LEASE_MS,
    QUEUE,
    SEAL,
    Thin,
    World,
    work,
    working,
)


def test_the_lease_of_an_answer_is_that_of_the_heartbeat() -> None:
    """While gateways restart with a longer gateway.lease_ms, a session keeps the lease it has."""
    world = World()
    thin = working(world)
    other = Gateway(GatewayTimes("longer", 6 * LEASE_MS), SEAL, 0)
    world.add(other)
    assert thin.poll(other, work()).lease_ms == LEASE_MS
    assert {each["lease_ms"] for each in world.written("heartbeat")} == {LEASE_MS}


def test_without_brokers_an_old_state_starts_nothing() -> None:
    """The gateway kept the session and lags; its appends fail: it cannot know who has the queue."""
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
    world.deliver(second)
    assert thin.poll(second).start
    world.drop(thin.session, FIRST, Epoch(1, 2))
    world.deliver(second)
    assert thin.poll(second, work(125)).stop
    thin.poll(second, stopped=(Stopped(QUEUE, FIRST, 125),))
    world.delivers = False
    request = thin.ask(first, state=old)
    world.pass_time(3_000)
    body = world.answers[request]
    assert body == UNAVAILABLE or (isinstance(body, PollAnswer) and not body.start)


def test_an_answer_without_brokers_makes_no_state_the_newest() -> None:
    """Its state counts as no newer than the one that was echoed, so a replay is still found out."""
    world = World()
    thin = working(world, gateways=2)
    old = thin.state
    thin.poll(world.gateways[0], work(121))
    world.delivers = False
    request = thin.ask(world.gateways[0], work(122), state=old)
    world.pass_time(3_000)
    body = world.answers[request]
    if isinstance(body, PollAnswer):
        world.delivers = True
        world.deliver(world.gateways[1])
        again = thin.refused(world.gateways[1], work(123), state=body.state)
        assert again.reason == "state_replayed"
