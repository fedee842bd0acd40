"""What a list of groups says is wrong with one of them is what a check of it finds, always."""

from collections.abc import Callable
from random import Random

import pytest

from fairlead.control.native_handback import release_rule
from fairlead.core.model import MessageQueue, Position
from fairlead.core.publishing.utc_words import utc_words
from fairlead.observed.verdict import check_group
from tests.kit.client import Client
from tests.kit.live_group import GROUP, heard_alone, rule, set_rules
from tests.kit.memory_topics import START_MS, shard_of
from tests.kit.observations import (
    deafened,
    found_in,
    listed_in,
    standing_of,
    started_again,
    stubborn,
)
from tests.kit.observed_world import view_of
from tests.kit.replays import GROUPS, kill, live
from tests.kit.world import World, world_of


def _agree(world: World, group: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(each.problem for each in found_in(world, group)))
    assert listed_in(world)[group] == found
    return found


def test_forged_ticks_make_no_dead_engine_live() -> None:
    """Ticks of a generation that nobody claimed make no dead engine look alive, wherever."""
    world = world_of("c1", "c2", queues=6)
    world.topics.append("generations", 0, b"driver", {"kind": "generation", "driver": "driver"})
    assert _agree(world, GROUP) == ()
    for _ in range(8):
        heard_alone(world, 1, *world.clients, ticking=False)
        world.topics.tick(1_000_000)
    assert _agree(world, GROUP) == ("engine_silent",)
    heard_alone(world, 1, *world.clients)
    assert _agree(world, GROUP) == ()


def _phases(world: World) -> set[str]:
    """Return what the list and a look at the group call its phase."""
    (listed,) = view_of(world).groups()
    found = standing_of(world)
    assert listed.converged == found.to_json()["converged"]
    return {listed.phase, found.phase}


def test_members_that_await_a_decision() -> None:
    """Members that no decision has placed make the phase unknown, whatever was decided before."""
    world = World(queues={"orders": 6})
    world.join("c1")
    assert _phases(world) == {"unknown"}
    assert "unassigned" in _agree(world, GROUP)
    world.pass_seconds(8)
    assert _phases(world) == {"stable"}
    world.join("c2")
    assert _phases(world) == {"unknown"}
    world.pass_seconds(8)
    for client in world.clients:
        client.work(7)
        client.leave()
    world.pass_seconds(3)
    assert _phases(world) == {"empty"}
    world.clients.clear()
    world.join("c3")
    heard_alone(world, 20, *world.clients, ticking=False)
    assert _phases(world) == {"unknown"}
    said = standing_of(world).to_json()
    assert (said["members"], said["converged"], said["phase_since_ms"]) == (1, False, None)
    assert said["unconverged_because"] == ["1 member that no decision has placed yet"]


def _calm(world: World) -> None:
    world.pass_seconds(1)


def _engine_gone(world: World) -> None:
    heard_alone(world, 8, *world.clients, ticking=False)


def _all_gone(world: World) -> None:
    for client in world.clients:
        client.work(7)
        client.leave()
    world.pass_seconds(3)
    world.topics.now_ms += 60_000


def _slow(world: World) -> None:
    stubborn(world, "c1")
    world.join("c3")
    world.pass_seconds(35)


def _mute(world: World) -> None:
    _slow(world)
    world.pass_seconds(12)


def _forced(world: World) -> None:
    set_rules(world, rule("on_mute", "force"))
    _mute(world)
    world.pass_seconds(4)


def _deaf(world: World) -> None:
    deafened(world, "c1")
    world.join("c3")
    world.pass_seconds(20)


def _drained(world: World) -> None:
    for client_id in ("c1", "c2"):
        set_rules(world, rule("drain", {"client_id": client_id}))
    world.pass_seconds(5)


def _paused(world: World) -> None:
    set_rules(world, rule("pause", value=True))
    world.pass_seconds(2)
    world.clients[0].leave()
    world.pass_seconds(3)


def _differ(world: World) -> None:
    world.clients[0].beat(ordered=True)
    world.run_all()


def _twice(world: World) -> None:
    process = {
        "start_ms": START_MS - 5,
        "uuid": "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a12",
        "incarnations": 1,
    }
    Client(world.topics, "orders", "c1", life=7).beat(process=process)
    world.run_all()


def _no_route(world: World) -> None:
    world.join("c3", subscribed=("orders", "nowhere"))
    world.pass_seconds(3)


def _stuck(world: World) -> None:
    heard_alone(world, 26, *world.clients[1:])


def _unanswered(world: World) -> None:
    joining = world.join("c9")
    heard_alone(world, 20, *world.clients[:2], joining)


def _again_and_again(world: World) -> None:
    for start in range(4):
        started_again(world, "c9", start)


