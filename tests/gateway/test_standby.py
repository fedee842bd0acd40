"""A thin client that stands by, behind one gateway or another: it hears what it is to do."""

from typing import Any

import orjson
import pytest
from fairlead_client.model import Epoch, Position
from fairlead_client.session.states import Standing
from fairlead_client.thin.thin_words import Frozen, Stopped, Work

from fairlead.gateway.outputs import Refusal
from fairlead.gateway.requests import JoinBody, PollBody, body_of, checked_join
from tests.gateway.gateway_world import QUEUE, Thin, World

FREEZE, GRANT, BACK = Epoch(1, 6), Epoch(1, 7), Epoch(1, 9)
HELD = Frozen(FREEZE, ((QUEUE, 120),))
WAIT, FOLLOW, FROZEN, OWN = Standing


@pytest.fixture
def world() -> World:
    """Two gateways."""
    made = World()
    made.claim_generation()
    made.gateway()
    made.gateway()
    return made


@pytest.fixture
def thin(world: World) -> Thin:
    """A client that stands by, and has heard that it is to wait."""
    client = Thin(world, follows="AVG")
    client.join(world.gateways[0])
    answer = client.poll(world.gateways[0], standing=WAIT)
    assert (answer.standing, answer.freeze) == (WAIT, None)
    return client


def take_over(world: World, session: str, *, stage: str = "held") -> None:
    """Let the engine grant what was named; with ``draining`` it drops the queue already."""
    add = {"queue": QUEUE, "epoch": GRANT, "position": Position(0, 120), "after": []}
    words: dict[str, Any] = {"assigned": [{"queue": QUEUE, "epoch": GRANT, "state": stage}]}
    if stage == "held":
        words["add"] = [{**add, "former": True, "why": "former"}]
    else:
        words["drop"] = [{"queue": QUEUE, "epoch": GRANT}]
    world.assign(session, GRANT, **words)


def deliver(world: World) -> None:
    """Let all gateways read."""
    for gateway in world.gateways:
        world.deliver(gateway)


def frozen(world: World, thin: Thin, number: int = 0) -> None:
    """Let the engine freeze the client, which answers."""
    world.assign(thin.session, FREEZE, "freeze")
    deliver(world)
    answer = thin.poll(world.gateways[number], standing=WAIT)
    assert (answer.standing, answer.freeze) == (FROZEN, FREEZE)
    thin.poll(world.gateways[number], standing=FROZEN, frozen=HELD)


def test_its_heartbeats_say_where_it_is(world: World, thin: Thin) -> None:
    """They name its data plane, what it can follow, and what it says of itself."""
    beats = world.written("heartbeat")
    assert {beat["standby"]["state"] for beat in beats} == {"wait"}
    assert beats[-1]["data_plane"] == {"kind": "rocketmq", "member": "10.0.0.7@4121"}
    assert beats[-1]["standby"] == {"follows": "AVG", "state": "wait"}
    world.assign(thin.session, Epoch(1, 5), "follow")
    deliver(world)
    # It says so only once it has heard it.
    assert thin.poll(world.gateways[1], standing=WAIT).standing is FOLLOW
    thin.poll(world.gateways[0], standing=FOLLOW)
    states = [beat["standby"]["state"] for beat in world.written("heartbeat")]
    assert states == ["wait", "wait", "wait", "follow"]


def test_a_freeze_is_news(world: World, thin: Thin) -> None:
    """A poll that waits is answered when the freeze comes."""
    request = thin.ask(world.gateways[0], standing=WAIT, wait_ms=3_000)
    assert request not in world.answers
    world.assign(thin.session, FREEZE, "freeze")
    deliver(world)
    assert request in world.answers


@pytest.mark.parametrize("number", [0, 1])
def test_it_goes_on_in_place(world: World, thin: Thin, number: int) -> None:
    """Whichever gateway answers: the start says that the client has the queue already."""
    frozen(world, thin, number)
    (former,) = world.written("former")
    assert (former["epoch"], former["parts"]) == ([1, 6], 1)
    assert former["queues"] == [{"queue": list(QUEUE), "position": [0, 120]}]
    take_over(world, thin.session)
    deliver(world)
    answer = thin.poll(world.gateways[1], standing=FROZEN, frozen=HELD)
    assert answer.standing is OWN
    ((start,), (working,)) = answer.start, answer.working
    assert (start.queue, start.epoch, start.former) == (QUEUE, GRANT, True)
    assert working == (QUEUE, GRANT)
    # The answer to the freeze is in the log once: the state says so to each gateway.
    assert len(world.written("former")) == 1
    answer = thin.poll(world.gateways[0], Work(QUEUE, GRANT, 130), standing=OWN)
    assert (answer.start, answer.working) == ((), ((QUEUE, GRANT),))
    assert world.written("heartbeat")[-1]["standby"]["state"] == "own"
    assert world.written("progress")[-1]["queues"][0]["position"] == [0, 130]


