"""How a session ends at its client's wish."""

from fairlead_client.thin.thin_words import Stopped

from fairlead.gateway.outputs import Left
from tests.gateway.gateway_world import FIRST, QUEUE, World, work, working


def test_last_words_write_the_leave_and_the_releases() -> None:
    """The engine frees the queues without waiting for the lease."""
    world = World()
    thin = working(world)
    stopped = (Stopped(QUEUE, FIRST, 150),)
    request = thin.ask(world.gateways[0], stopped=stopped, leaving=True, ending=True)
    assert world.answers[request] == Left()
    assert [each["last_started"] for each in world.written("leave")] == [list(FIRST)]
    assert [each["position"] for each in world.written("release")] == [[0, 150]]


def test_last_words_may_be_said_twice() -> None:
    """The answer was lost, so the client says them again, to another gateway too."""
    world = World()
    thin = working(world, gateways=2)
    stopped = (Stopped(QUEUE, FIRST, 150),)
    for gateway in (world.gateways[0], world.gateways[1]):
        world.deliver(gateway)
        request = thin.ask(gateway, stopped=stopped, leaving=True, ending=True)
        assert world.answers[request] == Left()
    assert {tuple(each["position"]) for each in world.written("release")} == {(0, 150)}


def test_a_leaving_client_is_asked_to_stop_everything() -> None:
    """It starts nothing more, and ends its session once all is stopped."""
    world = World()
    thin = working(world)
    answer = thin.poll(world.gateways[0], work(), leaving=True)
    assert [stop.epoch for stop in answer.stop] == [FIRST]
    assert len(world.written("leave")) == 1
