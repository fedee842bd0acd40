"""A client that is gone keeps its share for a while: nobody else's queues move when it restarts."""

import pytest

from fairlead.core.model import MemberProfile, Position
from fairlead.core.outputs import Assignment
from fairlead.core.records import Release
from fairlead.core.step import due_ms
from tests.kit.group_operator import alarms_of, drain, owners_of
from tests.kit.group_settling import held, settle, stop
from tests.kit.group_world import GROUP, GroupWorld, key_of, settled

GRACE_MS = 60_000
DEAL = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "STICKY")


def world_of(*clients: str, queues: int = 6, strategy: str = "AVG", **times: int) -> GroupWorld:
    """Return a settled group with a restart grace."""
    world = settled(*clients, queues=queues)
    world.rule("strategy", {"name": strategy})
    world.rule("timing", {"restart_grace_ms": GRACE_MS, **times})
    settle(world)
    return world


def dropped_of_others(world: GroupWorld, client: str) -> list[int]:
    """Return the queues that the last run took from anybody else."""
    return [
        drop.queue.queue_id
        for output in world.outputs
        if isinstance(output, Assignment) and output.member.client_id != client
        for drop in output.drop
    ]


@pytest.mark.parametrize("strategy", DEAL)
def test_rolling_restart_moves_nothing(strategy: str) -> None:
    """Every member is restarted in turn: nobody else's queue moves, each gets its own back."""
    world = world_of("a", "b", "c", queues=7, strategy=strategy)
    before = held(world)
    for client in ("a", "b", "c"):
        world.leave(client)
        world.run()
        assert dropped_of_others(world, client) == []
        settle(world)
        assert held(world) == {name: ids for name, ids in before.items() if name != client}
        assert world.decision.state.phase == "waiting_for_clients"
        assert world.decision.state.unassigned == len(before[client])
        world.pass_time(5_000)
        for other in ("a", "b", "c"):
            if other != client:
                world.beat(other, life=2 if other < client else 1)
        world.beat(client, life=2)
        world.run()
        assert dropped_of_others(world, client) == []
        assert held(world) == before
        assert world.decision.state.phase == "stable"
        assert {add.why for add in world.adds(client, 2)} == {"release"}


@pytest.mark.parametrize("strategy", DEAL)
def test_all_restart_at_once(strategy: str) -> None:
    """The whole group is stopped and started again: each client finds its own queues."""
    world = world_of("a", "b", "c", queues=7, strategy=strategy)
    before = held(world)
    for client in before:
        world.leave(client)
    settle(world)
    assert held(world) == {}
    assert world.decision.state.phase == "waiting_for_clients"
    for client in sorted(before, reverse=True):
        world.pass_time(2_000)
        world.beat(client, life=2)
        world.run()
        assert held(world)[client] == before[client]
        assert dropped_of_others(world, client) == []
    assert held(world) == before


def test_a_client_back_within_the_grace_gets_what_it_had() -> None:
    """A client that dies and is back within the grace gets what it had (rule H21)."""
    world = world_of("a", "b", queues=4)
    before = held(world)
    for _ in range(3):
        world.pass_time(5_000)
        world.beat("a")
        world.run()
    assert held(world) == {"a": before["a"]}
    assert world.decision.triggers == ("client_expired",)
    assert world.decision.state.phase == "waiting_for_clients"
    world.beat("b", life=2)
    world.run()
    assert held(world) == before


def test_grace_of_a_crash_counts_from_the_last_heartbeat() -> None:
    """A crash waits no longer than a leave: its grace starts at the last heartbeat (rule H22)."""
    world = world_of("a", "b", queues=4, lease_ms=50_000)
    last = world.clock_ms
    while world.clock_ms < last + 55_000:
        world.pass_time(5_000)
        world.beat("a")
        world.run()
    assert world.state is not None
    assert list(world.state.awaited) == ["b"]
    assert due_ms(world.state, world.rules) <= last + GRACE_MS
    world.pass_time(5_000)
    world.run()
    assert held(world) == {"a": [0, 1, 2, 3]}
    assert world.decision.triggers == ("grace_over",)


