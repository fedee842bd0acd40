"""What members must agree on: whose value stands, who gets a notice, and for how long."""

from dataclasses import replace

import pytest
from fairlead_client.model import Subscription as ClientSubscription

from fairlead.codec.group import decode_group, encode_group
from fairlead.core.membership.member_disagreement import SUBSCRIPTION_DISAGREEMENT, differences
from fairlead.core.model import MemberProfile, Position, Subscription
from fairlead.core.outputs import Decision, Notice
from fairlead.core.state import Trait
from tests.kit.group_world import GROUP, GroupWorld, key_of, settled

FIRST = MemberProfile(consume_from="first_offset")
LAST = MemberProfile(consume_from="last_offset")


def _notices(world: GroupWorld) -> list[tuple[str, str]]:
    return [
        (output.member.client_id, output.message)
        for output in world.outputs
        if isinstance(output, Notice) and output.code == SUBSCRIPTION_DISAGREEMENT
    ]


def _odd(world: GroupWorld, client: str) -> list[str]:
    assert world.state is not None
    member = world.state.members[key_of(client)]
    return [each.name for each in differences(world.state, member)]


def _kept(world: GroupWorld, name: str, topic: str = "") -> object:
    assert world.state is not None
    return world.state.established[Trait(name, topic)]


def test_the_longest_standing_member_decides() -> None:
    """Who came first holds the value, whatever comes after it and however many."""
    world = settled("z")
    for client in ("a", "b", "c"):
        world.pass_time(10)
        world.beat(client, profile=LAST)
        world.run()
    assert _kept(world, "consume_from") == ("first_offset",)
    assert [_odd(world, client) for client in "zabc"] == [[], *[["consume_from"]] * 3]


def test_of_one_moment_the_lesser_client_id_decides() -> None:
    """Members whose first heartbeats have one clock are ordered as RocketMQ sorts client ids."""
    world = GroupWorld()
    world.beat("b", profile=LAST)
    world.beat("a", profile=FIRST)
    world.run()
    assert _kept(world, "consume_from") == ("first_offset",)
    assert [client for client, _ in _notices(world)] == ["b"]


def test_a_value_stands_as_long_as_any_member_has_it() -> None:
    """The older member is odd still, while a younger one has the value of the member that left."""
    world = settled("a")
    world.pass_time(10)
    world.beat("b", profile=LAST)
    world.run()
    world.pass_time(10)
    world.beat("c", profile=FIRST)
    world.leave("a")
    world.run()
    assert _kept(world, "consume_from") == ("first_offset",)
    assert (_odd(world, "b"), _odd(world, "c")) == (["consume_from"], [])
    world.leave("c")
    world.run()
    assert _kept(world, "consume_from") == ("last_offset",)
    assert _odd(world, "b") == []


def test_a_lone_member_may_change_its_mind() -> None:
    """A value that its only member gives up is gone, and the new one is the group's."""
    world = settled("a")
    world.beat("a", topics=[Subscription("orders", expression="paid", sub_version=1)])
    world.run()
    assert _kept(world, "expression", "orders") == ("tag", "paid")
    assert _notices(world) == []


def test_each_difference_is_told_once_and_the_alarm_stands() -> None:
    """A notice names only what is new; the alarm is in every decision until the member agrees."""
    world = settled("a")
    world.beat("b", profile=LAST)
    result = world.run()
    ((client, message),) = _notices(world)
    assert client == "b"
    assert "consume_from is last_offset, its group's first_offset" in message
    assert result.counts["member", "disagrees"] == 1
    assert SUBSCRIPTION_DISAGREEMENT in world.decision.alarms
    world.beat("b", profile=replace(LAST, ordered=True))
    world.run()
    assert ["ordered is true, its group's false" in text for _, text in _notices(world)] == [True]
    assert "consume_from" not in _notices(world)[0][1]
    world.beat("c")
    world.run()
    assert _notices(world) == []
    assert SUBSCRIPTION_DISAGREEMENT in world.decision.alarms
    world.beat("b", profile=FIRST)
    world.beat("d")
    world.run()
    assert SUBSCRIPTION_DISAGREEMENT not in world.decision.alarms


def test_a_difference_that_comes_again_is_told_again() -> None:
    """A member that agreed in between gets a notice of its next difference, even of an old one."""
    world = settled("a")
    for number, expression in enumerate(("paid", "*", "open"), start=1):
        world.beat("b", topics=[Subscription("orders", "tag", expression, (), number)])
        world.run()
        assert len(_notices(world)) == (expression != "*")


