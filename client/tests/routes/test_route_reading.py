"""TopicRouteData is read as name servers of every version write it."""

import json
from pathlib import Path
from typing import Any

import pytest
from fairlead_client.errors import MalformedRecordError, RouteError
from fairlead_client.rocketmq.route_change import route_changed
from fairlead_client.rocketmq.route_reading import decode_topic_route, read_topic_route
from fairlead_client.routes.route_record import decode_route_record
from fairlead_client.routes.topic_route import BrokerData, QueueData, QueueMapping, TopicRoute

PAGE = Path(__file__).resolve().parents[3] / "docs" / "protocol.md"

PRINTED = """{
	"brokerDatas":[
		{"brokerAddrs":{0:"10.0.0.1:10911",1:"10.0.0.2:10911"},"brokerName":"broker-a","cluster":"c",
		"enableActingMaster":false}
	],
	"filterServerTable":{"10.0.0.1:10911":["10.0.0.9:1"]},
	"orderTopicConf":"broker-a:2 {1:x}",
	"queueDatas":[
		{"brokerName":"broker-a","perm":6,"readQueueNums":4,"topicSysFlag":1,"writeQueueNums":8}
	]
}"""
SHARE: dict[str, Any] = {"brokerName": "b", "perm": 6, "readQueueNums": 4, "writeQueueNums": 4}


def test_as_a_name_server_answers() -> None:
    """Unquoted broker ids are names, and digits before a colon within a text stay text."""
    assert decode_topic_route(PRINTED.encode()) == TopicRoute(
        queue_datas=(QueueData("broker-a", 4, 8, 6, 1),),
        broker_datas=(BrokerData("broker-a", "c", {0: "10.0.0.1:10911", 1: "10.0.0.2:10911"}),),
        order_topic_conf="broker-a:2 {1:x}",
        filter_servers={"10.0.0.1:10911": ("10.0.0.9:1",)},
    )


def test_both_names_of_the_flag() -> None:
    """An older 4.x says topicSynFlag, a later version topicSysFlag, which counts if both stand."""
    for told, flag in (
        ({"topicSynFlag": 3}, 3),
        ({"topicSysFlag": 5}, 5),
        ({"topicSynFlag": 3, "topicSysFlag": 5}, 5),
        ({"topicSynFlag": 3, "topicSysFlag": None}, 3),
        ({}, 0),
    ):
        route = read_topic_route({"queueDatas": [SHARE | told], "brokerDatas": []})
        assert route.queue_datas[0].sys_flag == flag


def test_what_is_left_out() -> None:
    """Numbers left out or null are 0, as in Java; lists left out are empty and noted."""
    route = read_topic_route({"queueDatas": [{"brokerName": "b", "perm": None}], "later": {"x": 1}})
    assert route == TopicRoute((QueueData("b", 0, 0, 0),), absent=frozenset({"brokerDatas"}))
    assert read_topic_route({"brokerDatas": [{"brokerName": "b"}]}).broker_datas == (
        BrokerData("b", addresses_told=False),
    )
    assert read_topic_route({}).absent == {"queueDatas", "brokerDatas"}


def test_a_static_mapping_is_read_with_the_global_scope() -> None:
    """A static topic's mapping is read, its scope the global one unless told."""
    told = {
        "b": {"bname": "b", "topic": "t", "totalQueues": 2, "epoch": 7, "currIdMap": {"1": 0}},
        "c": {"scope": None, "dirty": True},
    }
    route = read_topic_route({"topicQueueMappingByBroker": told})
    assert route.mappings == {
        "b": QueueMapping("b", "t", "__global__", 2, 7, current_ids={1: 0}),
        "c": QueueMapping(scope=None, dirty=True),
    }


