"""A group read from its topics is the group that the engine has; remarks name what is unusual."""

from random import Random

import pytest

from fairlead.core.membership.members import effective_members
from fairlead.core.model import MessageQueue
from fairlead.core.state import GroupState
from fairlead.observed.live_group import UnknownGroupError
from fairlead.observed.reading import read_live_group
from fairlead.planning.changes import Changes, Join, RouteSize, records_of
from fairlead.planning.group_file import group_json, read_group
from fairlead.planning.plan import plan
from strategies.registry import STRATEGIES
from tests.kit.live_group import (
    GROUP,
    TICK_MS,
    after_of,
    claimed,
    heard_alone,
    look,
    orders,
    owners_of,
    remarks,
    rule,
    set_rules,
    worked,
)
from tests.kit.memory_source import MemorySource
from tests.kit.memory_topics import route, shard_of
from tests.kit.world import state_of, world_of


def test_group_at_rest() -> None:
    """Members, owners, rules and routes of a group at rest are those of the engine."""
    world = world_of("c1", "c2", "c3")
    world.topics.rule(GROUP, "strategy", {"name": "STICKY", "options": {}})
    world.topics.rule("*", "slots", "group")
    world.pass_seconds(8)
    live, state = look(world), state_of(world)
    assert live.planned.members.keys() == {"c1", "c2", "c3"}
    assert live.planned.owners == owners_of(state) == state.targets
    assert len(live.planned.owners) == 17
    assert live.planned.state.rules == state.rules
    assert (live.planned.rules.strategy, live.planned.rules.slots) == ("STICKY", "group")
    assert live.planned.state.routes == state.routes
    assert (live.passing, remarks(world)) == ((), ())


def test_a_group_written_down_gives_the_same_plans() -> None:
    """A live group that is written down and read again gives the same plans, rules of all too."""
    world = world_of("c1", "c2", "c3")
    world.topics.rule("*", "designated", {"only": ["c1", "c2", "c9"]})
    world.topics.rule("*", "strategy", {"name": "STICKY"})
    set_rules(
        world,
        rule("weight", {"queue": ["orders", "main", 3], "weight": "2.5"}),
        rule("drain", {"client_id": "c2"}),
    )
    world.pass_seconds(12)
    live = look(world).planned
    kept = read_group(group_json(live))
    assert kept.owners == live.owners
    changes = Changes(joins=(Join("c9"),), routes=(RouteSize("orders", None, 20),))
    found = plan(live, records_of(live, changes))
    assert plan(kept, records_of(kept, changes)) == found
    assert {member.client_id for member in found.members if member.after} == {"c1", "c9"}


def test_a_dropped_queue_is_planned_from_its_destination() -> None:
    """A plan starts a dropped and unreleased queue at its destination, and lists it as passing."""
    world = world_of("c1", "c2")
    world.join("c3", subscribed=tuple(world.queues))
    for shard in range(2):
        world.run(shard)
    live, state = look(world), state_of(world)
    moving = {queue for queue, value in state.queues.items() if len(value.chain) > 1}
    assert owners_of(state) == state.targets
    assert {one.queue for one in live.passing} == moving
    assert {one.queue: one.successor for one in live.passing} == {
        queue: state.targets[queue] for queue in moving
    }
    assert all(one.holder in ("c1", "c2") for one in live.passing)
    assert live.planned.owners == state.targets
    assert plan(live.planned, ()).moves == 0
    assert f"{len(moving)} queues are moving" in remarks(world)[-1]


def test_a_queue_given_up_by_all_is_on_no_way() -> None:
    """A queue that was given up and belongs to nobody is on no way."""
    world = world_of("c1", "c2")
    world.topics.rule(GROUP, "designated", {"only": ["c7"]})
    world.pass_seconds(12)
    live = look(world)
    assert (live.planned.owners, live.passing) == ({}, ())
    assert len(plan(live.planned, ()).orphans) == 17


def test_in_a_paused_group_nothing_is_on_its_way() -> None:
    """While it is paused nothing is on its way: what nobody has the plan gives to somebody."""
    world = world_of("c1", "c2")
    set_rules(world, rule("pause", value=True))
    world.pass_seconds(2)
    world.clients[0].leave()
    world.pass_seconds(3)
    live = look(world)
    assert set(live.planned.owners.values()) == {"c2"}
    assert len(live.planned.owners) < len(live.planned.queues) == 17
    assert live.passing == ()
    assert not [each for each in remarks(world) if "on the way" in each]
    assert len(after_of(plan(live.planned, ()))) == 17


