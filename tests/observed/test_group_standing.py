"""The topics of a group tell how it stands: who has what, who waits for whom, and since when."""

import pytest

from fairlead.core.model import MessageQueue
from fairlead.observed.live_group import UnknownGroupError
from fairlead.observed.member_standing import MemberStanding
from tests.kit.live_group import GROUP, rule, set_rules
from tests.kit.memory_topics import bounds
from tests.kit.observations import clients_of, orders_of, standing_of, stubborn
from tests.kit.world import World, world_of


def _member(world: World, client_id: str) -> MemberStanding:
    (found,) = [each for each in standing_of(world).members if each.key.client_id == client_id]
    return found


def test_a_group_at_rest_has_each_queue_at_its_target() -> None:
    """Each queue has one owner who is its target; everybody follows, and nobody is idle."""
    world = world_of("c1", "c2", queues=6)
    found = standing_of(world)
    assert [clients_of(found, number) for number in range(6)] == [
        *([(["c1"], [], [])] * 3),
        *([(["c2"], [], [])] * 3),
    ]
    assert [each.target for each in found.queues] == ["c1"] * 3 + ["c2"] * 3
    assert found.behind == ()
    said = found.to_json()
    assert (said["phase"], said["members"], said["members_idle"]) == ("stable", 2, 0)
    assert (said["queues"], said["queues_unassigned"], said["converged"]) == (6, 0, True)
    assert said["engine"]["silent"] is False
    assert {each.role for each in found.members} == {"consumes"}


def test_three_sets_of_a_handover() -> None:
    """A queue on its way has its holder, its successor that waits for it, and its target."""
    world = world_of("c1", "c2", queues=6)
    stubborn(world, "c1")
    world.join("c3")
    world.pass_seconds(2)
    found = standing_of(world)
    queue = orders_of(found, 2)
    assert clients_of(found, 2) == ([], ["c1"], ["c2"])
    assert [each.client_id for each in queue.gated[0].waits_for] == ["c1"]
    assert queue.target == "c2"
    assert queue.draining[0].epoch < queue.gated[0].epoch
    assert queue.draining[0].since_ms == queue.gated[0].since_ms
    assert (found.summary.draining, found.summary.gated, found.summary.in_handover) == (1, 1, 1)
    assert "1 moving to another member" in found.behind


def test_what_was_released_is_not_draining() -> None:
    """A drain whose release stands in the log is over, although its record still says it."""
    world = world_of("c1", "c2", queues=6)
    world.join("c3")
    world.pass_seconds(4)
    found = standing_of(world)
    assert [clients_of(found, number)[0] for number in range(6)] == [
        *(["c1"], ["c1"]),
        *(["c2"], ["c2"]),
        *(["c3"], ["c3"]),
    ]
    assert all(not each.in_handover for each in found.queues)


def test_who_has_nothing_and_why() -> None:
    """A member beyond the number of queues, a drained one and one that is not designated say so."""
    world = world_of("c1", "c2", "c3", queues=2)
    third = _member(world, "c3")
    assert (third.role, third.held) == ("idle", 0)
    assert third.why == "3 members share 2 queues: there is none left"
    set_rules(world, rule("drain", {"client_id": "c1"}))
    world.pass_seconds(4)
    assert _member(world, "c1").role == "drained"
    set_rules(world, rule("designated", {"only": ["c3"]}))
    world.pass_seconds(4)
    assert _member(world, "c2").role == "not_designated"


def test_a_member_that_is_silent() -> None:
    """Who does not heartbeat keeps its queues, marked, until the engine takes them."""
    world = world_of("c1", "c2", queues=6)
    world.clients[0].gone = True
    world.pass_seconds(6)
    silent = _member(world, "c1")
    assert (silent.role, silent.held) == ("consumes", 3)
    assert silent.lease_left_ms is not None
    assert silent.lease_left_ms < 5_000
    world.pass_seconds(9)
    found = standing_of(world)
    assert [each.key.client_id for each in found.members] == ["c2"]
    assert {holder.member.client_id for each in found.queues for holder in each.held} == {"c2"}


def test_who_has_not_followed() -> None:
    """A member that has not read its newest record is named, with both epochs."""
    world = world_of("c1", "c2", queues=6)
    world.join("c3")
    world.run_all()
    assert {line.split()[0] for line in standing_of(world).behind} >= {"c1", "c2"}


def test_a_group_without_members() -> None:
    """When all have left, the group still stands where it was, with its lag as bridges told it."""
    world = world_of("c1", "c2", queues=6)
    for client in world.clients:
        client.leave()
    world.pass_seconds(4)
    found = standing_of(world)
    assert (found.phase, found.members, found.to_json()["members"]) == ("empty", (), 0)
    assert len(found.queues) == 6
    assert all(each.place.position is not None for each in found.queues)
    assert found.lag is not None
    assert found.lag > 0
    assert {each.state for each in found.queues} == {"unshared"}


def test_a_group_that_is_not_there() -> None:
    """The error for a name without any record lists the names that exist."""
    world = world_of("c1", queues=6)
    with pytest.raises(UnknownGroupError) as raised:
        standing_of(world, "oders")
    assert GROUP in raised.value.known


def test_a_queue_without_a_position() -> None:
    """A queue that the route has gained is there before anybody has a position in it."""
    world = world_of("c1", queues=6)
    world.queues["orders"] = 7
    world.topics.route("orders", 7)
    found = standing_of(world)
    assert orders_of(found, 6).place.position is None
    assert orders_of(found, 6).readable


def test_a_queue_keeps_the_time_of_its_grant() -> None:
    """A queue that did not move keeps the time of its grant over later decisions."""
    world = world_of("c1", "c2", queues=6)
    before = orders_of(standing_of(world), 0).newest
    world.join("c3")
    world.pass_seconds(4)
    after, moved = (orders_of(standing_of(world), number).newest for number in (0, 5))
    assert before is not None
    assert after is not None
    assert moved is not None
    assert after.since_ms == before.since_ms
    assert moved.since_ms is not None
    assert after.since_ms is not None
    assert moved.since_ms > after.since_ms


def test_a_bridge_tells_of_a_queue_that_nobody_shares() -> None:
    """A queue in which the group has a commit, of a topic that nobody subscribes to, is shown."""
    world = world_of("c1", queues=6)
    world.topics.append("offsets", 0, b'["old","orders"]', bounds(GROUP, "old", 1))
    found = [each for each in standing_of(world).queues if each.queue.topic == "old"]
    assert [each.queue for each in found] == [MessageQueue("old", "main", 0)]
    assert not found[0].readable
