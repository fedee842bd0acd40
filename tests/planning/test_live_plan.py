"""What a plan of a live group says is what the engine then decides."""

import pytest

from fairlead.core.membership.members import effective_members
from fairlead.observed.reading import read_live_group
from fairlead.planning.changes import Changes, Join, RouteSize, records_of
from fairlead.planning.plan import Plan, plan
from strategies.registry import STRATEGIES
from tests.kit.client import Client
from tests.kit.live_group import (
    GROUP,
    TICK_MS,
    after_of,
    look,
    orders,
    owners_of,
    planned,
    remarks,
    rule,
    set_rules,
    worked,
)
from tests.kit.memory_source import MemorySource
from tests.kit.world import World, state_of, world_of

STICKY = rule("strategy", {"name": "STICKY"})
FIRST, SECOND = ["orders", "main", 0], ["orders", "main", 1]
RULES = {
    "averagely": (),
    "averagely-designated": (
        rule("designated", {"only": ["c2", "c3", "c9"], "topics": ["orders"]}),
    ),
    "averagely-drained": (
        rule("drain", {"client_id": "c1"}),
        rule("pin", {"queue": FIRST, "client_id": "c9"}),
    ),
    "sticky": (STICKY,),
    "sticky-designated": (STICKY, rule("designated", {"only": ["c1", "c3", "c9"]})),
    "sticky-pinned": (
        STICKY,
        rule("pin", {"queue": FIRST, "client_id": "c9"}),
        rule("pin", {"queue": SECOND, "client_id": "c1"}),
        rule("ban", {"queue": ["payments", "main", 0], "client_ids": ["c2", "c3"]}),
    ),
    "sticky-weighed": (
        STICKY,
        rule("weight", {"queue": FIRST, "weight": "4.5"}),
        rule("weight", {"queue": SECOND, "weight": "0"}),
        rule("capacity", {"client_id": "c1", "capacity": "2"}),
    ),
    "sticky-options": (
        rule(
            "strategy", {"name": "STICKY", "options": {"pins": [[FIRST, "c9"]], "drained": ["c3"]}}
        ),
    ),
    "ring": (rule("strategy", {"name": "CONSISTENT_HASH"}),),
}


@pytest.fixture(params=RULES)
def ruled(request: pytest.FixtureRequest) -> World:
    """A group at rest of three clients, under some rules."""
    world = world_of("c1", "c2", "c3")
    set_rules(world, *RULES[request.param])
    world.pass_seconds(12)
    return world


def decided(world: World, found: Plan) -> None:
    """Let the engine decide, and hold what it decides against the plan."""
    before = len(world.decisions)
    world.run_all()
    decision = next(each for each in world.decisions[before:] if each["group"] == GROUP)
    assert state_of(world).targets == after_of(found)
    dropped = {tuple(move["queue"]) for move in decision["moves"] if move["stage"] == "dropped"}
    assert dropped == {queue for member in found.members for queue in member.lost}
    assert found.moves == len(dropped)
    assert list(found.alarms) == decision["alarms"]
    world.pass_seconds(12)
    state = state_of(world)
    assert owners_of(state) == look(world).planned.owners
    assert owners_of(state) == after_of(found)


def test_a_planned_join_is_what_comes(ruled: World) -> None:
    """Who would get what if a client joined is who gets it when it joins."""
    found = planned(ruled, Changes(joins=(Join("c9"),)))
    ruled.join("c9", subscribed=tuple(ruled.queues))
    decided(ruled, found)


def test_a_planned_leave_is_what_comes(ruled: World) -> None:
    """What a leave would move is what it moves."""
    found = planned(ruled, Changes(leaves=("c2",)))
    leaver = ruled.clients[1]
    leaver.sequence += 1
    record = {"kind": "leave", "group": GROUP, "client_id": "c2", "sequence": leaver.sequence}
    ruled.topics.append_of("heartbeats", GROUP, {**record, "incarnation": leaver.incarnation})
    before = len(ruled.decisions)
    ruled.run_all()
    leaver.gone = True
    assert state_of(ruled).targets == after_of(found)
    dropped = [
        move
        for each in ruled.decisions[before:]
        for move in each["moves"]
        if move["stage"] == "dropped"
    ]
    assert found.moves == len(dropped)


def test_a_planned_growth_is_what_comes(ruled: World) -> None:
    """What a route that grows would bring is what it brings."""
    found = planned(ruled, Changes(routes=(RouteSize("orders", None, 20),)))
    ruled.topics.route("orders", 20)
    ruled.queues["orders"] = 20
    decided(ruled, found)


