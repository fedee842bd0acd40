"""How a session ends at its client's wish."""

from fairlead_client.model import Epoch
from fairlead_client.thin.thin_words import PollAnswer, Stopped

from fairlead.gateway.outputs import Left, Refusal
from tests.gateway.gateway_world import FIRST, QUEUE, World, joined, work, working


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


def test_a_leaving_client_works_on_until_the_drop() -> None:
    """Its leave is written at once; it hears a stop as soon as the engine says who goes on."""
    world = World()
    thin, gateway = working(world), world.gateways[0]
    request = thin.ask(gateway, work(), leaving=True, wait_ms=3_000)
    assert request not in world.answers
    assert len(world.written("leave")) == 1
    world.drop(thin.session, FIRST, Epoch(1, 8))
    world.deliver(gateway)
    answer = world.answers[request]
    assert isinstance(answer, PollAnswer)
    assert [stop.epoch for stop in answer.stop] == [FIRST]


def test_a_leaving_client_hears_a_stop_although_no_engine_drops() -> None:
    """It may take as long as for any stop; then its gateway asks, whatever the engine does."""
    world = World()
    thin, gateway = working(world), world.gateways[0]
    asked = []
    for turn in range(12):
        answer = thin.poll(gateway, work(120 + turn), leaving=True)
        asked.append([stop.epoch for stop in answer.stop])
        world.pass_time(3_000)
    assert asked == [*([[]] * 10), [FIRST], [FIRST]]
    assert len(world.written("leave")) == 1


def test_a_leaving_client_may_stop_by_itself() -> None:
    """What it has stopped is released, although nobody asked it to stop."""
    world = World()
    thin, gateway = working(world), world.gateways[0]
    thin.poll(gateway, work(), leaving=True)
    thin.poll(gateway, stopped=(Stopped(QUEUE, FIRST, 150),), leaving=True)
    assert [each["position"] for each in world.written("release")] == [[0, 150]]
    assert [each["last_started"] for each in world.written("release")] == [list(FIRST)]


def test_a_leaving_client_that_names_less_hands_nothing_over() -> None:
    """It never starts what an answer told and it does not name: all of it stops."""
    world = World()
    thin, gateway = joined(world), world.gateways[0]
    world.grant(thin.session, FIRST)
    world.deliver(gateway)
    assert [start.epoch for start in thin.poll(gateway).start] == [FIRST]
    answer = thin.poll(gateway, leaving=True)
    assert [stop.epoch for stop in answer.stop] == [FIRST]
    thin.ask(gateway, leaving=True, ending=True)
    assert [each["position"] for each in world.written("release")] == [[0, 120]]


def test_a_leaving_client_stops_what_was_dropped_before() -> None:
    """Its turn to stop had not come when it began to leave, and no state has a turn."""
    world = World()
    thin, gateway = working(world), world.gateways[0]
    world.drop(thin.session, FIRST, Epoch(1, 8), linger_ms=100)
    world.deliver(gateway)
    assert thin.poll(gateway, work()).stop == ()
    given_up = thin.ask(gateway, work(), wait_ms=3_000)
    request = thin.ask(gateway, work(), leaving=True, wait_ms=3_000)
    assert isinstance(world.answers[given_up], Refusal)
    world.pass_time(100)
    answer = world.answers[request]
    assert isinstance(answer, PollAnswer)
    assert [stop.epoch for stop in answer.stop] == [FIRST]


def test_a_leaving_client_has_news_of_an_old_word_once() -> None:
    """A grant that it never starts is answered once, although each poll reads it again."""
    world = World()
    thin, gateway = joined(world), world.gateways[0]
    world.grant(thin.session, FIRST, ("c0", "s0", Epoch(1, 1)))
    world.deliver(gateway)
    thin.poll(gateway)
    for _ in range(3):
        thin.poll(gateway, leaving=True)
    other = world.gateway()
    for each in (other, gateway, other):
        thin.poll(each, leaving=True)
        request = thin.ask(each, leaving=True, wait_ms=3_000)
        assert request not in world.answers
        world.pass_time(3_000)
        answer = world.answers[request]
        assert isinstance(answer, PollAnswer)
        thin.state = answer.state
    assert [each["position"] for each in world.written("release")] == [None]
