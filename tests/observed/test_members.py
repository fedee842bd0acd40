"""Who is in a group, and whether it is at rest, as heartbeats and sets tell."""

import pytest

from tests.kit.live_group import GROUP, heard_alone, rule, set_rules
from tests.kit.observed_world import summary_of, view_of
from tests.kit.world import world_of


def test_a_group_at_rest_has_converged() -> None:
    """A group at rest has converged; nobody is idle, nothing is unassigned or on its way."""
    found = summary_of(world_of("c1", "c2", "c3"))
    assert (found.members, found.members_idle, found.queues) == (3, 0, 17)
    assert (found.unassigned, found.draining, found.gated, found.unsafe) == (0, 0, 0, 0)
    assert found.converged
    assert (found.phase, found.strategy, found.mode, found.model) == (
        "stable",
        "AVG",
        "cooperative",
        "clustering",
    )


def test_members_without_queues_are_idle() -> None:
    """Members beyond the number of queues are idle; the skew counts them."""
    found = summary_of(world_of("c1", "c2", "c3", queues={"orders": 2}))
    assert (found.members, found.members_idle, found.skew) == (3, 1, 1)


def test_a_drained_member_is_not_idle() -> None:
    """A drained member is a member, and not idle: nobody would have it own a queue."""
    world = world_of("c1", "c2", "c3")
    set_rules(world, rule("drain", {"client_id": "c2"}))
    world.pass_seconds(8)
    found = summary_of(world)
    assert (found.members, found.members_idle, found.unassigned) == (3, 0, 0)


def test_a_silent_member_counts_until_lease_and_margin() -> None:
    """A member is one until lease and margin are over on the clock of the log."""
    world = world_of("c1", "c2")
    heard_alone(world, 9, world.clients[0])
    assert summary_of(world).members == 2
    heard_alone(world, 5, world.clients[0])
    assert summary_of(world).members == 1


def test_outage_of_the_log() -> None:
    """Time in which nothing could be appended makes nobody look dead."""
    world = world_of("c1", "c2")
    world.topics.now_ms += 600_000
    heard_alone(world, 1, world.clients[0])
    assert summary_of(world).members == 2


def test_a_leaving_member_counts_no_more() -> None:
    """Who leaves is a member no more, although it still heartbeats."""
    world = world_of("c1", "c2")
    world.clients[1].leave()
    assert summary_of(world).members == 1


def test_a_differing_member_keeps_a_group_from_converging() -> None:
    """A group has not converged while a member says that it holds something else."""
    world = world_of("c1", "c2")
    world.clients[0].beat(digest="0123456789abcdef")
    found = summary_of(world)
    assert (found.phase, found.converged) == ("stable", False)
    world.clients[0].beat()
    assert summary_of(world).converged


def test_members_that_disagree_are_reported() -> None:
    """The view counts members that differ in what a group agrees on."""
    world = world_of("c1", "c2")
    assert not view_of(world).figures()[0].disagree
    world.clients[0].beat(consume_from="last_offset")
    assert view_of(world).figures()[0].disagree


@pytest.mark.parametrize("after_s", [0, 600])
def test_a_group_without_members_is_still_shown(after_s: int) -> None:
    """A group whose clients are all gone is still shown, without members."""
    world = world_of("c1", "c2")
    for client in world.clients:
        client.gone = True
    world.pass_seconds(20)
    heard_alone(world, after_s)
    found = summary_of(world)
    assert (found.group, found.members, found.queues) == (GROUP, 0, 0)
    assert found.phase == "empty"
