"""A route as RocketMQ tells it becomes a record of ours, or is refused with the field."""

import json
from typing import Any

import pytest
from fairlead_client.errors import RouteError
from fairlead_client.rocketmq.route_reading import read_topic_route
from fairlead_client.routes.publish_info import publish_info
from fairlead_client.routes.route_record import decode_route_record
from fairlead_client.routes.subscribe_info import subscribe_info

from fairlead.control.rocketmq_route import as_read, route_from_rocketmq
from fairlead.core.model import Route, RouteBroker
from fairlead.core.records import RouteChanged
from fairlead.core.topics.routes import has_closed_queues, readable_queues, writable_queues
from fairlead.wire.encode_bridge import encode_route
from fairlead.wire.errors import WireError
from fairlead.wire.topics import TopicNames

SHARE: dict[str, Any] = {"brokerName": "b", "perm": 6, "readQueueNums": 2, "writeQueueNums": 3}
TOLD: dict[str, Any] = {
    "queueDatas": [SHARE, SHARE | {"brokerName": "a", "perm": 4, "topicSysFlag": 1}],
    "brokerDatas": [
        {"brokerName": "b", "cluster": "c", "brokerAddrs": {"1": "b:2", "0": "b:1"}},
        {"brokerName": "b", "cluster": "another", "brokerAddrs": {}},
    ],
    "filterServerTable": {"b:1": []},
}
STATIC: dict[str, Any] = {
    "topicQueueMappingByBroker": {
        "b": {"bname": "b", "totalQueues": 3, "epoch": 1, "currIdMap": {"0": 4, "1": 0}},
        "a": {"bname": "a", "totalQueues": 3, "epoch": 2, "currIdMap": {"1": 0}},
    }
}


def test_brokers_keep_their_names_shares_and_addresses() -> None:
    """Brokers by their names, their shares, addresses and cluster; the first data of a name."""
    assert route_from_rocketmq("orders", read_topic_route(TOLD), "life-1") == Route(
        "orders",
        "life-1",
        (
            RouteBroker("a", 4, 2, 3),
            RouteBroker("b", 6, 2, 3, "c", {"0": "b:1", "1": "b:2"}),
        ),
    )


@pytest.mark.parametrize("told", [TOLD, TOLD | {"orderTopicConf": "b:2;a:1"}, STATIC])
def test_clients_make_the_same_queues_of_both_routes(told: dict[str, Any]) -> None:
    """What clients make of the record is what they make of RocketMQ's own route."""
    theirs = read_topic_route(told)
    route = route_from_rocketmq("orders", theirs, "life-1")
    assert as_read("orders", route) == RouteChanged("orders", route)
    value = encode_route(RouteChanged("orders", route), TopicNames("")).value
    assert value is not None
    record = decode_route_record(value)
    assert record is not None
    ours = record.route
    assert publish_info("orders", ours) == publish_info("orders", theirs)
    assert subscribe_info("orders", ours) == subscribe_info("orders", theirs)
    assert [*map(tuple, subscribe_info("orders", ours))] == [*map(tuple, readable_queues(route))]


def test_logical_queues_belong_to_the_mock_broker() -> None:
    """Its logical queues belong to the mock broker; leaders name the real one that keeps each."""
    (broker,) = route_from_rocketmq("orders", read_topic_route(STATIC), "life-1").brokers
    assert (broker.broker_name, broker.read_queue_nums) == ("__syslo__global__", 3)
    assert broker.leaders == ("b", "a", "__syslo__none__")


@pytest.mark.parametrize(
    "told, field",
    [
        ({}, "queueDatas"),
        (TOLD | {"queueDatas": [SHARE, SHARE]}, "queueDatas"),
        (TOLD | {"orderTopicConf": "b:x"}, "orderTopicConf"),
        (TOLD | {"orderTopicConf": "b"}, "orderTopicConf"),
    ],
)
def test_refused_as_a_route(told: dict[str, Any], field: str) -> None:
    """What is no route, has a broker twice, or stops RocketMQ's clients, cannot be one of ours."""
    with pytest.raises(RouteError) as caught:
        route_from_rocketmq("orders", read_topic_route(told), "life-1")
    assert caught.value.field == field


@pytest.mark.parametrize(
    "change, field",
    [
        ({"perm": 16}, "brokers[0].perm"),
        ({"readQueueNums": -1}, "brokers[0].read_queue_nums"),
        ({"brokerName": "no name"}, "brokers[0].broker_name"),
    ],
)
def test_refused_as_a_record(change: dict[str, Any], field: str) -> None:
    """What the engine would reject is found before it is written."""
    told = json.loads(json.dumps({"queueDatas": [SHARE | change], "brokerDatas": []}))
    with pytest.raises(WireError) as caught:
        as_read("orders", route_from_rocketmq("orders", read_topic_route(told), "life-1"))
    assert caught.value.field == field


def test_a_broker_without_its_master() -> None:
    """Producers pass it by; what its queues weigh is not changed by a master that is away now."""
    told = read_topic_route({"queueDatas": [SHARE], "brokerDatas": []})
    assert publish_info("orders", told).queues == ()
    route = route_from_rocketmq("orders", told, "life-1")
    assert set(writable_queues(route).values()) == {True}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"perm": 4},
        {"perm": 2},
        {"writeQueueNums": 0},
        {"writeQueueNums": 1},
        {"readQueueNums": 0},
        {"readQueueNums": 0, "writeQueueNums": 0},
    ],
)
def test_whether_any_queue_is_closed(change: dict[str, Any]) -> None:
    """No look at each queue is needed: for many groups and wide topics it took minutes."""
    share = SHARE | change
    route = route_from_rocketmq(
        "orders", read_topic_route({"queueDatas": [share], "brokerDatas": []}), "l"
    )
    assert has_closed_queues(route) == (not all(writable_queues(route).values()))
