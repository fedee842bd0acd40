"""RocketMQ's strategies for a whole group: topics, subscriptions, zones."""

from collections.abc import Mapping
from typing import Any

from fairlead.core.allocation import AllocationRequest, Candidate
from fairlead.core.model import MessageQueue
from strategies.registry import STRATEGIES

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "MACHINE_ROOM_NEARBY": {"room": "zone", "inner": "AVG_BY_CIRCLE"},
}


def request(
    queues: int, topics_of: Mapping[str, frozenset[str]], name: str, slots: str = "subscribers"
) -> AllocationRequest:
    """Return a request with topics a and b, spread over three rooms."""
    held = {
        topic: tuple(
            MessageQueue(topic, f"r{number % 3}@broker", number) for number in range(queues)
        )
        for topic in ("a", "b")
    }
    return AllocationRequest(
        "orders",
        tuple(
            Candidate(client_id, topics_of[client_id], f"r{len(client_id) % 3}")
            for client_id in sorted(topics_of)
        ),
        held,
        slots=slots,
        options=OPTIONS.get(name, {}),
        queue_zones={
            queue: queue.broker_name.partition("@")[0] for own in held.values() for queue in own
        },
    )


def test_slots_of_the_group() -> None:
    """With slots of the group every member counts for every topic, as in RocketMQ."""
    topics_of = {"x": frozenset("a"), "y": frozenset("b")}
    allocation = STRATEGIES["AVG"].allocate(request(4, topics_of, "AVG", "group"))
    assert {client_id: len(share) for client_id, share in allocation.topics["a"].items()} == {
        "x": 2,
        "y": 2,
    }


def test_zones_of_members_and_queues() -> None:
    """Rooms by zone come from members and routes; a room without clients comes after one's own."""
    topics_of = {"x": frozenset("a"), "yy": frozenset("a")}
    asked = request(6, topics_of, "MACHINE_ROOM_NEARBY")
    shares = STRATEGIES["MACHINE_ROOM_NEARBY"].allocate(asked).topics["a"]
    assert {client_id: [queue.queue_id for queue in own] for client_id, own in shares.items()} == {
        "x": [1, 4, 0],
        "yy": [2, 5, 3],
    }


def test_configured_of_a_topic() -> None:
    """Of a configured list each topic gets its own readable queues."""
    listed = [["a", "r0@broker", 0], ["a", "gone", 1], ["b", "r1@broker", 1]]
    asked = request(2, {"x": frozenset("ab")}, "CONFIG")
    asked = AllocationRequest(
        asked.group, asked.candidates, asked.queues, options={"queues": listed}
    )
    shares = STRATEGIES["CONFIG"].allocate(asked).topics
    assert {topic: [list(queue) for queue in own["x"]] for topic, own in shares.items()} == {
        "a": [listed[0]],
        "b": [listed[2]],
    }
