"""What an answer of the admin client proves about a topic."""

from typing import Any
from uuid import UUID

import pytest

from fairlead.bridges.kafka.snapshot import (
    TopicAbsent,
    TopicSeen,
    TopicUnclear,
    kafka_topic_id,
    read_racks,
    read_topic,
    read_topics,
)

TOPIC_ID = "6e35cdd4-b8a4-4412-a680-9944b7af1bd7"


def partition(index: int, leader: int = 1, replicas: tuple[int, ...] = (1, 2)) -> dict[str, Any]:
    """One partition as ``describe_topics`` tells it."""
    return {
        "error_code": 0,
        "partition_index": index,
        "leader_id": leader,
        "replica_nodes": list(replicas),
    }


def description(**changes: Any) -> dict[str, Any]:
    """A topic of two partitions as ``describe_topics`` tells it."""
    whole = {
        "error_code": 0,
        "name": "orders",
        "topic_id": TOPIC_ID,
        "is_internal": False,
        "partitions": [partition(1, leader=2, replicas=(2, 1)), partition(0)],
    }
    return whole | changes


def test_a_whole_topic_has_its_partitions_in_order() -> None:
    """A topic told whole is seen, its partitions in order, the first replica being preferred."""
    assert read_topic("orders", description()) == TopicSeen(
        "orders", "bjXN1LikRBKmgJlEt68b1w", (1, 2), (1, 2)
    )


def test_a_topic_id_is_printed_as_kafka_prints_it() -> None:
    """A topic id is printed as Kafka prints it: URL-safe base64 without padding."""
    assert kafka_topic_id(str(UUID(int=0))) == "AAAAAAAAAAAAAAAAAAAAAA"
    assert kafka_topic_id(str(UUID(bytes=b"\xff" * 16))) == "_____________________w"


def test_a_partition_without_a_leader_is_one() -> None:
    """A partition without a leader is still a partition; its leader is None."""
    told = description(partitions=[partition(0, leader=-1)])
    assert read_topic("orders", told) == TopicSeen(
        "orders", "bjXN1LikRBKmgJlEt68b1w", (None,), (1,)
    )


def test_only_error_3_means_that_a_topic_is_absent() -> None:
    """Only Kafka's own word for it, error 3, says that there is no such topic."""
    assert read_topic("orders", description(error_code=3, partitions=[])) == TopicAbsent("orders")
    # Kafka has no topic of such a name: as an answer that is missing it made the bridge unready.
    assert read_topic("a|b", description(error_code=17, partitions=[])) == TopicAbsent("a|b")


@pytest.mark.parametrize(
    "changes",
    [
        {"error_code": 29, "partitions": []},
        {"error_code": 5},
        {"topic_id": None},
        {"topic_id": str(UUID(int=0))},
        {"partitions": []},
        {"partitions": [partition(0), partition(2)]},
        {"partitions": [partition(1)]},
        {"partitions": [partition(0, replicas=())]},
    ],
    ids=["forbidden", "electing", "no id", "zero id", "none", "gap", "no first", "no replica"],
)
def test_an_incomplete_answer_proves_nothing(changes: dict[str, Any]) -> None:
    """An error, or a topic that is not told whole, proves nothing."""
    assert isinstance(read_topic("orders", description(**changes)), TopicUnclear)


def test_a_topic_left_out_is_unclear_and_not_absent() -> None:
    """A topic that the answer leaves out is unclear, not absent; the order is the one asked."""
    looks = read_topics(["payments", "orders"], [description()])
    assert [type(look) for look in looks] == [TopicUnclear, TopicSeen]


def test_a_node_may_have_no_rack() -> None:
    """A node without a rack, or with one that no route can carry, has none."""
    brokers = [
        {"broker_id": 1, "rack": "rack-a"},
        {"broker_id": 2, "rack": None},
        {"broker_id": 3, "rack": "räck"},
        {"broker_id": 4, "rack": ""},
    ]
    assert read_racks({"brokers": brokers}) == {1: "rack-a", 2: None, 3: None, 4: None}