def test_grace_shorter_than_the_lease() -> None:
    """The group does not wait for a member that is dead only after its grace."""
    world = world_of("a", "b", queues=4, restart_grace_ms=5_000)
    for _ in range(3):
        world.pass_time(5_000)
        world.beat("a")
        world.run()
    assert held(world) == {"a": [0, 1, 2, 3]}


def test_after_the_grace_the_queues_are_shared_with_an_alarm() -> None:
    """When nobody comes, the queues are shared in one decision, with an alarm (rule H22)."""
    world = world_of("a", "b", "c")
    stop(world, "b")
    stop(world, "c")
    assert world.state is not None
    world.pass_time(GRACE_MS - 1)
    world.beat("a")
    world.run()
    assert held(world) == {"a": [0, 1]}
    assert due_ms(world.state, world.rules) <= world.clock_ms + 1
    world.pass_time(1)
    world.run()
    assert held(world) == {"a": [0, 1, 2, 3, 4, 5]}
    decision = world.decision
    assert decision.triggers == ("grace_over",)
    assert [cause.client_id for cause in decision.cause] == ["b", "c"]
    assert decision.alarms == ("not_returned",)
    assert decision.state.phase == "stable"
    assert world.state is not None
    assert world.state.awaited == {}


def test_without_a_grace_a_leavers_queues_are_shared_at_once() -> None:
    """Without the rule the queues of a client that leaves are shared at once."""
    world = settled("a", "b")
    stop(world, "b")
    assert held(world) == {"a": [0, 1, 2, 3]}
    assert world.state is not None
    assert world.state.awaited == {}


@pytest.mark.parametrize("grace_ms, alarms", [(0, ()), (1_000, ("not_returned",))])
def test_operator_ends_the_wait(grace_ms: int, alarms: tuple[str, ...]) -> None:
    """A grace that is cut short counts for those who are gone already; to end it is no alarm."""
    world = world_of("a", "b", queues=4)
    stop(world, "b")
    world.pass_time(2_000)
    world.beat("a")
    world.rule("timing", {"restart_grace_ms": grace_ms})
    world.run()
    assert held(world) == {"a": [0, 1, 2, 3]}
    assert world.decision.alarms == alarms


def test_who_comes_after_the_grace_joins_like_anybody() -> None:
    """Who comes after the grace joins like anybody, also if the engine reads both at once."""
    world = world_of("a", "b", queues=4)
    world.leave("b")
    world.pass_time(GRACE_MS)
    world.beat("a")
    world.beat("b", life=2)
    result = world.run()
    assert ("member", "returned") not in result.counts


def test_back_before_the_old_life_has_stopped() -> None:
    """The new incarnation waits for the old one's release; nobody else waits (rule H21)."""
    world = world_of("a", "b", queues=4)
    epoch = world.epoch_of(2)
    world.leave("b")
    world.run()
    world.beat("b", life=2)
    world.run()
    assert world.state is not None
    assert world.owned("a") == [0, 1]
    world.release("b", 2, epoch, 17)
    world.run()
    (add,) = [add for add in world.adds("b", 2) if add.after == ()]
    assert (add.queue.queue_id, add.position.offset, add.why) == (2, 17, "release")


def test_a_newcomer_gets_its_share_beside_the_awaited() -> None:
    """A newcomer gets its share beside the one that is waited for."""
    world = world_of("a", "b", queues=6)
    stop(world, "b")
    world.beat("c")
    settle(world)
    assert owners_of(world) == {0: "a", 1: "a", 2: "b", 3: "b", 4: "c", 5: "c"}
    world.beat("b", life=2)
    world.run()
    assert held(world) == {"a": [0, 1], "b": [2, 3], "c": [4, 5]}
    assert dropped_of_others(world, "b") == []