@pytest.mark.parametrize(
    "document, field",
    [
        ([], "route"),
        ({"queueDatas": {}}, "queueDatas"),
        ({"queueDatas": [None]}, "queueDatas[0]"),
        ({"queueDatas": [{"perm": 6}]}, "queueDatas[0].brokerName"),
        ({"queueDatas": [SHARE, SHARE | {"perm": "6"}]}, "queueDatas[1].perm"),
        ({"queueDatas": [SHARE | {"readQueueNums": True}]}, "queueDatas[0].readQueueNums"),
        ({"queueDatas": [SHARE | {"writeQueueNums": 2**31}]}, "queueDatas[0].writeQueueNums"),
        ({"queueDatas": [SHARE | {"topicSynFlag": 1.5}]}, "queueDatas[0].topicSynFlag"),
        ({"brokerDatas": [{"brokerName": 1}]}, "brokerDatas[0].brokerName"),
        (
            {"brokerDatas": [{"brokerName": "b", "brokerAddrs": {"x": "a"}}]},
            "brokerDatas[0].brokerAddrs.x",
        ),
        (
            {"brokerDatas": [{"brokerName": "b", "brokerAddrs": {"0": None}}]},
            "brokerDatas[0].brokerAddrs.0",
        ),
        ({"orderTopicConf": 1}, "orderTopicConf"),
        ({"filterServerTable": {"a": [1]}}, "filterServerTable.a"),
        ({"topicQueueMappingByBroker": {"b": 1}}, "topicQueueMappingByBroker.b"),
        (
            {"topicQueueMappingByBroker": {"b": {"currIdMap": {"1" * 5000: 1}}}},
            "topicQueueMappingByBroker.b.currIdMap." + "1" * 5000,
        ),
        ({"topicQueueMappingByBroker": {"b": {"dirty": 1}}}, "topicQueueMappingByBroker.b.dirty"),
    ],
)
def test_what_is_no_route(document: object, field: str) -> None:
    """An error names the field and says what to do."""
    with pytest.raises(RouteError, match="; send TopicRouteData") as caught:
        read_topic_route(document)
    assert (caught.value.field, caught.value.code) == (field, "bad_route")


@pytest.mark.parametrize("text", [b"{", b"\xff", b"{0:}", b"[" * 100_000, b"NaN{0:1}"])
def test_what_is_no_json(text: bytes) -> None:
    """A text that is no JSON is refused as a whole."""
    with pytest.raises(RouteError, match=r"^route: no JSON"):
        decode_topic_route(text)


def test_the_route_record_of_the_protocol_is_the_same_route() -> None:
    """Fairlead's own record of the protocol's page is the same route, with leaders and zones."""
    page = PAGE.read_text(encoding="utf-8")
    text = next(
        block.split("```")[0] for block in page.split("```json\n") if '"kind":"route"' in block
    )
    found = decode_route_record(text.encode())
    assert found is not None
    assert found.topic == "orders"
    leaders, zones = ("1", "1", "2", "3"), (None,) * 4
    assert found.route == TopicRoute(
        (QueueData("main", 4, 4, 6, leaders=leaders, zones=zones),),
        (BrokerData("main", "main", {0: "127.0.0.1:9092"}),),
        identity="W3XrV0pUSt2Qh0nHkS5ZtQ",
    )
    moved = text.replace('"2"', '"4"')
    assert moved != text
    other = decode_route_record(moved.encode())
    assert other is not None
    assert route_changed(found.route, other.route)


@pytest.mark.parametrize(
    "change, field",
    [
        ({"v": 2}, "v"),
        ({"identity": None}, "identity"),
        ({"brokers": {}}, "brokers"),
        ({"brokers": [1]}, "brokers[0]"),
        ({"brokers": [{"broker_name": "b"}]}, "brokers[0].read_queue_nums"),
        ({"order_topic_conf": 1}, "order_topic_conf"),
    ],
)
def test_own_record_that_is_none(change: dict[str, Any], field: str) -> None:
    """A record that cannot be read is an error that names the field; another kind is none."""
    record: dict[str, Any] = {
        "v": 1, "kind": "route", "topic": "t", "identity": "i", "brokers": [],
        "order_topic_conf": None,
    }  # fmt: skip
    with pytest.raises(MalformedRecordError) as caught:
        decode_route_record(json.dumps(record | change).encode())
    assert caught.value.field == field
    assert decode_route_record(json.dumps(record | {"kind": "offsets"}).encode()) is None
    assert decode_route_record(json.dumps(record).encode()) is not None


@pytest.mark.parametrize("piece", ['\\"', "x", '{"', "{1", "{ ", '"'])
def test_a_broken_answer_is_refused_as_soon_as_it_is_read(piece: str) -> None:
    """Its length does not count twice: one server could hold up everybody who asks it."""
    with pytest.raises(RouteError):
        decode_topic_route('{0:"' + piece * 200_000)
