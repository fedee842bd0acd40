"""The rules of a gateway: what an answer may say, and when something may be written.

A world here has a log that each gateway reads when the test lets it, so a gateway may be as late as
the test likes.
"""

from typing import Any

import pytest
from fairlead_client.model import Epoch
from fairlead_client.thin.thin_words import PollAnswer, Stopped

from fairlead.gateway.outputs import Refusal
from tests.gateway.gateway_world import FIRST, LEASE_MS, QUEUE, Thin, World, work, working

SECOND, THIRD = Epoch(1, 2), Epoch(1, 3)
OTHER = ("c2", "b13cd429-df9a-4378-ad40-a70d6438f4dd", FIRST)


def give_up(world: World, thin: Thin) -> None:
    """Let the client give its queue up, at the offset 125."""
    world.drop(thin.session, FIRST, SECOND)
    world.deliver(world.gateways[0])
    thin.poll(world.gateways[0], work())
    thin.poll(world.gateways[0], stopped=(Stopped(QUEUE, FIRST, 125),))


def test_a_start_is_repeated_until_the_client_names_its_work() -> None:
    """A client that has lost the words gets them again, under the same epoch."""
    world = World()
    thin = working(world)
    again = thin.poll(world.gateways[0])
    assert [(each.epoch, each.offset) for each in again.start] == [(FIRST, 120)]
    assert not thin.poll(world.gateways[0], work()).start


def test_an_answer_comes_only_after_the_heartbeat_is_in_the_log() -> None:
    """Before that the lease would rest on nothing, and others may have written since."""
    world = World()
    thin = working(world)
    world.delivers = False
    request = thin.ask(world.gateways[0], work())
    assert request not in world.answers
    gateway, heartbeat = world.unconfirmed[0]
    world.confirm(gateway, heartbeat)
    assert request not in world.answers
    world.deliver(gateway)
    answer = world.answers[request]
    assert isinstance(answer, PollAnswer)
    assert answer.lease_ms == LEASE_MS


def test_without_brokers_the_rest_of_the_old_lease_is_left() -> None:
    """The rest counts from when the poll was received: the client counts from when it was sent."""
    world = World()
    thin = working(world)
    world.delivers = False
    world.pass_time(2_000)
    request = thin.ask(world.gateways[0], work())
    world.pass_time(3_000)
    answer = world.answers[request]
    assert isinstance(answer, PollAnswer)
    assert answer.lease_ms == LEASE_MS - 2_000


def test_a_gateway_that_has_not_answered_before_gives_no_lease_without_brokers() -> None:
    """It does not know when the old lease began."""
    world = World()
    thin = working(world, gateways=2)
    world.delivers = False
    request = thin.ask(world.gateways[1], work())
    world.pass_time(3_000)
    refusal = world.answers[request]
    assert isinstance(refusal, Refusal)
    assert (refusal.status, refusal.kind) == (503, "log_unavailable")


def test_another_gateway_goes_on_within_the_lease() -> None:
    """It holds the client to what the state says; nothing is started anew."""
    world = World()
    thin = working(world, gateways=2)
    answer = thin.poll(world.gateways[1], work(130))
    assert not answer.start
    assert answer.working == ((QUEUE, FIRST),)
    assert [each["queues"][0]["position"] for each in world.written("progress")] == [[0, 130]]


def test_never_started_is_written_only_after_the_client_has_confirmed_it() -> None:
    """A gateway that has not read the drop may tell the client to start until then."""
    world = World()
    thin = working(world)
    give_up(world, thin)
    assert [each["position"] for each in world.written("release")] == [[0, 125]]
    world.grant(thin.session, THIRD, OTHER)
    world.drop(thin.session, THIRD, Epoch(1, 4))
    world.deliver(world.gateways[0])
    thin.poll(world.gateways[0])
    assert len(world.written("release")) == 1
    thin.poll(world.gateways[0])
    assert [each["position"] for each in world.written("release")] == [[0, 125], None]


