"""Groups in which only designated members consume: what they own, and what the others do."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.allocation import Allocation, AllocationError, AllocationRequest
from fairlead.core.model import MessageQueue
from fairlead.core.moment import Moment
from fairlead.core.outputs import Decision, Rejection
from fairlead.core.rules.designation import read_entries
from fairlead.core.rules.group_rules import GroupRules, with_rule
from fairlead.core.step import step
from tests.kit.group_settling import settle
from tests.kit.group_world import GroupWorld, queue_of, settled

FOUR = ("192.168.0.6@1", "192.168.0.7@1", "192.168.0.8@1", "192.168.0.9@1")
ONLY_ONE = {"only": ["192.168.0.6"]}


def _owned(world: GroupWorld, *clients: str) -> list[int]:
    return [len(world.owned(client)) for client in clients]


def _consumers(world: GroupWorld, topic: str) -> set[str]:
    """Return the client ids that are targets of a topic."""
    assert world.state is not None
    return {owner for queue, owner in world.state.targets.items() if queue.topic == topic}


def _two_topics(*clients: str) -> GroupWorld:
    """Return a group of two topics whose members have just come, with both routes told."""
    world = GroupWorld()
    for client in clients:
        world.beat(client, topics=("orders", "payments"))
    world.run()
    for topic in ("orders", "payments"):
        world.route(4, topic)
        world.bounds(4, topic)
    return world


def test_nine_queues_of_one() -> None:
    """Of nine queues and four clients the designated one owns nine, the others none."""
    world = settled(*FOUR, queues=9)
    assert _owned(world, *FOUR) == [3, 2, 2, 2]
    world.rule("designated", ONLY_ONE)
    world.run()
    settle(world)
    assert _owned(world, *FOUR) == [9, 0, 0, 0]


@pytest.mark.parametrize("if_nobody, owned", [("nobody", [0, 0]), ("all", [2, 2])])
def test_without_a_designated_member_the_rule_decides_who_consumes(
    if_nobody: str, owned: list[int]
) -> None:
    """A group without a designated member consumes nothing, or as without the rule."""
    world = GroupWorld()
    world.rule("designated", {"only": ["x"], "if_nobody": if_nobody})
    for client in ("a", "b"):
        world.beat(client)
    world.publish(4)
    assert _owned(world, "a", "b") == owned
    assert world.decision.alarms == ("designation_empty",)


@pytest.mark.parametrize("if_nobody", ["nobody", "all"])
def test_the_lapse_of_the_last_designated_member_acts_at_once(if_nobody: str) -> None:
    """A lapse of the last designated member is answered in its decision, like a leave."""
    world = settled("a", "b")
    world.rule("designated", {"only": ["a"], "if_nobody": if_nobody})
    world.run()
    settle(world)
    assert world.owned("a") == [0, 1, 2, 3]
    for _ in range(2):
        world.pass_time(7_000)
        world.beat("b")
        world.run()
    assert "client_expired" in world.decision.triggers
    assert world.decision.alarms == ("designation_empty",)
    assert world.owned("b") == ([0, 1, 2, 3] if if_nobody == "all" else [])


def test_other_topics_are_shared_by_all() -> None:
    """A rule of one topic leaves the others as they would be without it."""
    world = _two_topics("a", "b")
    world.rule("designated", {"only": ["b"], "topics": ["orders"]})
    world.run()
    assert _consumers(world, "orders") == {"b"}
    assert _consumers(world, "payments") == {"a", "b"}
    assert world.decision.alarms == ()


def test_slots_of_the_group() -> None:
    """Where every member counts, the designated alone count for their topic: nothing is lost."""
    world = _two_topics("a", "b")
    world.rule("slots", "group")
    world.rule("designated", {"only": ["b"], "topics": ["orders"]})
    world.run()
    assert world.state is not None
    assert len(world.state.targets) == 8
    assert _consumers(world, "orders") == {"b"}


def test_designated_member_of_another_topic() -> None:
    """A topic that no designated member subscribes to is empty, and only that one."""
    world = GroupWorld()
    world.rule("designated", {"only": ["a"]})
    world.beat("a", topics=("orders",))
    world.beat("b", topics=("orders", "payments"))
    world.publish(2, "orders", "payments")
    assert _consumers(world, "orders") == {"a"}
    assert _consumers(world, "payments") == set()
    assert world.decision.alarms == ("designation_empty",)


def test_rule_is_the_cause() -> None:
    """A decision that follows from the rule names it; one without a consequence is still told."""
    world = settled("a", "b")
    world.rule("designated", {"only": ["a", "b"]})
    world.run()
    assert (world.decision.triggers, world.decision.moves) == (("rules_changed",), ())
    world.rule("designated", {"only": ["x"]})
    world.run()
    assert world.decision.triggers == ("rules_changed",)
    assert world.decision.alarms == ("designation_empty",)
    assert {move.stage for move in world.decision.moves} == {"dropped"}


def test_same_result_writes_nothing() -> None:
    """While nobody is designated, the trigger recomputes and writes nothing."""
    world = settled("a")
    world.rule("designated", {"only": ["x"]})
    world.run()
    settle(world)
    for _ in range(9):
        world.pass_time(9_000)
        world.beat("a")
        world.run()
        assert not [output for output in world.outputs if isinstance(output, Decision)]


def test_rule_of_all_groups() -> None:
    """A rule of all groups moves a group without records, unless its own rule designates all."""
    world = settled("a", "b")
    defaults = with_rule(GroupRules(), "designated", {"only": ["b"]}, {})
    engine = replace(world.rules, defaults=defaults)
    moment = Moment(world.clock_ms, world.clock_ms, world.marker)
    moved = step(world.state, [], moment, engine)
    decision = next(output for output in moved.outputs if isinstance(output, Decision))
    assert {move.queue.queue_id for move in decision.moves} == {0, 1}
    world.rule("designated", {"only": ["*"]})
    world.run()
    assert step(world.state, [], moment, engine).outputs == ()


def test_a_bad_rule_is_refused_and_the_one_in_force_stays() -> None:
    """A bad rule is refused with reason, path and remedy; the rule in force stays."""
    world = settled("a", "b")
    world.rule("designated", {"only": ["a"]})
    world.run()
    world.rule("designated", {"only": ["b", "10.0.0.0/33"]})
    world.run()
    refused = next(output for output in world.outputs if isinstance(output, Rejection))
    assert (refused.reason, refused.field) == ("bad_rule", "value.only[1]")
    assert "10.0.0.0/8" in refused.remedy
    assert _consumers(world, "orders") == {"a"}


class Willful:
    """Gives every queue to one client, whoever was asked for; or fails."""

    name = "AVG"

    def __init__(self, client_id: str | None) -> None:
        """Keep the client; None: fail."""
        self.client_id = client_id

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Answer as the class says."""
        if self.client_id is None:
            raise AllocationError("room_unknown", "no room")
        return Allocation({topic: {self.client_id: held} for topic, held in request.queues.items()})


