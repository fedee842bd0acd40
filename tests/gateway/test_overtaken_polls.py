"""Requests of several connections overtake each other: only the newest words of a client count."""

from fairlead_client.thin.thin_words import PollAnswer

from fairlead.gateway.outputs import Refusal
from tests.gateway.gateway_world import Thin, World


def test_an_older_poll_that_was_overtaken_does_not_end_the_newer_one() -> None:
    """The client has given the older one up, so it stops at once if the newer one is refused."""
    world = World()
    world.claim_generation()
    gateway = world.gateway()
    thin = Thin(world)
    thin.join(gateway)
    thin.poll(gateway)
    thin.sequence += 1
    world.delivers = False
    newer = thin.ask(gateway, wait_ms=3_000)
    older = thin.ask(gateway, sequence=thin.sequence - 1)
    world.delivers = True
    for append in world.unconfirmed:
        world.confirm(*append)
    refusal = world.answers[older]
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "session_elsewhere"
    assert newer not in world.answers
    world.pass_time(3_000)
    assert isinstance(world.answers[newer], PollAnswer)