@pytest.mark.parametrize(
    "happens, expected",
    [
        (_calm, set()),
        (_engine_gone, {"engine_silent"}),
        (_all_gone, {"offline"}),
        (_slow, {"stalled_handover"}),
        (_mute, {"mute_member"}),
        (_forced, {"unsafe"}),
        (_deaf, {"not_followed"}),
        (_unanswered, {"unanswered"}),
        (_drained, {"unassigned"}),
        (_paused, {"paused_unassigned"}),
        (_differ, {"disagreement"}),
        (_twice, {"duplicate_client_id"}),
        (_no_route, {"unassigned"}),
        (_stuck, {"silent_member"}),
        (_again_and_again, {"restarting"}),
    ],
)
def test_list_and_check_agree_on_each_problem(
    happens: Callable[[World], None], expected: set[str]
) -> None:
    """Whatever befalls a group, the list has the words of the check, in its order."""
    world = world_of("c1", "c2", queues=6)
    happens(world)
    assert set(_agree(world, "orders")) >= expected
    if not expected:
        assert _agree(world, "orders") == ()


# In the last one an engine dies while a client waits for a queue, which the next engine gives away.
@pytest.mark.parametrize(
    "seed", [0, 1, 146, *(pytest.param(each, marks=pytest.mark.slow) for each in range(2, 6))]
)
def test_list_and_check_agree_in_any_history(seed: int) -> None:
    """In lives in which clients and drivers come, leave and die both say the same at each look."""
    world, chance, said = World(), Random(seed), set[str]()
    for second in range(0, 36, 3):
        live(world, 3, chance, first=second)
        if chance.random() < 0.3:
            kill(world, 3, 5)
        for group in set(GROUPS) & listed_in(world).keys():
            said.update(_agree(world, group))
    assert said


def test_no_reader_misses_the_members_of_a_released_group() -> None:
    """No reader misses the members of a group that was handed back, or tells their lag."""
    world = world_of("c1", "c2", queues=6)
    _all_gone(world)
    assert "offline" in _agree(world, GROUP)
    said = "released to the native group orders: back to what we know"
    value = release_rule(GROUP).value
    world.topics.rule(GROUP, "designated", value, by="alice", because=said)
    world.pass_seconds(3)
    assert _agree(world, GROUP) == ()
    standing = standing_of(world)
    assert standing.release is not None
    assert standing.release.to_json()["by"] == "alice"
    assert standing.lag is None
    notes = check_group(standing).notes
    by = f"{said}; alice did it at {utc_words(standing.release.written_ms)}"
    assert by in notes
    view = view_of(world)
    (listed,) = view.groups()
    assert listed.release == standing.release
    assert listed.lag_messages is None


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("paused", [False, True])
def test_a_client_of_a_released_group(*, elsewhere: bool, paused: bool) -> None:
    """Its queues have nobody because native consumers read them, and no rule is to be unset."""
    world = world_of("c1", queues=6)
    _all_gone(world)
    value = release_rule(GROUP, elsewhere=elsewhere).value
    world.topics.rule(GROUP, "designated", value, by="alice", because="released to the native g")
    if paused:
        world.topics.rule(GROUP, "pause", value=True)
    world.pass_seconds(3)
    world.join("c2")
    world.pass_seconds(8)
    problem = "paused_unassigned" if paused else "unassigned"
    assert _agree(world, GROUP) == (problem,)
    found = found_in(world)
    assert {each.problem for each in found} == {problem}
    ((text, remedy),) = {(each.text, each.remedy) for each in found}
    assert "released to the native g; alice did it at 20" in text
    source = " --from NATIVE" if elsewhere else ""
    assert f"fairlead adopt orders{source} --apply; or stop these clients" in remedy
    assert "unset" not in remedy


@pytest.mark.parametrize("elsewhere", [False, True])
def test_lag_of_a_released_group(*, elsewhere: bool) -> None:
    """Native commits are the truth of a released group, whatever resets and clients told before."""
    world = world_of("c1", queues=6)
    queue = MessageQueue("orders", "main", 0)
    reset = {"kind": "reset", "group": GROUP, "queue": [*queue], "offset": 3, "by": "alice"}
    world.topics.append("control", shard_of(GROUP), b"reset", reset)
    _all_gone(world)
    value = release_rule(GROUP, elsewhere=elsewhere).value
    world.topics.rule(GROUP, "designated", value, by="alice")
    world.pass_seconds(3)
    view, at_ms = view_of(world), world.topics.now_ms + 1
    ends = {MessageQueue("orders", "main", number): 1_000 for number in range(6)}
    committed = {each: Position(0, 1_000 if each != queue else 990) for each in ends}
    view.apply_offsets(at_ms, ends, {GROUP: committed}, {"orders": "identity-of-orders"})
    (listed,) = view.groups()
    assert listed.lag_messages == (None if elsewhere else 10)
    assert "offline" not in listed.problems