def test_planned_rules_are_what_comes(ruled: World) -> None:
    """What another strategy and other rules would move is what they move."""
    rules = (
        rule("strategy", {"name": "STICKY", "options": {"zone_first": True}}),
        rule("designated", {"only": ["c1", "c2", "c3"], "topics": ["orders"]}),
        rule("drain", {"client_id": "c2"}),
        rule("pin", {"queue": ["orders", "main", 5], "client_id": "c3"}),
        rule("ban", {"queue": ["orders", "main", 6], "client_ids": ["c3"]}),
        rule("weight", {"queue": ["orders", "main", 7], "weight": "3"}),
        rule("capacity", {"client_id": "c3", "capacity": "1.5"}),
    )
    found = planned(ruled, Changes(rules=rules))
    set_rules(ruled, *rules)
    decided(ruled, found)


def test_several_planned_changes_count_in_one_decision(ruled: World) -> None:
    """Several changes count in one decision, as they do when they are read in one batch."""
    changes = Changes(
        joins=(Join("c9", topics=("payments",), capacity=3), Join("c8")),
        routes=(RouteSize("payments", "main", 9),),
        rules=(rule("slots", "group"),),
    )
    found = planned(ruled, changes)
    joined = [Client(ruled.topics, GROUP, name) for name in ("c9", "c8")]
    joined[0].subscribed, joined[1].subscribed = ("payments",), tuple(ruled.queues)
    for client, capacity in zip(joined, (3, 1), strict=True):
        client.claim(1)
        client.beat(capacity=capacity)
    ruled.topics.route("payments", 9)
    ruled.topics.rule(GROUP, "slots", "group")
    before = len(ruled.decisions)
    ruled.run_all()
    assert len(ruled.decisions) == before + 1
    state = state_of(ruled)
    winners = effective_members(state.members)
    wanted = {
        queue: name for queue, name in state.targets.items() if queue.topic in winners[name].topics
    }
    assert after_of(found) == wanted


def test_planned_weights_are_those_of_the_engine() -> None:
    """Queues weigh what their owners told of late, as in the engine, and that is said."""
    world = world_of("c1", "c2", queues={"orders": 6})
    world.topics.rule(GROUP, "strategy", {"name": "STICKY", "options": {}})
    world.topics.rule(GROUP, "weighing", {"by": "rate", "over_ms": 30_000})
    worked(world, 90, {0: 200, 1: 100})
    live, state = look(world), state_of(world)
    assert state.weights
    assert live.planned.state.weights.keys() == state.weights.keys()
    for queue, weight in state.weights.items():
        assert live.planned.state.weights[queue] == pytest.approx(weight, rel=0.5)
    assert remarks(world)[0].startswith("queues weigh what the last 1 min 10 s of progress show;")
    found = planned(world, Changes(joins=(Join("c9"),)))
    hot = next(member for member in found.members if orders(0) in member.after)
    weights = live.planned.state.weights
    assert hot.weight.after == sum(weights[queue] for queue in hot.after) > 2
    world.join("c9")
    decided(world, found)


def test_weights_that_nobody_asked_for_yet() -> None:
    """What queues would weigh by the rule `weighing` is found out before there is one."""
    world = world_of("c1", "c2", queues={"orders": 6})
    set_rules(world, STICKY, rule("timing", {"trigger_ms": 5_000}))
    worked(world, 70, {0: 40, 1: 40, 2: 40})
    before = read_live_group(
        MemorySource(world.topics), GROUP, STRATEGIES, TICK_MS, measured=True
    ).planned
    weighing = rule("weighing", {"by": "rate"})
    found = plan(before, records_of(before, Changes(rules=(weighing,))))
    assert found.moves == 1
    set_rules(world, weighing)
    decided(world, found)


def test_weights_of_another_strategy() -> None:
    """A group that would turn to STICKY would have its measured weights at once."""
    world = world_of("c1", "c2", queues={"orders": 6})
    world.topics.rule(GROUP, "weighing", {"by": "rate", "over_ms": 30_000})
    worked(world, 60, {0: 40, 1: 40, 2: 40})
    assert look(world).planned.state.weights == {}
    found = planned(world, Changes(rules=(rule("strategy", {"name": "STICKY", "options": {}}),)))
    assert found.moves == 1
    world.topics.rule(GROUP, "strategy", {"name": "STICKY", "options": {}})
    decided(world, found)
