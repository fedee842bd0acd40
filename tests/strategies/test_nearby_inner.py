"""MACHINE_ROOM_NEARBY over any strategy in its rooms: RocketMQ's, itself, ours, one's own."""

from typing import Any

import pytest

from fairlead.core.allocation import Allocation, AllocationError, AllocationRequest, Candidate
from fairlead.core.model import MessageQueue
from strategies.registry import STRATEGIES, with_own

NEARBY = "MACHINE_ROOM_NEARBY"
WEST = tuple(MessageQueue("orders", "west-1", number) for number in range(4))
EAST = tuple(MessageQueue("orders", "east-1", number) for number in range(2))
CLIENTS = tuple(
    Candidate(name, frozenset({"orders", "bills"})) for name in ("east-a", "west-a", "west-b")
)


def _request(owners: dict[MessageQueue, str], **options: Any) -> AllocationRequest:
    return AllocationRequest("group", CLIENTS, {"orders": EAST + WEST}, owners, options=options)


def _numbers(allocation: Allocation, client_id: str) -> list[tuple[str, int]]:
    assert not allocation.failures
    return [(at.broker_name, at.queue_id) for at in allocation.topics["orders"][client_id]]


def test_sticky_stays_in_its_room() -> None:
    """Each room is balanced from its owners of now, and nobody's queue leaves its room."""
    owners = dict.fromkeys(WEST, "west-b") | dict.fromkeys(EAST, "west-b")
    found = STRATEGIES[NEARBY].allocate(_request(owners, inner="STICKY"))
    assert _numbers(found, "east-a") == [("east-1", 0), ("east-1", 1)]
    assert _numbers(found, "west-b") == [("west-1", 0), ("west-1", 1)]
    assert _numbers(found, "west-a") == [("west-1", 2), ("west-1", 3)]
    settled = {
        queue: client_id for client_id, owned in found.topics["orders"].items() for queue in owned
    }
    again = STRATEGIES[NEARBY].allocate(_request(settled, inner="STICKY"))
    assert again.topics == found.topics


def test_a_nearby_strategy_may_be_its_own_inner() -> None:
    """It may be its own inner strategy: here the rooms of the inner one are none, and all share."""
    rooms = {"broker_rooms": {"west-1": "x", "east-1": "x"}, "client_rooms": {}}
    rooms["client_rooms"] = {candidate.client_id: "x" for candidate in CLIENTS}
    inner = {"room": "map", **rooms, "inner": "AVG_BY_CIRCLE"}
    found = STRATEGIES[NEARBY].allocate(_request({}, inner=NEARBY, inner_options=inner))
    assert _numbers(found, "west-a") == [("west-1", 0), ("west-1", 2)]


def test_rooms_in_rooms_know_the_owners() -> None:
    """What is known of owners is known to a strategy two rooms deep."""
    owners = dict(zip(WEST, ("west-b", "west-a", "west-b", "west-a"), strict=True))
    inner = {"inner": "STICKY"}
    found = STRATEGIES[NEARBY].allocate(_request(owners, inner=NEARBY, inner_options=inner))
    assert _numbers(found, "west-a") == [("west-1", 1), ("west-1", 3)]


def test_a_list_with_two_topics() -> None:
    """Of the list of an inner CONFIG each topic gets what is its own."""
    bill = MessageQueue("bills", "east-1", 0)
    listed = [[*EAST[0]], [*bill]]
    request = AllocationRequest(
        "group",
        CLIENTS[:1],
        {"orders": EAST, "bills": (bill,)},
        options={"inner": "CONFIG", "inner_options": {"queues": listed}},
    )
    found = STRATEGIES[NEARBY].allocate(request)
    assert found.topics == {"orders": {"east-a": EAST[:1]}, "bills": {"east-a": (bill,)}}


class LastComes:
    """Everything goes to the last member."""

    name = "LAST_COMES"

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Give each topic to the last member."""
        last = request.candidates[-1].client_id
        return Allocation({topic: {last: queues} for topic, queues in request.queues.items()})


def test_a_strategy_of_ones_own_can_be_the_inner_one() -> None:
    """A strategy of one's own can be chosen for the rooms as soon as it is one of the engine's."""
    with pytest.raises(AllocationError, match=r"one of AVG, .*, STICKY"):
        STRATEGIES[NEARBY].check_options({"inner": LastComes.name})  # type: ignore[attr-defined]
    strategies = with_own({LastComes.name: LastComes()})
    found = strategies[NEARBY].allocate(_request({}, inner=LastComes.name))
    assert _numbers(found, "west-b") == [("west-1", number) for number in range(4)]
    assert "west-a" not in found.topics["orders"]


def test_its_options_are_checked() -> None:
    """Options of the inner strategy are refused when the rule comes."""
    bad = {"inner": "STICKY", "inner_options": {"zone_first": 1}}
    with pytest.raises(AllocationError, match="zone_first: 1 is not true or false"):
        STRATEGIES[NEARBY].check_options(bad)  # type: ignore[attr-defined]
