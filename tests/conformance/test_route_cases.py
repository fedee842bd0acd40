"""Cases about routes and selections: every form in which RocketMQ writes them, every refusal."""

import json
from typing import Any

import pytest
from fairlead_proof.conformance.answer import answer
from fairlead_proof.conformance.lines import answer_lines

ROUTE: dict[str, Any] = {
    "queueDatas": [{"brokerName": "b", "perm": 6, "readQueueNums": 1, "writeQueueNums": 1}],
    "brokerDatas": [{"brokerName": "b", "brokerAddrs": {"0": "b:10911"}}],
}
SELECT: dict[str, Any] = {
    "kind": "select_queue",
    "version": "4.9",
    "queues": [["t", "a", 0], ["t", "b", 0]],
    "start_index": 0,
    "last_brokers": [None],
}


def refusal(case: dict[str, Any]) -> tuple[str, str]:
    """Return the code of the error, and its message."""
    error = answer(case)["error"]
    return error["code"], error["message"]


@pytest.mark.parametrize(
    "route",
    [ROUTE, json.dumps(ROUTE), json.dumps(ROUTE).replace('"0"', "0")],
)
def test_forms_of_a_route(route: object) -> None:
    """A route is an object, or a text with it, broker ids with or without quotes."""
    case = {"kind": "publish_info", "topic": "t", "route": route}
    assert answer(case)["result"] == {"ordered": False, "queues": [["t", "b", 0]]}


def test_a_line_with_bare_ids() -> None:
    """A line may hold the route as the name server wrote it; a broken one is still a bad case."""
    line = json.dumps({"id": "{1:", "kind": "publish_info", "topic": "t", "route": ROUTE})
    bare = line.replace('"0":', "0 :").encode()
    good, bad = answer_lines([bare, bare[:-1]])
    assert json.loads(good.text) == {
        "id": "{1:",
        "result": {"ordered": False, "queues": [["t", "b", 0]]},
    }
    assert (json.loads(bad.text)["id"], bad.is_case) == (None, False)


@pytest.mark.parametrize(
    "case, path",
    [
        ({"kind": "publish_info", "route": ROUTE}, "topic:"),
        ({"kind": "publish_info", "topic": "t"}, "route:"),
        ({"kind": "subscribe_info", "topic": "t", "route": None}, "route:"),
        ({"kind": "subscribe_info", "topic": "t", "route": "{"}, "route:"),
        (
            {"kind": "subscribe_info", "topic": "t", "route": {"queueDatas": [{}]}},
            "route.queueDatas[0].brokerName:",
        ),
        ({"kind": "route_changed", "new": ROUTE}, "old:"),
        ({"kind": "route_changed", "old": None, "new": []}, "new:"),
        (SELECT | {"version": "4.8"}, "version:"),
        (SELECT | {"version": ["4.9"]}, "version:"),
        (SELECT | {"start_index": 2**31}, "start_index:"),
        (SELECT | {"start_index": None}, "start_index:"),
        (SELECT | {"last_brokers": [1]}, "last_brokers[0]:"),
        (SELECT | {"queues": [["t", "b"]]}, "queues[0]:"),
        ({"kind": "not_available_ms", "version": "5", "isolation": True}, "latency_ms:"),
        (
            {"kind": "not_available_ms", "version": "5", "latency_ms": 1, "isolation": 0},
            "isolation:",
        ),
    ],
)
def test_a_bad_case_names_its_field(case: dict[str, Any], path: str) -> None:
    """A case that lacks a field, or has a wrong one, names it."""
    code, message = refusal(case)
    assert code == "bad_case"
    assert message.startswith(path)


def test_where_rocketmq_throws() -> None:
    """What RocketMQ throws at is an answer with a name."""
    info = {"kind": "publish_info", "topic": "t"}
    for case, code in (
        (info | {"route": {"orderTopicConf": "a"}}, "order_topic_conf_incomplete"),
        (info | {"route": {"orderTopicConf": "a:b"}}, "order_topic_conf_number"),
        (info | {"route": {}}, "route_incomplete"),
        ({**info, "kind": "subscribe_info", "route": {"queueDatas": None}}, "route_incomplete"),
        (info | {"route": {"orderTopicConf": "a:2147483647"}}, "too_many_queues"),
        (SELECT | {"queues": []}, "queues_empty"),
        (SELECT | {"queues": None, "version": "4.3"}, "queues_empty"),
    ):
        assert refusal(case)[0] == code
    assert answer(SELECT | {"queues": [], "last_brokers": []})["result"] == []


def test_what_a_case_leaves_out_counts_as_empty() -> None:
    """Without an old or a new route it changed; what was left out counts as empty."""
    for old, new, changed in (
        (None, ROUTE, True),
        (ROUTE, None, True),
        (ROUTE, ROUTE, False),
        ({}, {"queueDatas": None, "filterServerTable": {}}, False),
        ({"orderTopicConf": ""}, {}, True),
    ):
        assert answer({"kind": "route_changed", "old": old, "new": new})["result"] is changed


def test_selections_of_the_versions() -> None:
    """A failed broker is passed by; of 4.3 a call moves the shared index by one."""
    calls = {"last_brokers": [None, "a", None], "start_index": 2**31 - 2}
    queues = [["t", "a", 0], ["t", "a", 1], ["t", "b", 0]]
    last, least = 2**31 - 1, -(2**31)
    found = {
        version: answer(SELECT | calls | {"version": version, "queues": queues})["result"]
        for version in ("4.3", "4.9", "5")
    }
    assert found["4.9"] == found["5"]
    assert found["4.9"] == [[queues[1], last], [queues[2], least + 2], [queues[0], least + 3]]
    assert found["4.3"] == [[queues[1], last], [queues[2], 0], [queues[1], 1]]
