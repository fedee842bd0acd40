"""A release that comes while a client does not wait opens its gate at the next poll."""

from fairlead_client.thin.thin_words import PollAnswer

from tests.gateway.gateway_world import QUEUE, SECOND, World, joined, promised, release


def test_the_gateway_that_kept_the_session_starts_the_queue() -> None:
    """Clients that follow the stream of news are always between two polls when news come."""
    world = World()
    thin, gateway = promised(world), world.gateways[0]
    release(world, 150)
    world.deliver(gateway)
    (start,) = thin.poll(gateway).start
    assert (start.epoch, start.offset, start.why) == (SECOND, 150, "release")


def test_a_release_during_the_poll_hides_none_that_came_before_it() -> None:
    """Both came: the first between two polls, the second before the heartbeat was confirmed."""
    world = World()
    thin, gateway = promised(world), world.gateways[0]
    release(world, 150)
    world.deliver(gateway)
    world.delivers = False
    request = thin.ask(gateway, wait_ms=3_000)
    release(world, 7, QUEUE._replace(queue_id=1))
    world.deliver(gateway)
    for _, append in world.unconfirmed:
        world.confirm(gateway, append)
    world.deliver(gateway)
    answer = world.answers[request]
    assert isinstance(answer, PollAnswer)
    assert [(start.epoch, start.offset) for start in answer.start] == [(SECOND, 150)]


def test_a_release_that_opens_nothing_is_no_news() -> None:
    """A client that waits goes on waiting."""
    world = World()
    thin, gateway = joined(world), world.gateways[0]
    thin.poll(gateway)
    request = thin.ask(gateway, wait_ms=3_000)
    release(world, 150)
    world.deliver(gateway)
    assert request not in world.answers