def test_a_generation_is_acknowledged_only_after_the_client_has_confirmed_it() -> None:
    """A gateway that has not read it may start a grant of the old one until then."""
    world = World()
    thin = working(world)
    thin.poll(world.gateways[0], work())
    before = len(world.written("claims"))
    world.claim_generation()
    world.deliver(world.gateways[0])
    thin.poll(world.gateways[0], work())
    assert len(world.written("claims")) == before
    assert world.written("heartbeat")[-1]["generation"] == 1
    thin.poll(world.gateways[0], work(140))
    claims = world.written("claims")[-1]
    assert claims["generation"] == 2
    assert [each["position"] for each in claims["queues"]] == [[0, 140]]


def test_a_join_acknowledges_nothing() -> None:
    """A join may arrive again after its client has begun to work."""
    world = World()
    world.claim_generation()
    thin = Thin(world)
    thin.join(world.gateway())
    assert [each["generation"] for each in world.written("heartbeat")] == [0]
    assert world.written("claims") == []
    thin.poll(world.gateways[0])
    assert [each["generation"] for each in world.written("claims")] == [1]


def test_a_start_that_was_never_told_is_released_after_its_stop_was_confirmed() -> None:
    """The client hears neither the start nor the stop; only its echo makes the release true."""
    world = World()
    thin = working(world)
    give_up(world, thin)
    world.grant(thin.session, THIRD, OTHER)
    world.deliver(world.gateways[0])
    thin.poll(world.gateways[0])
    world.delivers = False
    request = thin.ask(world.gateways[0], wait_ms=3_000)
    release_of_other(world, 180)
    world.drop(thin.session, THIRD, Epoch(1, 4))
    world.deliver(world.gateways[0])
    world.delivers = True
    for gateway, append in world.unconfirmed:
        world.confirm(gateway, append)
    answer = world.answers[request]
    assert isinstance(answer, PollAnswer)
    assert (answer.start, answer.stop) == ((), ())
    thin.state = answer.state
    assert [each["position"] for each in world.written("release")] == [[0, 125], [0, 180]]
    thin.poll(world.gateways[0])
    own = [each for each in world.written("release") if each["epoch"] == list(THIRD)]
    assert [each["position"] for each in own] == [[0, 180]]


def release_of_other(world: World, offset: int) -> None:
    """Let the other client release its grant."""
    client_id, incarnation, epoch = OTHER
    release = (
        b'{"v":1,"kind":"release","group":"orders","client_id":"%s","incarnation":"%s",'
        b'"queue":["orders","main",0],"epoch":[%d,%d],"position":[0,%d]}'
    ) % (client_id.encode(), incarnation.encode(), *epoch, offset)
    world.append("releases", release)


def test_a_poll_that_comes_a_lease_late_renews_nothing() -> None:
    """Whoever reads the log sees the gap, so every gateway refuses."""
    world = World()
    thin = working(world, gateways=2)
    world.pass_time(LEASE_MS)
    refusal = thin.refused(world.gateways[1], work())
    assert (refusal.status, refusal.reason) == (409, "lease_ended")
    world.deliver(world.gateways[0])
    assert thin.refused(world.gateways[0], work()).reason == "lease_ended"


def test_a_gateway_that_kept_the_session_refuses_a_late_poll_too() -> None:
    """It knows when the heartbeat before was appended."""
    world = World()
    thin = working(world)
    world.pass_time(LEASE_MS)
    assert thin.refused(world.gateways[0], work()).reason == "lease_ended"


def test_an_older_poll_is_refused_once_a_newer_one_is_in_the_log() -> None:
    """A request that was long on its way changes nothing."""
    world = World()
    thin = working(world, gateways=2)
    old = thin.state
    thin.poll(world.gateways[0], work())
    thin.poll(world.gateways[0], work())
    world.deliver(world.gateways[1])
    refusal = thin.refused(world.gateways[1], work(), state=old, sequence=2)
    assert refusal.reason == "session_elsewhere"


