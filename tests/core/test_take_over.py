"""A group that RocketMQ shares out becomes the engine's without a stop (ADR 0245)."""

import pytest

from fairlead.core.model import Epoch, Position
from fairlead.core.standing import Footing
from tests.kit.group_world import queue_of
from tests.kit.standby_group import StandbyGroup, attached


def test_members_that_stand_by_begin_to_follow() -> None:
    """A group of members that can follow begins as following: each gets no queues, and the word."""
    group = StandbyGroup()
    group.beat("a")
    group.world.run()
    assert group.on() is Footing.FOLLOWING
    told = group.told("a")
    assert told is not None
    assert (told.standby, told.assigned, told.add) == ("follow", (), ())
    assert "standing_by" in group.decision.triggers
    assert (group.decision.state.phase, group.decision.state.exclusive) == ("standby", False)


def test_all_attached_is_taken_over_as_it_lies() -> None:
    """Freeze, answers, looks: then one decision grants each queue to who held it, where it was."""
    group = attached("ab")
    group.freeze("ab")
    group.former("a", {0: 10, 3: 13})
    group.former("b", {1: 11})
    group.world.run()
    assert group.on() is Footing.FREEZING
    group.looks("ab", times=2)
    assert group.on() is Footing.CONFIRMING
    assert group.decision.triggers == ("taken_over",)
    assert {(move.stage, move.why) for move in group.decision.moves} == {("granted", "former")}
    assert group.holders() == {0: "a", 1: "b", 3: "a"}
    told = group.told("a")
    assert told is not None
    assert (told.standby, told.drop) == (None, ())
    assert [(add.queue.queue_id, add.position, add.after, add.former) for add in told.add] == [
        (0, Position(0, 10), (), True),
        (3, Position(0, 13), (), True),
    ]


def test_nothing_moves_until_each_has_confirmed() -> None:
    """No queue moves before each client knows its grants (rule H32)."""
    group = attached("ab")
    group.freeze("ab")
    group.former("a", {0: 10, 1: 11, 2: 12, 3: 13})
    group.former("b", {})
    group.looks("ab", times=3)
    assert group.on() is Footing.CONFIRMING
    group.confirm("a")
    assert group.on() is Footing.CONFIRMING
    assert group.holders() == dict.fromkeys(range(4), "a")
    group.confirm("b")
    assert group.on() is Footing.OWN
    assert "take_over_done" in group.decision.triggers
    stages = [(move.queue.queue_id, move.stage) for move in group.decision.moves]
    assert stages == [(2, "dropped"), (2, "gated"), (3, "dropped"), (3, "gated")]


@pytest.mark.parametrize("on_mute, ends_on", [("force", Footing.OWN), ("wait", Footing.CONFIRMING)])
def test_one_that_never_confirms_is_passed_over_where_a_rule_says_so(
    on_mute: str, ends_on: Footing
) -> None:
    """With `force` a client that says nothing holds the group for its drain deadline (rule H27)."""
    group = attached("ab")
    group.world.rule("on_mute", on_mute)
    group.freeze("ab")
    group.former("a", {0: 10, 1: 11, 2: 12, 3: 13})
    group.former("b", {})
    group.looks("ab", times=3)
    group.confirm("a")
    for _ in range(8):
        group.world.clock_ms += 4_000
        for client in "ab":
            group.beat(client)
        group.world.run()
    assert group.on() is ends_on


def test_an_own_of_earlier_confirms_nothing() -> None:
    """A heartbeat that has not read the take-over does not confirm it, whatever it says."""
    group = attached("a")
    group.freeze("a")
    group.former("a", {0: 1})
    group.looks("a", times=3)
    assert group.on() is Footing.CONFIRMING
    number = group.standing.epoch.number
    group.beat("a", "own", applied=Epoch(1, number - 1))
    group.world.run()
    assert group.on() is Footing.CONFIRMING
    group.beat("a", "own", applied=Epoch(1, number))
    group.world.run()
    assert group.on() is Footing.OWN


@pytest.mark.parametrize(
    "others, complete, uneven, word",
    [
        (("10.0.0.9@9",), True, "", "not attached: 10.0.0.9@9"),
        ((), False, "", "not every broker of cluster main answers"),
        ((), True, "b", "the brokers of cluster main do not list the same members yet"),
    ],
)
def test_it_waits_for_who_is_not_attached(
    others: tuple[str, ...],
    complete: bool,  # noqa: FBT001  # a case
    uneven: str,
    word: str,
) -> None:
    """While looks show somebody else, or do not show all, the members read why the engine waits."""
    group = attached("ab")
    group.looks("ab", *others, complete=complete, uneven=uneven)
    told = group.waits("a")
    assert told is not None
    assert (told.reason, word in told.message) == ("standby", True)
    group.looks("ab", *others, complete=complete, uneven=uneven, times=3)
    assert group.on() is Footing.FOLLOWING


