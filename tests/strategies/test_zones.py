"""Where clients and queues stand, as STICKY and MACHINE_ROOM_NEARBY both take it."""

from typing import Any

import pytest

from fairlead.core.allocation import AllocationError, AllocationRequest, Candidate
from fairlead.core.model import MessageQueue
from strategies.zones import read_zones

FIRST, SECOND, THIRD = (MessageQueue("orders", f"broker-{name}", 0) for name in "abc")


def test_options_are_believed_before_members_and_routes() -> None:
    """Options go before what members and routes tell, a queue before its broker."""
    told = AllocationRequest(
        "group",
        tuple(Candidate(name, frozenset(), zone="told") for name in "xy"),
        {},
        queue_zones=dict.fromkeys((FIRST, SECOND, THIRD), "told"),
    )
    options = {
        "zones": {"x": "east"},
        "broker_zones": {"broker-a": "broker", "broker-b": "broker"},
        "queue_zones": [[[*FIRST], "queue"]],
    }
    zones = read_zones(options).with_reported(told)
    assert [zones.of_client(name) for name in ("x", "y", "stranger")] == ["east", "told", None]
    assert [zones.of_queue(queue) for queue in (FIRST, SECOND, THIRD)] == [
        "queue",
        "broker",
        "told",
    ]
    assert read_zones(options).of_queue(THIRD) is None


def test_without_a_source_no_queue_has_a_zone() -> None:
    """Without any source no queue stands anywhere."""
    assert not read_zones({}).knows_queues()
    assert read_zones({"broker_zones": {"broker-a": "east"}}).knows_queues()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"zones": ["a"]}, "zones: ['a'] is not an object"),
        ({"broker_zones": {"broker-a": ""}}, "broker_zones: '' is not a name"),
        ({"queue_zones": [[[*FIRST], "east"], "west"]}, "queue_zones[1]: 'west' is not a pair"),
        ({"queue_zones": [["orders", "east"]]}, "queue_zones[0]: 'orders' is not a queue"),
        ({"queue_zones": [[[*FIRST], 1]]}, "queue_zones[0]: 1 is not a name"),
    ],
)
def test_what_is_no_zone_is_refused(options: dict[str, Any], message: str) -> None:
    """What is no zone is refused by its option."""
    with pytest.raises(AllocationError) as caught:
        read_zones(options)
    assert (caught.value.code, caught.value.message[: len(message)]) == ("bad_option", message)