def test_an_answer_that_got_lost_comes_again(world: World, thin: Thin) -> None:
    """The next gateway tells the same start in place; the answer may stand in the log twice."""
    frozen(world, thin)
    take_over(world, thin.session)
    deliver(world)
    before = thin.state
    thin.poll(world.gateways[0], standing=FROZEN, frozen=HELD)
    answer = thin.poll(world.gateways[1], state=before, standing=FROZEN, frozen=HELD)
    assert [each.former for each in answer.start] == [True]


def test_an_answer_that_no_broker_confirmed_is_written_again(world: World, thin: Thin) -> None:
    """The next poll brings it again, at any gateway."""
    world.assign(thin.session, FREEZE, "freeze")
    deliver(world)
    thin.poll(world.gateways[0], standing=WAIT)
    world.delivers = False
    thin.ask(world.gateways[0], standing=FROZEN, frozen=HELD)
    world.unconfirmed.clear()
    world.delivers = True
    assert world.written("former") == []
    thin.poll(world.gateways[1], standing=FROZEN, frozen=HELD)
    assert len(world.written("former")) == 1


def test_a_drop_at_once_tells_the_start_with_the_stop(world: World, thin: Thin) -> None:
    """The client learns the epoch under which it stops, and the release says where."""
    frozen(world, thin)
    take_over(world, thin.session, stage="draining")
    deliver(world)
    answer = thin.poll(world.gateways[1], standing=FROZEN, frozen=HELD)
    assert [(each.queue, each.epoch, each.former) for each in answer.start] == [
        (QUEUE, GRANT, True)
    ]
    assert [(each.queue, each.epoch) for each in answer.stop] == [(QUEUE, GRANT)]
    assert world.written("release") == []
    thin.poll(world.gateways[0], standing=OWN, stopped=(Stopped(QUEUE, GRANT, 128),))
    (release,) = world.written("release")
    assert (release["epoch"], release["position"]) == ([1, 7], [0, 128])


def test_what_is_not_granted_counts_as_frozen_until_the_client_says_own(
    world: World, thin: Thin
) -> None:
    """The gateway passes on what the client says, and never more than the engine's word."""
    frozen(world, thin)
    world.assign(thin.session, GRANT)
    deliver(world)
    answer = thin.poll(world.gateways[1], standing=FROZEN, frozen=HELD)
    assert (answer.standing, answer.start, answer.working) == (OWN, (), ())
    thin.poll(world.gateways[1], standing=FROZEN)
    thin.poll(world.gateways[0], standing=OWN)
    states = [beat["standby"]["state"] for beat in world.written("heartbeat")]
    assert states[-3:] == ["freeze", "freeze", "own"]


def test_given_back_it_follows(world: World, thin: Thin) -> None:
    """The works end without a release: no poll has to name them any more."""
    frozen(world, thin)
    take_over(world, thin.session)
    deliver(world)
    thin.poll(world.gateways[0], standing=FROZEN, frozen=HELD)
    world.assign(thin.session, BACK, "follow")
    deliver(world)
    answer = thin.poll(world.gateways[1], Work(QUEUE, GRANT, 140), standing=OWN)
    assert (answer.standing, answer.working, answer.stop) == (FOLLOW, (), ())
    thin.poll(world.gateways[0], standing=FOLLOW)
    last = world.written("heartbeat")[-1]
    assert (last["standby"]["state"], last["digest"]) == ("follow", "0" * 16)
    assert world.written("release") == []


def test_its_leave_waits_until_nothing_runs(world: World, thin: Thin) -> None:
    """Polls that leave and still hold something write heartbeats; the last words write it."""
    frozen(world, thin)
    thin.poll(world.gateways[0], standing=FROZEN, frozen=HELD, leaving=True)
    thin.poll(world.gateways[1], standing=FROZEN, frozen=HELD, leaving=True)
    assert world.written("leave") == []
    thin.ask(world.gateways[1], ending=True)
    assert len(world.written("leave")) == 1


def test_a_grant_while_it_leaves_waits_for_the_stop(world: World, thin: Thin) -> None:
    """It tells the epoch with the stop, and releases nothing before: the client still works."""
    frozen(world, thin)
    thin.poll(world.gateways[0], standing=FROZEN, frozen=HELD, leaving=True)
    take_over(world, thin.session)
    deliver(world)
    answer = thin.poll(world.gateways[1], standing=FROZEN, frozen=HELD, leaving=True)
    assert [(each.queue, each.epoch, each.former) for each in answer.start] == [
        (QUEUE, GRANT, True)
    ]
    assert [(each.queue, each.epoch) for each in answer.stop] == [(QUEUE, GRANT)]
    thin.poll(world.gateways[0], Work(QUEUE, GRANT, 125), standing=OWN, leaving=True)
    assert world.written("release") == []
    thin.ask(world.gateways[1], stopped=(Stopped(QUEUE, GRANT, 128),), ending=True)
    (release,) = world.written("release")
    assert (release["epoch"], release["position"]) == ([1, 7], [0, 128])