@pytest.mark.parametrize("profile", [None, MemberProfile(zone="z"), MemberProfile(capacity=3)])
def test_back_with_other_wishes(profile: MemberProfile | None) -> None:
    """Who comes back with other topics, another zone or capacity is given a share anew."""
    world = world_of("a", "b", queues=4)
    stop(world, "b")
    topics = ("orders",) if profile else ("payments",)
    world.beat("b", life=2, topics=topics, profile=profile)
    world.run()
    assert world.state is not None
    if profile is None:
        assert set(owners_of(world).values()) == {"a"}
    else:
        assert held(world) == {"a": [0, 1], "b": [2, 3]}


def test_drained_client_is_not_waited_for() -> None:
    """A client that was drained before it stopped leaves no hole."""
    world = world_of("a", "b", queues=4)
    drain(world, "b")
    settle(world)
    stop(world, "b")
    assert held(world) == {"a": [0, 1, 2, 3]}
    world.pass_time(GRACE_MS)
    world.beat("a")
    world.run()
    assert alarms_of(world) == ()


def test_designated_client_is_waited_for() -> None:
    """The only designated client restarts: the topic does not fall to the others."""
    world = world_of("a", "b", queues=4)
    world.rule("designated", {"only": ["b"], "if_nobody": "all"})
    settle(world)
    stop(world, "b")
    assert held(world) == {}
    assert alarms_of(world) == ()
    world.beat("b", life=2)
    world.run()
    assert held(world) == {"b": [0, 1, 2, 3]}


def test_topic_of_the_absent_alone() -> None:
    """Positions of a topic that only the absent client subscribes to are kept for it."""
    world = GroupWorld()
    world.rule("timing", {"restart_grace_ms": GRACE_MS})
    world.beat("a")
    world.beat("b", topics=("payments",))
    world.publish(2, "orders", "payments")
    world.leave("b")
    world.run()
    assert world.state is not None
    for queue, value in list(world.state.queues.items()):
        if queue.topic == "payments":
            (ended,) = value.chain
            stopped = Release(GROUP, ended.member, queue, ended.epoch, Position(0, 10))
            world.add("releases", stopped)
    world.run()
    world.beat("b", life=2, topics=("payments",))
    world.run()
    starts = [(add.position.offset, add.why) for add in world.adds("b", 2)]
    assert starts == [(10, "release"), (10, "release")]


def test_one_of_two_with_one_id() -> None:
    """While another process has the client id, nobody is missing."""
    world = world_of("a", "b", queues=4)
    world.beat("b", life=2, process=(2, "other"))
    world.run()
    world.leave("b", 1)
    world.run()
    assert world.state is not None
    assert world.state.awaited == {}


def test_group_of_the_absent_is_remembered() -> None:
    """A group is not forgotten while somebody is waited for."""
    world = settled("a")
    world.rule("timing", {"restart_grace_ms": 3_600_000})
    world.run()
    stop(world, "a")
    world.rule("timing", None)
    assert world.state is not None
    assert world.state.empty_since_ms is None
    assert list(world.state.awaited) == ["a"]
    world.run()
    assert world.state.awaited == {}
    assert world.state.empty_since_ms == world.clock_ms


def test_who_is_waited_for_is_counted() -> None:
    """Who is waited for, came back and did not is counted."""
    world = world_of("a", "b", "c")
    world.leave("b")
    world.leave("c")
    assert world.run().counts["member", "awaited"] == 2
    world.beat("b", life=2)
    assert world.run().counts["member", "returned"] == 1
    world.pass_time(GRACE_MS)
    world.beat("a")
    world.beat("b", life=2)
    assert world.run().counts["member", "not_returned"] == 1
    assert key_of("b", 2) in world.state.members  # type: ignore[union-attr]
