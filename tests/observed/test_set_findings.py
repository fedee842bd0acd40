"""What is wrong with a live group is found in its topics; what is merely under way is not."""

from fairlead.observed.finding import Finding
from fairlead.observed.findings import standing_findings
from tests.kit.live_group import GROUP
from tests.kit.observations import found_in, standing_of
from tests.kit.world import World, world_of

_STRANGER = {
    "process": {
        "start_ms": 1_781_000_000_000,
        "uuid": "0f4d7a52-51c9-4c56-8a4a-3b1f3e0c9d02",
        "incarnations": 1,
    },
    "incarnation": "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11",
}
"""What another process says of itself."""


def _found(world: World) -> list[Finding]:
    of_members = ("disagreement", "duplicate_client_id", "overlap")
    return [each for each in found_in(world) if each.problem in of_members]


def test_nothing_is_wrong() -> None:
    """A group at rest, and one that is handing over, have no findings."""
    world = world_of("c1", "c2")
    world.pass_seconds(8)
    assert _found(world) == []
    world.join("c3", GROUP)
    world.run_all()
    assert _found(world) == []


def test_each_value_that_members_disagree_on_is_listed() -> None:
    """Each value has the members that have it, and those that got a notice of another one."""
    world = world_of("c1", "c2")
    world.pass_seconds(8)
    odd = next(client for client in world.clients if client.client_id == "c2")
    odd.beat(ordered=True, consume_from="last_offset")
    world.run_all()
    assert _found(world) == [
        Finding("disagreement", None, "consume_from: first_offset: c1; last_offset: c2 (told)"),
        Finding("disagreement", None, "ordered: false: c1; true: c2 (told)"),
    ]


def test_times_that_are_counted_from_each_start() -> None:
    """A start by time is one value, as the engine has it, whatever moment each member gives."""
    world = world_of("c1", "c2")
    world.pass_seconds(8)
    for number, client in enumerate(world.clients):
        client.beat(consume_from="timestamp", consume_timestamp_ms=1_780_000_000_000 + number)
    world.run_all()
    assert _found(world) == []


def test_a_broadcasting_member_among_sharing_ones_is_odd() -> None:
    """One that reads everything itself is odd among those that share, and owns nothing."""
    world = world_of("c1", "c2")
    world.pass_seconds(8)
    world.clients[0].beat(**_STRANGER, client_id="c9", message_model="broadcasting")
    world.run_all()
    assert _found(world) == [
        Finding("disagreement", None, "message_model: clustering: c1, c2; broadcasting: c9 (told)")
    ]


def test_a_client_id_of_two_processes() -> None:
    """Two processes that both heartbeat under one client id are found by their starts."""
    world = world_of("c1", "c2")
    world.pass_seconds(8)
    first = world.clients[0]
    first.beat(**_STRANGER)
    found = [each for each in _found(world) if each.problem == "duplicate_client_id"]
    assert [each.subject for each in found] == [first.client_id]


def test_both_owners_of_one_queue_are_named() -> None:
    """Two living members with one queue in their assignments are both named."""
    world = world_of("c1", "c2")
    world.pass_seconds(8)
    standing = standing_of(world)
    told = standing.live.observed.assignments.sets
    one, other = sorted(told)
    queue = told[one].entries[0].queue
    told[other] = told[one]
    standing.live.observed.changed()
    overlaps = [each for each in standing_findings(standing) if each.problem == "overlap"]
    assert len(overlaps) == len(told[one].entries)
    assert (overlaps[0].subject, overlaps[0].text) == (
        "/".join(map(str, queue)),
        "held by c1, c2 at once",
    )