def test_another_odd_value_is_told_too() -> None:
    """A member gets one notice for each value of its own that differs."""
    world = settled("a")
    for number, (expression, noticed) in enumerate(
        (("paid", True), ("open", True), (" open ", False), ("A || *", False), ("open", True)), 1
    ):
        world.beat("b", topics=[Subscription("orders", "tag", expression, (), number)])
        world.run()
        (said,) = _notices(world) or [("", "")]
        assert bool(said[1]) is noticed
        assert not noticed or f"expression of orders is tag {expression}, " in said[1]


def test_default_times_are_no_difference() -> None:
    """A time that each process counts from its own start is kept, and nobody is odd for it."""
    profile = replace(FIRST, consume_from="timestamp", consume_timestamp_ms=1_780_000_000_000)
    world = GroupWorld()
    world.beat("a", profile=profile)
    world.run()
    world.pass_time(10)
    world.beat("b", profile=replace(profile, consume_timestamp_ms=1_780_000_000_500))
    world.run()
    assert (_odd(world, "b"), _notices(world)) == ([], [])
    assert _kept(world, "consume_from") == ("timestamp", 1_780_000_000_000)


def test_a_notice_is_never_too_long() -> None:
    """An expression of any length leaves the notice within its 300 characters, on one line."""
    world = settled("a")
    world.beat("b", topics=[Subscription("orders", "sql92", "x" * 4_096)])
    world.run()
    ((_, message),) = _notices(world)
    assert len(message) == 300
    assert message.endswith("; give all members of a group the same")


def test_expressions_are_compared_by_what_they_select() -> None:
    """Order, blanks and repetition of tags make no difference, nor does how they are sent."""
    world = GroupWorld()
    world.beat("a", topics=[Subscription("orders", "tag", "x || y")])
    world.beat("b", topics=[Subscription("orders", "tag", "y||x||x")])
    world.beat("c", topics=[Subscription("orders", "tag", "x||y", ("y", "x"))])
    world.run()
    assert _notices(world) == []
    world.beat("d", topics=[Subscription("orders", "tag", "*")])
    world.beat("e", topics=[Subscription("orders", "sql92", "x || y")])
    world.run()
    assert [client for client, _ in _notices(world)] == ["d", "e"]


@pytest.mark.parametrize(
    "expression", ["*", "", "A", "A || *", "*||A", "x||y|| x ||", " A B || C", "||", "**||A"]
)
def test_clients_and_engine_read_an_expression_alike(expression: str) -> None:
    """The tags that a client filters by are those that members are compared by."""
    world = GroupWorld()
    world.beat("a", topics=[Subscription("orders", "tag", expression)])
    world.run()
    wanted = ClientSubscription("orders", expression).wanted_tags
    assert _kept(world, "expression", "orders") == ("tag", *sorted(wanted))


def test_a_topic_of_one_member_is_agreed_on() -> None:
    """What only one member subscribes to is nobody's disagreement."""
    world = settled("a")
    world.beat("b", topics=["orders", Subscription("payments", expression="x")])
    world.run()
    assert _notices(world) == []


def test_queues_start_where_the_group_begins() -> None:
    """The start of a queue is that of the established value, not of whoever is sorted first."""
    world = GroupWorld()
    world.beat("b", profile=LAST)
    world.run()
    world.pass_time(10)
    world.beat("a", profile=FIRST)
    world.publish(2)
    starts = [(add.position, add.why) for client in "ab" for add in world.adds(client)]
    assert starts == [(Position(0, 100), "last_offset")] * 2


def test_what_is_kept_survives_a_restart_of_the_engine() -> None:
    """The value is in the state: members that come back in another order do not change it."""
    world = settled("a")
    world.beat("b", profile=LAST)
    world.run()
    assert world.state is not None
    world.state = decode_group(*encode_group(world.state), GROUP)
    world.driver(2)
    world.run()
    for client in "ba":
        world.claims(client)
    world.run()
    assert world.state.barrier is None
    assert _kept(world, "consume_from") == ("first_offset",)
    assert _notices(world) == []
    assert SUBSCRIPTION_DISAGREEMENT in world.decision.alarms


def test_a_state_of_before_is_judged_at_once() -> None:
    """A state of an older version knows no values: the first step establishes them and tells."""
    world = settled("a")
    world.pass_time(10)
    world.beat("b", profile=LAST)
    world.run()
    assert world.state is not None
    key = key_of("b")
    world.state = replace(
        world.state,
        established={},
        members={**world.state.members, key: replace(world.state.members[key], told_odd=())},
    )
    world.run()
    assert [client for client, _ in _notices(world)] == ["b"]
    assert any(isinstance(output, Decision) for output in world.outputs)
