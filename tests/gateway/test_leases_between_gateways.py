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
    World,
    promised,
    release,
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


def test_without_brokers_no_start_is_told_again() -> None:
    """The client has stopped and released the work by another gateway, and echoes an old state."""
    world = World()
    thin = working(world, gateways=2)
    first, second = world.gateways
    started = thin.state
    world.drop(thin.session, FIRST, Epoch(1, 2))
    world.deliver(second)
    assert thin.poll(second, work(125)).stop
    thin.poll(second, stopped=(Stopped(QUEUE, FIRST, 125),))
    world.delivers = False
    request = thin.ask(first, state=started)
    world.pass_time(3_000)
    assert world.answers[request] == UNAVAILABLE


def test_without_brokers_a_release_opens_no_gate() -> None:
    """Another gateway may have answered meanwhile that the grant was never started."""
    world = World()
    thin, gateway = promised(world), world.gateways[0]
    world.delivers = False
    request = thin.ask(gateway)
    release(world, 150)
    world.deliver(gateway)
    world.pass_time(3_000)
    assert world.answers[request] == UNAVAILABLE


def test_an_answer_without_brokers_makes_no_state_the_newest() -> None:
    """Its state counts as no newer than the one that was echoed, so a replay is still found out."""
    world = World()
    thin = working(world, gateways=2)
    kept = thin.state
    thin.poll(world.gateways[1], work(121))
    thin.poll(world.gateways[1], work(122))
    world.delivers = False
    request = thin.ask(world.gateways[0], work(123), state=kept)
    world.pass_time(3_000)
    answer = world.answers[request]
    assert isinstance(answer, PollAnswer)
    world.delivers = True
    again = thin.refused(world.gateways[1], work(124), state=answer.state)
    assert again.reason == "state_replayed"


def test_a_poll_after_one_without_an_answer_is_answered_in_time() -> None:
    """However often gateways die while a poll waits, the next one renews the lease in time."""
    world = World()
    thin = working(world, gateways=2)
    world.pass_time(3_000)
    thin.ask(world.gateways[0], work(), wait_ms=3_000)
    world.pass_time(2_700)
    second = thin.ask(world.gateways[1], work(), wait_ms=3_000)
    world.pass_time(900)
    assert second not in world.answers
    world.pass_time(100)
    answer = world.answers[second]
    assert isinstance(answer, PollAnswer)
    assert answer.lease_ms == LEASE_MS


def test_a_poll_that_comes_late_is_answered_at_once() -> None:
    """Three polls have had no answer: the fourth one does not wait for news."""
    world = World()
    thin = working(world, gateways=2)
    for number in range(3):
        thin.ask(world.gateways[number % 2], work(), wait_ms=3_000)
        world.pass_time(2_300)
    last = thin.ask(world.gateways[1], work(), wait_ms=3_000)
    assert isinstance(world.answers[last], PollAnswer)


def test_a_poll_with_an_answer_before_it_waits_for_news() -> None:
    """Two polls that wait, one behind the other, leave a third of the lease: neither hurries."""
    world = World()
    thin = working(world)
    for _ in range(3):
        request = thin.ask(world.gateways[0], work(), wait_ms=3_000)
        world.pass_time(2_999)
        assert request not in world.answers
        world.pass_time(1)
        answer = world.answers[request]
        assert isinstance(answer, PollAnswer)
        thin.state = answer.state


def test_a_poll_at_two_gateways_counts_from_the_first() -> None:
    """The client counts its lease from when it sent the poll, however often that was written."""
    world = World()
    thin = working(world, gateways=2)
    thin.ask(world.gateways[0], work(), wait_ms=3_000)
    world.pass_time(2_500)
    thin.poll(world.gateways[1], work(), sequence=thin.sequence)
    world.pass_time(2_000)
    thin.ask(world.gateways[0], work(), wait_ms=3_000)
    world.pass_time(2_000)
    last = thin.ask(world.gateways[1], work(), wait_ms=3_000)
    world.pass_time(170)
    assert isinstance(world.answers[last], PollAnswer)