def test_a_silent_member_is_planned_without() -> None:
    """A member without heartbeats is planned without, before and after the engine says so."""
    world = world_of("c1", "c2", "c3")
    heard_alone(world, 16, world.clients[0], world.clients[2])
    live = look(world)
    assert live.planned.members.keys() == {"c1", "c3"}
    assert "c2 sends no heartbeats any more: the plan leaves it out" in remarks(world)
    world.clients[1].gone = True
    world.pass_seconds(20)
    assert not [each for each in remarks(world) if each.startswith("c2 ")]
    assert {one.holder for one in live.passing} == {"c2"}
    grants = [grant for value in live.core.state.queues.values() for grant in value.chain]
    assert {grant.member.client_id for grant in grants} == {"c1", "c3"}
    world.run_all()
    assert state_of(world).targets == live.planned.owners
    world.clients[1].gone = True
    world.run_all()
    assert look(world).planned.owners == live.planned.owners
    assert remarks(world) == ()


def test_a_member_with_a_longer_lease_is_looked_for_further_back() -> None:
    """A member that keeps a longer lease than the rule is looked for in older heartbeats."""
    world = world_of("c1", "c2")
    patient = world.join("c3", subscribed=("orders",), lease_ms=60_000)
    world.pass_seconds(8)
    patient.beat()
    heard_alone(world, 40, *world.clients[:2])
    source = MemorySource(world.topics)
    live = read_live_group(source, GROUP, STRATEGIES, TICK_MS)
    assert live.planned.members.keys() == {"c1", "c2", "c3"}
    begins = [since for suffix, since in source.reads if suffix == "heartbeats"]
    assert begins[0] == world.topics.now_ms - 18_000
    assert begins[1] == world.topics.now_ms - 600_000
    world.run_all()
    assert state_of(world).targets == live.planned.owners


def test_a_refused_heartbeat_counts_for_its_member() -> None:
    """A heartbeat whose content is refused counts for its member, as in the engine."""
    world = world_of("c1", "c2")
    for _ in range(40):
        heard_alone(world, 1, world.clients[0])
        world.clients[1].beat(consume_type="nonsense")
    assert look(world).planned.members.keys() == {"c1", "c2"}
    world.run_all()
    assert state_of(world).targets == look(world).planned.owners


def test_leaver_that_drains_for_long() -> None:
    """Who wrote a leave long ago and still drains is planned without."""
    world = world_of("c1", "c2")
    leaver = world.clients[0]
    record = {"kind": "leave", "group": GROUP, "client_id": "c1", "sequence": 1_000}
    world.topics.append_of("heartbeats", GROUP, {**record, "incarnation": leaver.incarnation})
    for shard in range(2):
        world.run(shard)
    leaver.sequence = 1_000
    heard_alone(world, 700, *world.clients)
    live = look(world)
    assert live.planned.members.keys() == {"c2"}
    assert {one.holder for one in live.passing} == {"c1"}
    assert "c1 is leaving: the plan leaves it out" in remarks(world)
    assert live.planned.owners == state_of(world).targets


def test_queues_of_a_former_incarnation_go_to_the_new_one() -> None:
    """The queues of a client's former life are on their way to its new one."""
    world = world_of("c1", "c2")
    world.clients[0].gone = True
    world.join("c1", life=2, subscribed=tuple(world.queues))
    live = look(world)
    assert live.planned.members["c1"].incarnations == 2
    assert {(one.holder, one.successor) for one in live.passing} == {("c1", "c1")}
    assert remarks(world)[:2] == (
        "c1 has just joined and has no assignment yet",
        "c1 runs 2 times: only the newest counts",
    )
    heard_alone(world, 16, *world.clients[1:])
    said = remarks(world)
    assert "c1 was started again: the queues of its former process are moving" in said


def test_a_plan_without_an_engine_says_so() -> None:
    """A plan says that no engine runs, and what then holds."""
    world = world_of("c1", "c2")
    claimed(world)
    assert remarks(world) == ()
    heard_alone(world, 7, *world.clients, ticking=False)
    assert remarks(world)[0].startswith(
        "no engine has ticked for 7.1 s; the plan shows what an eng"
    )
    heard_alone(world, 60, *world.clients, ticking=False)
    assert remarks(world)[0].startswith("no engine has ticked for more than 18 s; ")
    assert look(world).planned.members.keys() == {"c1", "c2"}
    world.topics.now_ms += 60_000
    assert remarks(world)[0].startswith("no engine has ticked for more than 1 min 18 s, by this")


def test_nothing_is_left_of_heartbeats() -> None:
    """When heartbeats are kept no longer than the engine is out, nobody is a member."""
    world = world_of("c1", "c2")
    claimed(world)
    del world.topics.rows["t.heartbeats", shard_of(GROUP)]
    live = look(world)
    assert (live.planned.members, live.newest_ms) == ({}, None)
    assert remarks(world)[0].startswith(
        "the log has no heartbeat, neither of an engine nor of a client; "
    )
    found = plan(live.planned, records_of(live.planned, Changes(joins=(Join("c9", ("orders",)),))))
    assert len(after_of(found)) == 12


def test_an_unknown_group_is_named_with_those_there_are() -> None:
    """The error for an unknown group lists the groups that exist."""
    world = world_of("c1")
    with pytest.raises(UnknownGroupError) as unknown:
        look(world, "order")
    assert unknown.value.known == {"orders"}


