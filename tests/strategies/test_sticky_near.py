"""STICKY and zones where balance and moves leave a choice: near queues go to near members."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.allocation import AllocationRequest, Candidate
from fairlead.core.model import MessageQueue
from strategies.sticky.strategy import Sticky

EAST, WEST, NORTH = "east", "west", "north"


def _near(
    zones: dict[str, str | None], members: dict[str, str | None], owners: dict[int, str]
) -> tuple[dict[int, str], int]:
    """Return who owns which queue, and how many stand in their owner's zone."""
    queues = [MessageQueue("orders", broker, at) for at, broker in enumerate(zones)]
    request = AllocationRequest(
        "group",
        tuple(Candidate(name, frozenset({"orders"}), zone) for name, zone in members.items()),
        {"orders": tuple(queues)},
        {queue: owners[queue.queue_id] for queue in queues if queue.queue_id in owners},
        queue_zones={queue: zone for queue in queues if (zone := zones[queue.broker_name])},
    )
    shares = Sticky().allocate(request).topics["orders"]
    found = {queue.queue_id: name for name, owned in shares.items() for queue in owned}
    near = sum(
        (zone := zones[queue.broker_name]) is not None and zone == members[found[queue.queue_id]]
        for queue in queues
    )
    return found, near


@pytest.mark.parametrize("western", [(0, 1), (2, 3), (0, 3), (1, 2)])
def test_what_a_taker_is_near_to_is_given_away(western: tuple[int, int]) -> None:
    """Of four queues in other zones than its own a member gives the two that the joiner is near."""
    zones: dict[str, str | None] = {
        f"broker-{at}": WEST if at in western else NORTH for at in range(4)
    }
    members: dict[str, str | None] = {"e": EAST, "w": WEST}
    found, near = _near(zones, members, dict.fromkeys(range(4), "e"))
    assert near == 2
    assert {at for at, owner in found.items() if owner == "w"} == set(western)


def test_its_own_zone_is_kept() -> None:
    """What stands in the owner's zone is given away last, though a taker may be as near."""
    zones: dict[str, str | None] = {"a": EAST, "b": EAST, "c": WEST, "d": WEST}
    members: dict[str, str | None] = {"e": EAST, "f": EAST}
    found, near = _near(zones, members, dict.fromkeys(range(4), "e"))
    assert (near, {at for at, owner in found.items() if owner == "e"}) == (2, {0, 1})


def test_who_is_near_has_one_more() -> None:
    """Of members who may as well have one more it is the one in whose zone a queue waits."""
    zones: dict[str, str | None] = {"a": EAST, "b": EAST, "c": WEST}
    found, near = _near(zones, {"v": WEST, "w": EAST}, {})
    assert (near, found) == (3, {0: "w", 1: "w", 2: "v"})


@given(
    st.lists(st.sampled_from([EAST, WEST, None]), min_size=1, max_size=6),
    st.lists(st.sampled_from([EAST, WEST, None]), min_size=1, max_size=3),
)
def test_a_new_group_is_as_near_as_it_can_be(
    queue_zones: list[str | None], member_zones: list[str | None]
) -> None:
    """Without owners the result is the nearest of all balanced ones."""
    zones = {f"broker-{at}": zone for at, zone in enumerate(queue_zones)}
    members = {f"m{at}": zone for at, zone in enumerate(member_zones)}
    _, near = _near(zones, members, {})
    most, least = -(-len(zones) // len(members)), len(zones) // len(members)
    best = max(
        sum(
            zone is not None and zone == members[name]
            for zone, name in zip(zones.values(), owners, strict=True)
        )
        for owners in product(members, repeat=len(zones))
        if all(least <= owners.count(name) <= most for name in members)
    )
    assert near == best