def test_a_newer_poll_ends_the_wait_of_the_older_one() -> None:
    """At the same gateway at once, and at another as soon as it reads the newer heartbeat."""
    world = World()
    thin = working(world, gateways=2)
    first = thin.ask(world.gateways[0], work(), wait_ms=3_000)
    second = thin.ask(world.gateways[0], work(), wait_ms=3_000)
    assert second not in world.answers
    third = thin.ask(world.gateways[1], work(), wait_ms=3_000)
    world.deliver(world.gateways[0])
    for request in (first, second):
        refusal = world.answers[request]
        assert isinstance(refusal, Refusal)
        assert refusal.reason == "session_elsewhere"
    assert third not in world.answers


def test_a_poll_that_arrives_behind_a_newer_one_does_not_end_it() -> None:
    """Two connections may deliver two polls in the other order: the newer one goes on."""
    world = World()
    thin = working(world)
    number, world.delivers = thin.sequence, False
    newer = thin.ask(world.gateways[0], work(), wait_ms=3_000, sequence=number + 2)
    written = len(world.unconfirmed)
    late = thin.ask(world.gateways[0], work(), wait_ms=3_000, sequence=number + 1)
    refusal = world.answers[late]
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "session_elsewhere"
    assert newer not in world.answers
    assert len(world.unconfirmed) == written


def test_a_replayed_state_is_refused_by_every_gateway() -> None:
    """It would bring back a work that was released."""
    world = World()
    thin = working(world, gateways=2)
    old = thin.state
    give_up(world, thin)
    thin.poll(world.gateways[0])
    for gateway in world.gateways:
        world.deliver(gateway)
        refusal = thin.refused(gateway, work(), state=old)
        assert refusal.reason == "state_replayed"
    assert len(world.written("release")) == 1


def test_a_state_is_of_one_session_and_one_principal() -> None:
    """Another's state, and one's own state under other credentials, are refused."""
    world = World()
    thin = working(world)
    other = Thin(world)
    other.join(world.gateways[0])
    assert thin.refused(world.gateways[0], state=other.state).kind == "not_yours"
    thief = Thin(world, "thief", thin.session, thin.state, thin.sequence)
    assert thief.refused(world.gateways[0], work()).kind == "not_yours"
    assert thin.poll(world.gateways[0], work()).working


def test_a_right_that_was_taken_away_ends_the_polls() -> None:
    """A principal that stays and may no longer consume in the group is refused at its next poll."""
    world = World()
    thin = working(world)
    thin.groups = frozenset()
    assert thin.refused(world.gateways[0], work()).kind == "forbidden"
    thin.groups = None
    assert thin.poll(world.gateways[0], work()).working


def test_stopped_without_a_stop_is_refused_and_leaves_no_trace() -> None:
    """The client would give up what it was never asked for."""
    world = World()
    thin = working(world)
    written = len(world.log)
    refusal = thin.refused(world.gateways[0], stopped=(Stopped(QUEUE, FIRST, 125),))
    assert (refusal.status, refusal.kind) == (422, "unexpected_stop")
    assert len(world.log) == written
    assert thin.poll(world.gateways[0], work()).working


def test_a_stop_says_how_long_the_client_has_and_then_to_stop_at_once() -> None:
    """Behind the deadline the queue is left out, and released only on the client's word."""
    world = World()
    thin = working(world, gateways=2)
    world.drop(thin.session, FIRST, SECOND)
    world.deliver(world.gateways[0])
    assert [stop.deadline_ms for stop in thin.poll(world.gateways[0], work()).stop] == [30_000]
    for _ in range(4):
        world.pass_time(8_000)
        answer = thin.poll(world.gateways[0], work())
    assert answer.working == ()
    assert world.written("release") == []
    thin.poll(world.gateways[1], stopped=(Stopped(QUEUE, FIRST, 133),))
    assert [each["position"] for each in world.written("release")] == [[0, 133]]


