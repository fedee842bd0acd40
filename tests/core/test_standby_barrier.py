"""After a start or a loss the members alone know on which footing their group is."""

from dataclasses import replace

import pytest

from fairlead.core.records import Heartbeat
from fairlead.core.standing import Footing
from fairlead.core.state import GroupState
from tests.kit.standby_group import StandbyGroup, attached


def _frozen() -> StandbyGroup:
    group = attached("ab")
    group.freeze("ab")
    return group


def _taken() -> StandbyGroup:
    group = _frozen()
    group.former("a", {0: 10, 1: 11})
    group.former("b", {2: 12, 3: 13})
    group.looks("ab", times=3)
    assert group.on() is Footing.CONFIRMING
    return group


def _acknowledge(group: StandbyGroup, *claims: tuple[int, bool], client: str) -> None:
    world = group.world
    assert world.state is not None
    granted = {queue.queue_id for queue, value in world.state.queues.items() if value.chain}
    epochs = {
        number: world.epoch_of(number) if number in granted else group.standing.epoch
        for number, _ in claims
    }
    world.claims(client, *((number, epochs[number], 20, runs) for number, runs in claims))


def test_a_barrier_waits_for_the_word_of_each_member_that_stands_by() -> None:
    """Claims alone do not end a barrier: heartbeats of the new generation say it (rule H33)."""
    group = _frozen()
    group.world.driver(2)
    group.world.run()
    _acknowledge(group, client="a")
    _acknowledge(group, client="b")
    group.world.run()
    assert group.world.state is not None
    assert group.world.state.barrier is not None
    group.beat("a", "freeze")
    group.world.run()
    assert group.world.state.barrier is not None
    group.beat("b", "freeze")
    group.world.run()
    assert group.world.state.barrier is None
    assert group.on() is Footing.FOLLOWING
    assert "take_over_failed" in group.decision.triggers
    told = group.told("b")
    assert told is not None
    assert told.standby == "follow"


def test_a_start_in_the_middle_of_a_take_over_costs_the_attempt() -> None:
    """One member has read its grants, the other is still frozen: nobody may get its queues."""
    group = _taken()
    group.world.driver(2)
    group.world.run()
    _acknowledge(group, (0, True), (1, True), client="a")
    _acknowledge(group, client="b")
    group.beat("a", "own")
    group.beat("b", "freeze")
    group.world.run()
    assert group.on() is Footing.FOLLOWING
    assert group.holders() == {}


def test_a_start_after_a_take_over_keeps_it() -> None:
    """All members work under their grants: the group is the engine's."""
    group = _taken()
    group.world.driver(2)
    group.world.run()
    _acknowledge(group, (0, True), (1, True), client="a")
    _acknowledge(group, (2, True), (3, True), client="b")
    group.confirm("ab")
    assert group.on() is Footing.OWN
    assert group.holders() == {0: "a", 1: "a", 2: "b", 3: "b"}


def test_an_older_state_learns_that_the_group_was_taken_over() -> None:
    """The state that was put back follows; its members say that they own, and claim."""
    group = attached("ab")
    old = group.world.state
    assert old is not None
    old = old.copy()
    group = _resume(group, old)
    assert group.on() is Footing.FOLLOWING
    group.world.driver(2)
    group.world.run()
    _acknowledge(group, (0, True), client="a")
    _acknowledge(group, client="b")
    group.confirm("ab")
    assert group.on() is Footing.OWN
    assert group.holders()[0] == "a"


def _resume(group: StandbyGroup, old: GroupState) -> StandbyGroup:
    group.freeze("ab")
    group.former("a", {0: 10})
    group.former("b", {1: 11})
    group.looks("ab", times=3)
    assert group.on() is Footing.CONFIRMING
    group.world.state = old
    return group


@pytest.mark.parametrize("state", ["follow", "freeze"])
def test_a_newer_state_learns_that_members_follow(state: str) -> None:
    """The state says own, and a member says that it follows: nobody gets a grant."""
    group = _taken()
    group.confirm("ab")
    assert group.on() is Footing.OWN
    group.world.driver(2)
    group.world.run()
    _acknowledge(group, client="a")
    _acknowledge(group, (2, True), client="b")
    group.beat("a", state)  # type: ignore[arg-type]  # one of the words
    group.beat("b", "own")
    group.world.run()
    assert group.on() is Footing.FOLLOWING
    assert group.holders() == {}


def test_beside_a_member_that_cannot_follow_all_stop_first() -> None:
    """A member without standby works, and another follows: none gets more until that one stops."""
    group = _taken()
    group.confirm("ab")
    group.plain("c")
    group.world.run()
    group.world.driver(2)
    group.world.run()
    _acknowledge(group, (2, True), client="c")
    _acknowledge(group, client="b")
    _acknowledge(group, client="a")
    group.plain("c")
    group.beat("a", "follow")
    group.beat("b", "own")
    group.world.run()
    assert group.on() is Footing.CONFIRMING
    assert group.holders() == {2: "c"}
    told = group.told("a")
    assert told is not None
    assert (told.standby, told.add) == (None, ())
    group.confirm("ab")
    assert group.on() is Footing.OWN


def test_a_lost_state_is_found_again_by_what_members_say() -> None:
    """Without any state members that follow make the group follow; who owns keeps what it has."""
    group = attached("ab")
    _lose(group)
    for client in "ab":
        group.world.claims(client)
        group.beat(client, "follow")
    group.world.run()
    _outlast(group, "follow")
    assert group.on() is Footing.FOLLOWING
    group = _taken()
    group.confirm("ab")
    epoch = group.world.epoch_of(0)
    _lose(group)
    for client, number in (("a", 0), ("b", 2)):
        group.beat(client, "own")
        group.world.claims(client, (number, epoch, 20, True))
    group.world.run()
    _outlast(group, "own")
    assert group.on() is Footing.OWN
    assert {0: "a", 2: "b"}.items() <= group.holders().items()


def _lose(group: StandbyGroup) -> None:
    group.world.lose(2)
    group.world.route(4)


def _outlast(group: StandbyGroup, state: str) -> None:
    """Wait for lease and margin, while the members heartbeat."""
    for _ in range(6):
        group.world.clock_ms += 3_000
        for client in "ab":
            group.beat(client, state)  # type: ignore[arg-type]  # one of the words
        group.world.run()


def test_a_heartbeat_of_an_earlier_generation_says_nothing() -> None:
    """What a member said before it knew of the new driver may have changed since."""
    group = _frozen()
    group.world.driver(2)
    group.world.run()
    _acknowledge(group, client="a")
    _acknowledge(group, client="b")
    for client in "ab":
        group.beat(client, "own")
    group.world.waiting = [
        replace(each, record=replace(each.record, generation=1))
        if isinstance(each.record, Heartbeat)
        else each
        for each in group.world.waiting
    ]
    group.world.run()
    assert group.world.state is not None
    assert group.world.state.barrier is not None


def test_an_old_reset_is_not_followed_after_a_loss() -> None:
    """A following group without state reads every reset again: none may move it at a take-over."""
    group = attached("ab")
    _lose(group)
    group.world.reset(0, 7)
    for client in "ab":
        group.world.claims(client)
        group.beat(client, "follow")
    group.world.run()
    _outlast(group, "follow")
    assert group.on() is Footing.FOLLOWING
    group.world.route(4)
    group.world.run()
    group.freeze("ab")
    group.former("a", {0: 30})
    group.former("b", {})
    group.looks("ab", times=3)
    assert group.holders() == {0: "a"}