def test_looks_from_before_a_join_do_not_count() -> None:
    """A member joins between two looks: two more are needed, and they must list it."""
    group = attached("a")
    group.looks("a")
    group.beat("b")
    group.world.run()
    group.looks("ab")
    assert group.on() is Footing.FOLLOWING
    group.looks("ab")
    assert group.on() is Footing.FREEZING


def test_a_member_that_cannot_follow_waits() -> None:
    """A member without standby gets nothing in a following group, and holds up the take-over."""
    group = attached("a")
    group.plain("b")
    group.world.run()
    told, waits = group.told("b"), group.waits("b")
    assert told is not None
    assert (told.standby, told.assigned) == (None, ())
    assert waits is not None
    assert "b cannot follow" in waits.message
    group.looks("ab", times=3)
    assert group.on() is Footing.FOLLOWING


def test_the_rule_never_leaves_the_group_as_it_is() -> None:
    """Under the rule never a group goes on following, however many looks are good."""
    group = attached("a")
    group.world.rule("take_over", "never")
    group.world.run()
    group.looks("a", times=4)
    assert group.on() is Footing.FOLLOWING
    group.world.rule("take_over", None)
    group.world.run()
    assert group.on() is Footing.FREEZING


def _frozen() -> StandbyGroup:
    group = attached("ab")
    group.freeze("ab")
    group.former("a", {0: 10})
    return group


def test_a_queue_held_twice_ends_the_attempt() -> None:
    """Two members name one queue: the group follows again, says why, and waits before it tries."""
    group = _frozen()
    group.former("b", {0: 12})
    group.world.run()
    assert group.on() is Footing.FOLLOWING
    (cause,) = [each for each in group.decision.cause if each.kind == "take_over_failed"]
    assert cause.because == "a and b both hold orders/main/0"
    told = group.told("a")
    assert told is not None
    assert told.standby == "follow"
    group.looks("ab", times=9)
    assert group.on() is Footing.FOLLOWING
    group.looks("ab", times=3)
    assert group.on() is Footing.FREEZING


def test_a_queue_of_no_route_ends_the_attempt() -> None:
    """A member names a queue that no route has: nobody would read it afterwards."""
    group = _frozen()
    group.former("b", {7: 12})
    group.world.run()
    assert group.on() is Footing.FOLLOWING
    assert "b holds orders/main/7" in group.standing.because


def test_a_join_or_a_stranger_ends_the_attempt() -> None:
    """A member joins, or a look shows somebody else, while the group is frozen."""
    group = _frozen()
    group.beat("c")
    group.world.run()
    assert group.on() is Footing.FOLLOWING
    group = _frozen()
    group.looks("ab", "10.0.0.9@9")
    assert group.on() is Footing.FOLLOWING
    assert group.standing.because == "not attached: 10.0.0.9@9"


def test_silence_ends_the_attempt() -> None:
    """A member that never answers ends it after a while, and nobody needs a record for that."""
    group = _frozen()
    group.world.run()
    group.world.clock_ms = group.standing.since_ms + 20_000
    group.beat("a")
    group.beat("b")
    group.world.run()
    assert group.on() is Footing.FOLLOWING
    assert group.standing.because == "b did not tell what it holds within 20 s"


def test_an_answer_to_another_freeze_changes_nothing() -> None:
    """An answer with the epoch of an earlier freeze is stale; in parts it counts with the last."""
    group = attached("a")
    group.freeze("a")
    group.former("a", {0: 1}, Epoch(1, 1))
    result = group.world.run()
    assert result.counts["former", "stale"] == 1
    group.former("a", {0: 1}, part=(1, 2))
    group.looks("a", times=3)
    assert group.on() is Footing.FREEZING
    group.former("a", {1: 4}, part=(0, 2))
    group.looks("a", times=3)
    assert group.on() is Footing.CONFIRMING
    assert group.holders() == {0: "a", 1: "a"}