def test_an_engine_that_has_lapsed_the_client_ends_the_session() -> None:
    """The notice ends the wait, and every later poll."""
    world = World()
    thin = working(world, gateways=2)
    request = thin.ask(world.gateways[0], work(), wait_ms=3_000)
    world.notice(thin.session, "lapsed")
    for gateway in world.gateways:
        world.deliver(gateway)
    refusal = world.answers[request]
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "lease_ended"
    assert thin.refused(world.gateways[1], work()).reason == "lease_ended"


def test_a_duplicate_client_id_ends_the_session_of_the_lesser_process() -> None:
    """Its client must not join again."""
    world = World()
    thin = working(world)
    winner: dict[str, Any] = {
        "winner": {"start_ms": 5, "uuid": "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11"}
    }
    world.notice(thin.session, "duplicate_client_id", **winner)
    world.deliver(world.gateways[0])
    refusal = thin.refused(world.gateways[0], work())
    assert refusal.reason == "duplicate_client_id"
    assert "own client id" in refusal.remedy


def test_a_release_that_is_not_confirmed_is_written_again() -> None:
    """Nobody knows whether it is in the log; a release may be written any number of times."""
    world = World()
    thin = working(world)
    world.drop(thin.session, FIRST, SECOND)
    world.deliver(world.gateways[0])
    thin.poll(world.gateways[0], work())
    world.delivers = False
    thin.ask(world.gateways[0], stopped=(Stopped(QUEUE, FIRST, 125),))
    for gateway, append in world.unconfirmed:
        gateway.failed(append.number, world.now_ms)
        world.obey(gateway)
    world.unconfirmed.clear()
    world.delivers = True
    thin.poll(world.gateways[0], stopped=(Stopped(QUEUE, FIRST, 125),))
    assert [each["position"] for each in world.written("release")] == [[0, 125]]


@pytest.mark.parametrize("goes_on", [0, 1])
def test_progress_that_is_not_confirmed_is_written_again(goes_on: int) -> None:
    """Whoever takes over after a death begins there, although the client moved no more."""
    world = World()
    thin = working(world, gateways=2)
    world.delivers = False
    request = thin.ask(world.gateways[0], work(150))
    for gateway, append in world.unconfirmed:
        gateway.failed(append.number, world.now_ms)
        world.obey(gateway)
    world.unconfirmed.clear()
    answer = world.answers[request]
    assert isinstance(answer, PollAnswer)
    thin.state = answer.state
    assert world.written("progress") == []
    world.delivers = True
    thin.poll(world.gateways[goes_on], work(150))
    assert [each["queues"][0]["position"] for each in world.written("progress")] == [[0, 150]]


def test_a_gate_opens_by_a_release_that_is_read_during_the_poll() -> None:
    """The answer comes at once, and says where to begin."""
    world = World()
    thin = working(world)
    give_up(world, thin)
    world.grant(thin.session, THIRD, OTHER)
    world.deliver(world.gateways[0])
    request = thin.ask(world.gateways[0], wait_ms=3_000)
    assert request not in world.answers
    release_of_other(world, 180)
    world.deliver(world.gateways[0])
    answer = world.answers[request]
    assert isinstance(answer, PollAnswer)
    assert [(each.offset, each.why) for each in answer.start] == [(180, "release")]


def test_sessions_beyond_the_limit_are_refused() -> None:
    """A full gateway says so, and others may take the client."""
    world = World()
    gateway = world.gateway()
    gateway._times = type(gateway._times)("g", sessions_max=1)  # noqa: SLF001 - a smaller limit
    Thin(world).join(gateway)
    request = world.request()
    thin = Thin(world)
    try:
        thin.join(gateway)
    except AssertionError:
        refusal = world.answers[request + 1]
        assert isinstance(refusal, Refusal)
        assert refusal.kind == "gateway_full"
    else:
        raise AssertionError("it took one more")