def test_group_of_rules_alone() -> None:
    """A group with a rule and no members yet can be planned for."""
    world = world_of("c1")
    world.topics.rule("later", "strategy", {"name": "STICKY", "options": {}})
    before = look(world, "later").planned
    found = plan(before, records_of(before, Changes(joins=(Join("c1", ("payments",)),))))
    assert (found.strategy.after, len(after_of(found))) == ("STICKY", 5)


def test_a_refused_rule_is_reported_with_the_one_that_holds() -> None:
    """The remarks name a rule that the engine refuses, and the one that holds."""
    world = world_of("c1")
    world.topics.rule(GROUP, "slots", "group")
    world.pass_seconds(2)
    world.topics.rule(GROUP, "designated", {"only": ["10.0.0.300"]})
    world.topics.rule("*", "strategy", {"name": "NOPE"})
    world.pass_seconds(2)
    said = remarks(world)
    assert said[0].startswith("the engine rejects the rule designated ('10.0.0.300' is no")
    assert said[0].endswith("one before it may be in force, but the log no longer has it")
    assert said[1].startswith("the engine rejects the rule strategy of every group (there is")
    assert [each.error.reason for each in look(world).in_force.refused.values()] == [
        "bad_rule",
        "unknown_strategy",
    ]
    world.topics.rule(GROUP, "designated", {"only": ["c1"]})
    assert len(remarks(world)) == 1


def test_a_topic_without_a_route_is_left_out_and_reported() -> None:
    """The plan leaves out a topic without a route, and remarks on it."""
    world = world_of("c1")
    world.join("c2", subscribed=("orders", "bills"))
    world.pass_seconds(8)
    assert remarks(world) == ("the route of bills is unknown: its queues are not in the plan",)
    assert {queue.topic for queue in look(world).planned.queues} == {"orders", "payments"}


def test_set_of_many_parts() -> None:
    """A set of several records counts as one; a remark says if a part is missing."""
    world = world_of("c1", queues={"orders": 450})
    assert len(look(world).planned.owners) == 450
    places = [place for place, log in world.topics.written.items() if "assignments" in place[0]]
    log = next(world.topics.written[place] for place in places if world.topics.written[place])
    kept = [record for record in log if not (record.key or b"").endswith(b",2]")]
    log[:] = kept
    assert (
        remarks(world)[0] == "the engine is still writing the assignment of c1: run the plan again"
    )


def _rests(state: GroupState, queue: MessageQueue) -> bool:
    """Whether a queue has one holder, who was not told to give it up."""
    value = state.queues.get(queue)
    return value is not None and len(value.chain) == 1 and not value.chain[0].dropped


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(each, marks=pytest.mark.slow) for each in range(4, 12))]
)
def test_the_group_read_is_the_one_of_the_engine(seed: int) -> None:
    """Whatever happened, the group that is read is the one that the engine has."""
    chance = Random(seed)
    world = world_of("c1", "c2", "c3")
    strategies = sorted({*STRATEGIES} - {"CONFIG", "MACHINE_ROOM", "MACHINE_ROOM_NEARBY"})
    for number in range(4, 16):
        match chance.randrange(6):
            case 0:
                topics = chance.sample(sorted(world.queues), k=chance.randint(1, 2))
                world.join(f"c{number}", subscribed=tuple(topics))
            case 1 if len(alive := [each for each in world.clients if not each.gone]) > 1:
                chance.choice(alive).leave()
            case 2 if len(alive := [each for each in world.clients if not each.gone]) > 1:
                chance.choice(alive).gone = True
            case 3:
                world.queues["orders"] += chance.randint(1, 3)
                world.topics.route("orders", world.queues["orders"])
            case 4:
                chosen = {"name": chance.choice(strategies), "options": {}}
                world.topics.rule(GROUP, "strategy", chosen)
            case _:
                world.start_driver()
        world.pass_seconds(chance.choice((1, 2, 5, 30)))
        live, state = look(world), state_of(world)
        assert live.planned.members.keys() == effective_members(state.members).keys()
        held = owners_of(state)
        shared = set(live.planned.queues)
        passing = {one.queue for one in live.passing}
        assert {queue: held[queue] for queue in held.keys() & shared - passing} == {
            queue: owner for queue, owner in live.planned.owners.items() if queue not in passing
        }
        if state.barrier is None:
            assert passing <= {queue for queue in shared if not _rests(state, queue)}


def test_drained_read_only_queue() -> None:
    """A queue that nobody may write and that is read to its end weighs nothing."""
    world = world_of("c1", "c2", queues={"orders": 4})
    world.topics.rule(GROUP, "strategy", {"name": "STICKY", "options": {}})
    closed = route("orders", 4)
    closed["brokers"][0]["write_queue_nums"] = 2
    world.topics.append("routes", 0, b"orders", closed)
    worked(world, 50, {})
    live = look(world)
    assert live.planned.state.weights == {orders(2): 0, orders(3): 0}
    assert state_of(world).weights == live.planned.state.weights
