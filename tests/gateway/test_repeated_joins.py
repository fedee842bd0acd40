"""A join that comes twice makes one session, and keeps no request waiting."""

from fairlead_client.model import Process, Subscription
from fairlead_client.thin.thin_words import Joined, PollAnswer

from fairlead.gateway.member_profile import MemberProfile
from fairlead.gateway.outputs import SUPERSEDED
from fairlead.gateway.session_log import incarnation_of_session
from tests.gateway.gateway_world import CLIENT, GROUP, Thin, World

SESSION = incarnation_of_session(7)


def ask_to_join(world: World) -> int:
    """Send the join; return the request."""
    gateway, request = world.gateways[0], world.request()
    profile = MemberProfile(
        principal="team", group=GROUP, client_id=CLIENT, process=Process(1, "p")
    )
    gateway.join(request, SESSION, profile, (Subscription("orders"),), world.now_ms)
    world.obey(gateway)
    return request


def test_a_join_that_comes_again_while_the_first_waits_answers_both() -> None:
    """The first one hears that a newer one has come, and the second one joins."""
    world = World()
    world.gateway()
    world.delivers = False
    first, second = ask_to_join(world), ask_to_join(world)
    assert world.answers[first] == SUPERSEDED
    for gateway, append in world.unconfirmed:
        world.confirm(gateway, append)
    assert isinstance(world.answers[second], Joined)


def test_a_join_that_comes_late_ends_no_poll() -> None:
    """The client has its answer and polls: the late copy of its join must not take its place."""
    world = World()
    world.claim_generation()
    gateway = world.gateway()
    joined = world.answers[ask_to_join(world)]
    assert isinstance(joined, Joined)
    thin = Thin(world, session=joined.session, state=joined.state)
    thin.poll(gateway)
    waits = thin.ask(gateway, wait_ms=3_000)
    heartbeats = len(world.written("heartbeat"))
    assert world.answers[ask_to_join(world)] == SUPERSEDED
    assert len(world.written("heartbeat")) == heartbeats
    world.pass_time(3_000)
    assert isinstance(world.answers[waits], PollAnswer)


def test_heartbeats_say_which_join_of_its_process_it_was() -> None:
    """The engine ranks by it: a join that comes late is outranked by the next one."""
    world = World()
    gateway = world.gateway()
    for joins in (1, 2):
        profile = MemberProfile(
            principal="team", group=GROUP, client_id=CLIENT, process=Process(1, "p"), joins=joins
        )
        session = incarnation_of_session()
        gateway.join(world.request(), session, profile, (Subscription("orders"),), world.now_ms)
        world.obey(gateway)
    told = [each["process"]["incarnations"] for each in world.written("heartbeat")]
    assert told == [1, 2]