def test_a_client_that_follows_leaves_with_its_last_words(world: World, thin: Thin) -> None:
    """Nobody waits for a queue of it that the engine never granted."""
    world.assign(thin.session, Epoch(1, 5), "follow")
    deliver(world)
    thin.poll(world.gateways[0], standing=WAIT)
    thin.poll(world.gateways[1], standing=FOLLOW, leaving=True)
    assert world.written("leave") == []
    thin.ask(world.gateways[0], ending=True)
    assert len(world.written("leave")) == 1


@pytest.mark.parametrize(
    "words, field, remedy",
    [
        ({"standing": None}, "standby", "Say where the client is: wait, follow, freeze or own."),
        (
            {"standing": WAIT, "frozen": HELD},
            "frozen.epoch",
            "Answer the freeze of the newest answer, and none that is over.",
        ),
    ],
)
def test_a_poll_that_does_not_fit_is_refused(
    world: World, thin: Thin, words: dict[str, Any], field: str, remedy: str
) -> None:
    """It changes nothing, and the next poll goes on."""
    refusal = thin.refused(world.gateways[0], **words)
    assert (refusal.status, refusal.field, refusal.remedy) == (422, field, remedy)
    thin.poll(world.gateways[0], standing=WAIT)


def test_one_without_standby_says_nothing_of_it(world: World) -> None:
    """The gateway names the field and both remedies."""
    client = Thin(world)
    client.join(world.gateways[0])
    refusal = client.refused(world.gateways[0], standing=OWN)
    assert (refusal.field, refusal.remedy) == ("standby", "Leave it out, or join with standby.")
    assert "standby" not in world.written("heartbeat")[-1]


JOIN = {
    "client_id": "c1",
    "topics": [{"topic": "orders"}],
    "data_plane": {"kind": "rocketmq", "member": "10.0.0.7@4121"},
    "standby": {"follows": "AVG"},
}


def refused(model: type[JoinBody | PollBody], body: dict[str, Any]) -> Refusal | None:
    """Return why a body is refused."""
    read = body_of(model, orjson.dumps(body))
    if isinstance(read, Refusal):
        return read
    return checked_join(read) if isinstance(read, JoinBody) else None


@pytest.mark.parametrize(
    "more",
    [{}, {"standby": False}, {"standby": None}, {"data_plane": "kafka", "standby": False}],
)
def test_joins_of_both_kinds_are_read(more: dict[str, Any]) -> None:
    """What former clients say of both fields still means that they cannot stand by."""
    assert refused(JoinBody, {**JOIN, **more}) is None


@pytest.mark.parametrize(
    "more, field, remedy",
    [
        ({"standby": {"folows": "AVG"}}, "standby.folows", "Did you mean follows?"),
        ({"standby": {"follows": "A V"}}, "standby.follows", "Change it."),
        ({"standby": True}, "standby", "Correct the field; openapi.json has its form."),
        ({"data_plane": "rocketmq"}, "data_plane", "Correct the field; openapi.json has its form."),
        (
            {"data_plane": {"kind": "rocket", "member": "m"}},
            "data_plane.kind",
            "Did you mean rocketmq?",
        ),
        ({"data_plane": {"kind": "rocketmq", "member": " "}}, "data_plane.member", "Change it."),
        (
            {"data_plane": {"kind": "kafka", "member": "m"}},
            "standby",
            'Send data_plane too, of the kind "rocketmq", or join without standby.',
        ),
        (
            {"data_plane": "kafka"},
            "standby",
            'Send data_plane too, of the kind "rocketmq", or join without standby.',
        ),
    ],
)
def test_a_wrong_join_names_field_and_remedy(more: dict[str, Any], field: str, remedy: str) -> None:
    """Each field of standing by is checked by itself, and both together."""
    refusal = refused(JoinBody, {**JOIN, **more})
    assert refusal is not None
    assert (refusal.status, refusal.field, refusal.remedy) == (422, field, remedy)


@pytest.mark.parametrize(
    "more, field",
    [
        ({"standby": "own it"}, "standby"),
        ({"frozen": {"epoch": [1], "queues": []}}, "frozen.epoch[1]"),
        (
            {"frozen": {"epoch": [1, 6], "queues": [{"queue": list(QUEUE)}]}},
            "frozen.queues[0].position",
        ),
        (
            {"frozen": {"epoch": [1, 6], "queues": [{"queue": list(QUEUE), "position": -1}]}},
            "frozen.queues[0].position",
        ),
        (
            {"frozen": {"epoch": [1, 6], "queues": [{"queue": list(QUEUE), "position": 1}] * 2}},
            "frozen.queues",
        ),
    ],
)
def test_a_wrong_poll_names_its_field(more: dict[str, Any], field: str) -> None:
    """A wrong answer to a freeze never counts as an answer that holds nothing."""
    refusal = refused(PollBody, {"state": "s", "sequence": 1, **more})
    assert refusal is not None
    assert (refusal.status, refusal.field) == (422, field)