@pytest.mark.parametrize(
    "client_id, code", [("b", "not_designated"), (None, "room_unknown"), ("a", None)]
)
def test_a_failing_strategy_leaves_the_designated_what_they_have(
    client_id: str | None, code: str | None
) -> None:
    """A strategy that names others, or fails, leaves the designated what they have, no more."""
    world = settled("a", "b")
    world.strategies["AVG"] = Willful(client_id)
    world.rule("designated", {"only": ["a"]})
    world.run()
    assert [failure.code for failure in world.decision.failures] == [code] * (code is not None)
    assert world.state is not None
    kept = {queue.queue_id for queue in world.state.targets}
    assert kept == ({0, 1} if code else {0, 1, 2, 3})
    assert _consumers(world, "orders") == {"a"}


class Greedy:
    """Answers for topics that it was not asked for."""

    name = "AVG"

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Give all queues of both topics to the first candidate."""
        first = request.candidates[0].client_id
        topics = ("orders", "payments")
        return Allocation(
            {topic: {first: tuple(queue_of(number, topic) for number in range(4))}
             for topic in topics},
            {topic: AllocationError("not_asked", "") for topic in topics
             if topic not in request.queues},
        )  # fmt: skip


def test_answers_nobody_asked_for() -> None:
    """What a strategy says of topics of the other question is ignored."""
    world = _two_topics("a", "b")
    world.strategies["AVG"] = Greedy()
    world.rule("slots", "group")
    world.rule("designated", {"only": ["b"], "topics": ["orders"]})
    world.run()
    assert (_consumers(world, "orders"), _consumers(world, "payments")) == ({"b"}, {"a"})
    assert world.decision.failures == ()


def test_balance_over_all_topics() -> None:
    """What a designated member owns of the reserved topic counts when the others are balanced."""
    world = GroupWorld()
    world.rule("strategy", {"name": "STICKY"})
    world.rule("designated", {"only": ["a"], "topics": ["orders"]})
    for client in "abcd":
        world.beat(client, topics=("orders", "payments"))
    world.run()
    world.route(4)
    world.route(8, "payments")
    world.bounds(4)
    world.bounds(8, "payments")
    world.run()
    assert world.state is not None
    owned = Counter((owner, queue.topic) for queue, owner in world.state.targets.items())
    assert owned["a", "orders"] == 4
    assert sorted(owned[client, "payments"] for client in "abcd") == [0, 2, 3, 3]


CLIENTS = ("10.0.0.1@1", "10.0.0.2@1", "app-1", "app-2", "web")
ENTRIES = st.lists(
    st.sampled_from(["10.0.0.1", "10.0.0.0/8", "app-*", "web", "x", "app-2"]),
    min_size=1,
    max_size=3,
)
RULES = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {
            "only": ENTRIES,
            "topics": st.sampled_from([None, ["orders"], ["payments"], ["refunds"]]),
            "if_nobody": st.sampled_from(["nobody", "all"]),
        }
    ),
)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("rule"), RULES),
        st.tuples(st.sampled_from(["beat", "leave"]), st.sampled_from(CLIENTS)),
        st.tuples(st.just("slots"), st.sampled_from(["group", "subscribers"])),
    ),
    max_size=12,
)


@given(EVENTS)
def test_targets_are_designated(events: list[tuple[str, Any]]) -> None:
    """Whoever comes and goes: the targets of a ruled topic are designated, and none is lost."""
    world = _two_topics(*CLIENTS)
    world.run()
    rule: dict[str, Any] | None = None
    for what, value in events:
        if what == "rule":
            rule = value
            world.rule("designated", rule)
        elif what == "slots":
            world.rule("slots", value)
        elif what == "beat":
            world.beat(str(value), topics=("orders", "payments"))
        else:
            world.leave(str(value))
        world.run()
        _check(world, rule)


def _check(world: GroupWorld, rule: dict[str, Any] | None) -> None:
    """Compare the targets of a group whose members all subscribe to all topics with its rule."""
    assert world.state is not None
    members = {key.client_id for key, value in world.state.members.items() if not value.leaving}
    if not members:
        assert world.state.targets == {}
        return
    for topic in ("orders", "payments"):
        allowed = members
        if rule is not None and (rule["topics"] is None or topic in rule["topics"]):
            named = set(filter(read_entries(tuple(rule["only"])).names, members))
            allowed = members if not named and rule["if_nobody"] == "all" else named
        assert _consumers(world, topic) <= allowed
        queues = [MessageQueue(topic, "main", number) for number in range(4)]
        assert all((queue in world.state.targets) == bool(allowed) for queue in queues)
