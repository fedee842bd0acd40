"""A group goes back to RocketMQ without a stop, and who does not belong to it is noticed."""

from fairlead.core.model import Epoch, Position
from fairlead.core.standing import Footing
from tests.kit.group_world import queue_of
from tests.kit.standby_group import StandbyGroup, attached


def _owned(clients: str = "ab") -> StandbyGroup:
    """Return a group of four queues that the engine has taken over: a has 0 and 1, b 2 and 3."""
    group = attached(clients)
    group.freeze(clients)
    group.former("a", {0: 10, 1: 11})
    group.former("b", {2: 12, 3: 13})
    group.looks(clients, times=3)
    group.confirm(clients)
    assert group.on() is Footing.OWN
    group.world.bounds(4)
    group.world.run()
    return group


def test_the_way_back_moves_first_and_then_lets_go() -> None:
    """Under never queues move by releases until they lie as AVG has them; then all follow."""
    group = _owned()
    world = group.world
    first = world.epoch_of(0)
    world.rule("strategy", {"name": "AVG_BY_CIRCLE"})
    world.run()
    world.release("a", 1, first, 21)
    world.release("b", 2, first, 22)
    world.run()
    assert group.holders() == {0: "a", 1: "b", 2: "a", 3: "b"}
    moved = world.epoch_of(1)
    world.rule("take_over", "never")
    world.run()
    assert group.on() is Footing.RETURNING
    assert group.decision.state.phase == "giving_back"
    assert world.state is not None
    assert world.state.queues[queue_of(1)].chain[0].dropped
    world.release("b", 1, moved, 31)
    world.run()
    assert group.on() is Footing.RETURNING
    world.release("a", 2, moved, 32)
    world.run()
    assert group.on() is Footing.FOLLOWING
    assert "given_back" in group.decision.triggers
    assert group.holders() == {}
    told = group.told("b")
    assert told is not None
    assert (told.standby, told.drop, told.assigned) == ("follow", (), ())
    ended = [move for move in group.decision.moves if move.stage == "resolved"]
    assert {move.queue.queue_id for move in ended} == {0, 1, 2, 3}


def test_all_attached_again_keeps_the_group() -> None:
    """The rule changes its mind before the way back is over: the group stays the engine's."""
    group = _owned()
    group.world.rule("strategy", {"name": "AVG_BY_CIRCLE"})
    group.world.run()
    group.world.rule("take_over", "never")
    group.world.run()
    assert group.on() is Footing.RETURNING
    group.world.rule("take_over", "all_attached")
    group.world.run()
    assert group.on() is Footing.OWN


def test_reports_of_former_grants_mean_nothing_after_the_way_back() -> None:
    """A late progress or release of a grant that ended moves no position."""
    group = _owned()
    epoch = group.world.epoch_of(0)
    group.world.rule("take_over", "never")
    group.world.run()
    group.confirm("ab")
    assert group.on() is Footing.FOLLOWING
    group.world.progress("a", 0, epoch, 999)
    group.world.release("a", 1, epoch, 999)
    result = group.world.run()
    assert result.counts["progress", "stale"] == 1
    assert result.counts["release", "stale"] == 1


def test_the_second_take_over_starts_where_the_clients_are() -> None:
    """Who followed may have gone back meanwhile: the newer position counts, though it is lower."""
    group = _owned()
    group.world.rule("take_over", "never")
    group.world.run()
    group.confirm("ab")
    group.world.rule("take_over", None)
    group.world.run()
    group.world.clock_ms += 1_000
    for client in "ab":
        group.beat(client, "follow")
    group.world.run()
    group.freeze("ab")
    group.former("a", {0: 3})
    group.former("b", {1: 4})
    group.looks("ab", times=3)
    assert group.on() is Footing.CONFIRMING
    assert group.world.state is not None
    assert group.world.state.queues[queue_of(0)].base == Position(0, 3)
    assert group.world.state.queues[queue_of(2)].base is None


def test_a_member_that_cannot_follow_keeps_the_group_with_the_engine() -> None:
    """One member cannot follow: the rule never has no effect, and an alarm says so."""
    group = _owned()
    group.plain("c")
    group.world.run()
    group.world.rule("take_over", "never")
    group.world.run()
    assert group.on() is Footing.OWN
    assert "rule_without_effect" in group.decision.alarms


def test_a_foreign_member_raises_the_alarm_after_lease_and_margin() -> None:
    """An id of nobody in looks that span more than lease and margin: an alarm, not exclusive."""
    group = _owned()
    group.looks("ab", "10.0.0.9@9")
    for _ in range(13):
        group.beat("a")
        group.beat("b")
        group.looks("ab", "10.0.0.9@9")
    assert not group.standing.foreign
    group.looks("ab", "10.0.0.9@9")
    assert group.foreign() == ("10.0.0.9@9",)
    assert "foreign_member" in group.decision.alarms
    assert group.decision.state.exclusive is False
    (cause,) = group.decision.cause
    assert (cause.kind, cause.because) == (
        "foreign_member",
        "in the group without Fairlead: 10.0.0.9@9",
    )
    group.looks("ab")
    assert group.decision.triggers == ("foreign_member_gone",)
    assert group.decision.alarms == ()
    assert group.decision.state.exclusive is True


def test_a_foreign_member_is_there_although_a_broker_is_away() -> None:
    """Whom another broker lists is in the group; a broker that does not answer hides nobody."""
    group = _owned()
    for _ in range(15):
        group.beat("a")
        group.beat("b")
        group.looks("ab", "10.0.0.9@9", complete=False)
    assert group.foreign() == ("10.0.0.9@9",)
    group.looks("ab", "10.0.0.9@9")
    group.looks("ab", "10.0.0.9@9", complete=False)
    assert group.foreign() == ("10.0.0.9@9",)


def test_who_lapsed_just_now_is_nobody_foreign() -> None:
    """The brokers list a lapsed member for a while: that is no alarm, but later it is one."""
    group = _owned()
    for _ in range(20):
        group.beat("a")
        group.looks("ab")
    assert group.world.state is not None
    assert [key.client_id for key in group.world.state.members] == ["a"]
    assert not group.standing.foreign
    for _ in range(30):
        group.beat("a")
        group.looks("ab")
    assert group.foreign() == ("10.0.0.b@1",)


def test_a_group_without_members_begins_anew() -> None:
    """The last member leaves: whoever comes next finds no footing, and the group follows again."""
    group = _owned("ab")
    for client in "ab":
        group.world.leave(client, last_started=Epoch(0, 0))
    group.world.run()
    assert group.on() is None
    group.beat("c", "wait")
    group.world.run()
    assert group.on() is Footing.FOLLOWING


def test_a_member_with_standby_in_a_plain_group_is_like_any_other() -> None:
    """Where members have grants already, who stands by joins as an ordinary member."""
    group = StandbyGroup()
    group.plain("a")
    group.world.publish(4)
    group.beat("b")
    group.world.run()
    told = group.told("b")
    assert told is not None
    assert told.standby is None
    assert group.on() is None
    assert [add.queue.queue_id for add in told.add] == [2, 3]
