"""What an operator hears of a group that RocketMQ's own strategy still shares out."""

from fairlead.observed.findings import standing_findings
from fairlead.observed.group_notes import check_notes
from tests.kit.followers import FollowerWorld
from tests.kit.observations import standing_of


def _standing_by(*foreign: str) -> FollowerWorld:
    world = FollowerWorld()
    world.topics.tick(1)
    world.cluster.ids |= {*foreign}
    world.follow("a")
    world.follow("b")
    world.go_on(8)
    return world


def test_each_member_says_who_is_not_attached() -> None:
    """Each member of a group that stands by says in the engine's words who is not attached yet."""
    found = standing_of(_standing_by("10.0.0.7@old"))
    assert found.phase == "standby"
    assert [each.role for each in found.members] == ["idle", "idle"]
    for each in found.members:
        assert "not attached: 10.0.0.7@old" in each.why


def test_once_the_engine_shares_nobody_waits() -> None:
    """A group that was taken over says no more that it stands by."""
    world = _standing_by()
    world.go_on(30)
    assert world.footing() == "own"
    assert [each.why for each in standing_of(world).members] == ["", ""]


def test_nothing_moves_while_a_group_stands_by() -> None:
    """No note tells of moving queues while the members of a group stand by."""
    live = standing_of(_standing_by("10.0.0.7@old")).live
    assert [note for note in check_notes(live, ()) if "moving" in note] == []


def test_a_process_without_fairlead_is_named() -> None:
    """The problem names who is in a group that was taken over, as the decision does."""
    world = _standing_by()
    world.go_on(30)
    world.cluster.ids.add("10.0.0.9@old")
    world.go_on(40)
    assert [(each.problem, each.text) for each in standing_findings(standing_of(world))] == [
        (
            "foreign_member",
            "in the group without Fairlead: 10.0.0.9@old: a queue may have two owners",
        )
    ]
    world.cluster.ids.discard("10.0.0.9@old")
    world.go_on(10)
    assert standing_findings(standing_of(world)) == ()