def test_a_look_from_before_the_last_answer_does_not_count() -> None:
    """Somebody may have come before the last member froze: two later looks show none (rule H32)."""
    group = _frozen()
    group.world.run()
    group.looks("ab")
    group.former("b", {1: 11})
    group.world.run()
    group.looks("ab")
    assert group.on() is Footing.FREEZING
    group.looks("ab")
    assert group.on() is Footing.CONFIRMING


def test_a_queue_without_a_position_is_not_granted_in_place() -> None:
    """Who does not know how far it is stops the queue, and later it goes where it belongs."""
    group = attached("a", queues=2)
    group.freeze("a")
    group.former("a", {0: None, 1: 5})
    group.looks("a", times=3)
    assert group.holders() == {1: "a"}
    group.confirm("a")
    group.world.bounds(2, committed=Position(0, 40))
    group.world.run()
    assert group.holders() == {0: "a", 1: "a"}
    assert group.world.state is not None
    assert group.world.state.queues[queue_of(0)].base == Position(0, 40)


def test_a_reset_while_it_follows_waits_for_the_take_over() -> None:
    """An operator's reset is followed from a stop: the holder gets no grant in place."""
    group = attached("a", queues=2)
    group.world.reset(0, 7)
    group.world.run()
    group.freeze("a")
    group.former("a", {0: 30, 1: 31})
    group.looks("a", times=3)
    assert group.holders() == {1: "a"}
    group.confirm("a")
    group.world.bounds(2, committed=Position(0, 40))
    group.world.run()
    assert group.world.state is not None
    base = group.world.state.queues[queue_of(0)].base
    assert base is not None
    assert (base.offset, base.reset > 0) == (7, True)


def test_a_member_that_says_something_else_hears_it_again() -> None:
    """A member that goes on saying that it waits gets its assignment again after two seconds."""
    group = attached("a")
    group.beat("a", "wait")
    group.world.run()
    assert group.told("a") is None
    group.world.clock_ms += 2_000
    group.beat("a", "wait")
    group.world.run()
    told = group.told("a")
    assert told is not None
    assert told.standby == "follow"


def test_bridges_hear_whom_to_look_for() -> None:
    """The engine asks for the members of each topic, and again every four minutes."""
    group = StandbyGroup()
    group.beat("a")
    group.world.run()
    asked = [request for request in group.world.requests() if request.what == "members"]
    assert [(request.topic, request.queues) for request in asked] == [("orders", None)]
    group.looks("a")
    for _ in range(80):
        group.world.clock_ms += 3_000
        group.beat("a", "follow")
        group.looks("a")
        asked += [each for each in group.world.requests() if each.what == "members"]
    assert len(asked) == 2


def test_a_second_bridge_of_the_cluster_does_not_count_beside_the_first() -> None:
    """Looks of two bridges do not follow each other: the second one counts when the first ends."""
    other = "9c6d7a52-51c9-4c56-8a4a-3b1f3e0c9d22"
    group = attached("a")
    group.looks("a")
    group.looks("a", bridge=other, times=3)
    assert group.on() is Footing.FOLLOWING
    group.looks("a")
    assert group.on() is Footing.FREEZING
    group = attached("a")
    group.looks("a")
    group.world.clock_ms += 15_000
    group.beat("a")
    group.looks("a", bridge=other, times=2)
    assert group.on() is Footing.FREEZING


@pytest.mark.parametrize("asked", [False, True])
def test_what_was_let_go_starts_at_its_commit_when_nobody_holds_it(*, asked: bool) -> None:
    """A queue nobody holds at a second take-over goes on at the commit, asked before or not."""
    group = attached("a", queues=2)
    _take_over(group, {0: 10, 1: 11})
    group.world.rule("take_over", "never")
    for _ in range(3):
        group.world.pass_time(1_000)
        group.beat("a", "own")
        group.world.run()
    assert group.on() is Footing.FOLLOWING
    group.beat("a", "follow")
    if asked:
        group.world.bounds(2, committed=Position(0, 30))
    group.world.rule("take_over", "all_attached")
    group.world.run()
    _take_over(group, {})
    group.world.bounds(2, committed=Position(0, 40))
    group.world.run()
    assert group.world.state is not None
    bases = [group.world.state.queues[queue_of(number)].base for number in range(2)]
    assert bases == [Position(0, 40)] * 2
    assert group.holders() == {0: "a", 1: "a"}


def _take_over(group: StandbyGroup, held: dict[int, int | None]) -> None:
    group.freeze("a")
    group.former("a", held)
    group.looks("a", times=3)
    group.confirm("a")
    assert group.on() is Footing.OWN
