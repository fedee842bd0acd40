"""Cases in, answers out: in order, whatever a line holds."""

import json

import pytest
from fairlead_proof.conformance.lines import answer_lines

QUEUES = [["orders", "main", number] for number in range(3)]


def answered(*lines: object) -> list[tuple[dict[str, object], bool]]:
    """Answer lines, each an object to be written as JSON or the bytes themselves."""
    written = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return [(json.loads(line.text), line.is_case) for line in answer_lines(written)]


def test_order_and_bad_lines() -> None:
    """Every line is answered in its place; a bad one has its number and stops nothing."""
    case = {"kind": "allocate", "strategy": "AVG", "queues": QUEUES, "clients": ["a", "b"]}
    found = answered({"id": 7, **case}, b"{", b"\n", b"[1]", {"id": [1], **case, "clients": ["b"]})
    assert [is_case for _, is_case in found] == [True, False, False, False, True]
    assert found[0][0] == {"id": 7, "result": {"a": QUEUES[:2], "b": QUEUES[2:]}}
    assert [(each["id"], each["line"]) for each, is_case in found if not is_case] == [
        (None, 2),
        (None, 3),
        (None, 4),
    ]
    assert found[4][0] == {"id": [1], "result": {"b": QUEUES}}


def test_fields_that_cannot_be() -> None:
    """A case that lacks a field, or has a wrong one, names it."""
    good = {"id": 1, "kind": "allocate", "strategy": "AVG", "queues": QUEUES, "clients": ["a"]}
    for wrong, path in (
        ({"kind": "guess"}, "kind:"),
        ({"strategy": 1}, "strategy:"),
        ({"queues": [["t", "b", True]]}, "queues[0]:"),
        ({"queues": [["t", "b", 0], ["t", "b", 2**31]]}, "queues[1]:"),
        ({"queues": [["t", "b", -(2**31) - 1]]}, "queues[0]:"),
        ({"queues": [["t", "b", 10**30]]}, "queues[0]:"),
        ({"queues": [["t", "b", 1.0]]}, "queues[0]:"),
        ({"clients": [1]}, "clients[0]:"),
        ({"clients": "a"}, "clients:"),
        ({"options": []}, "options:"),
    ):
        ((found, is_case),) = answered({**good, **wrong})
        assert isinstance(found["error"], dict)
        assert (found["id"], is_case, found["error"]["code"]) == (None, False, "bad_case")
        assert found["error"]["message"].startswith(path)


def test_errors_of_an_allocation() -> None:
    """What RocketMQ throws is an answer, not a bad case."""
    base = {"id": 1, "kind": "allocate", "strategy": "AVG", "queues": QUEUES, "clients": ["a"]}
    for wrong, code in (
        ({"for": [""]}, "client_id_empty"),
        ({"queues": None}, "queues_empty"),
        ({"clients": [], "for": ["a"]}, "clients_empty"),
        ({"strategy": "NONE"}, "unknown_strategy"),
        (
            {"strategy": "CONSISTENT_HASH", "options": {"virtual_nodes": -1}},
            "virtual_nodes_invalid",
        ),
        ({"strategy": "MACHINE_ROOM_NEARBY", "clients": ["-a"]}, "room_unknown"),
    ):
        ((found, is_case),) = answered({**base, **wrong})
        assert isinstance(found["error"], dict)
        assert (is_case, found["error"]["code"]) == (True, code)
    ((stranger, _),) = answered({**base, "for": ["b"]})
    assert stranger["result"] == {"b": []}


def test_a_client_that_gets_nothing() -> None:
    """Every client asked for stands in the answer, also where the strategy does not name it."""
    case = {"id": 1, "kind": "allocate", "strategy": "STICKY", "queues": QUEUES[:1]}
    ((found, _),) = answered({**case, "clients": ["a", "b"], "for": ["b", "a", "stranger"]})
    assert found["result"] == {"b": [], "a": QUEUES[:1], "stranger": []}


def test_notes_of_a_strategy_stand_beside_its_result() -> None:
    """What a strategy notes stands beside its result, and nothing where it notes nothing."""
    owned = {"current": {"a": QUEUES}, "subscriptions": {"a": ["orders", "bills"], "b": ["orders"]}}
    case = {
        "id": 1,
        "kind": "allocate",
        "strategy": "STICKY",
        "queues": [*QUEUES, ["bills", "main", 0]],
        "clients": ["a", "b"],
    }
    for effort, noted in (({}, False), ({"effort": 0}, True)):
        ((found, is_case),) = answered({**case, "options": {**owned, **effort}})
        assert is_case
        assert set(found) == {"id", "result"} | ({"notes"} if noted else set())


def test_queues_sort_by_number_and_texts_as_in_java() -> None:
    """Queues are sorted by their numbers, texts as Java compares them: by UTF-16 units."""
    queues = [["t", "b", 10], ["t", "b", 2], ["t", "\U0001f600", 0], ["t", "\uffee", 0]]
    found = answered(
        {"kind": "sort_queues", "queues": queues},
        {"kind": "sort_clients", "clients": ["CID-2", "CID-10", "\uffee", "\U0001f600"]},
    )
    assert found[0][0]["result"] == [queues[1], queues[0], queues[2], queues[3]]
    assert found[1][0]["result"] == ["CID-10", "CID-2", "\U0001f600", "\uffee"]


def test_a_queue_id_may_be_any_int_of_java() -> None:
    """A queue id is as great, or as small, as Java's int."""
    queues = [["t", "b", 2**31 - 1], ["t", "b", -(2**31)]]
    ((found, is_case),) = answered({"kind": "sort_queues", "queues": queues})
    assert (found["result"], is_case) == (queues[::-1], True)


def test_options_that_cannot_be() -> None:
    """An option that has a wrong form is an answer that names it, not a bad case."""
    base = {"kind": "allocate", "queues": QUEUES, "clients": ["a"]}
    for strategy, options, path in (
        ("CONFIG", {"queues": [["t", "b", 2**31]]}, "queues[0]:"),
        ("STICKY", {"pins": [[["t", "b", 2**31], "a"]]}, "pins[0]:"),
        ("STICKY", {"current": []}, "current:"),
        ("STICKY", {"current": {"a": [QUEUES[0], ["t", "b"]]}}, "current.a[1]:"),
        ("STICKY", {"subscriptions": 0}, "subscriptions:"),
        ("STICKY", {"subscriptions": {"a": ["orders", 1]}}, "subscriptions.a[1]:"),
    ):
        ((found, is_case),) = answered({**base, "strategy": strategy, "options": options})
        assert isinstance(found["error"], dict)
        assert (is_case, found["error"]["code"]) == (True, "bad_option")
        assert found["error"]["message"].startswith(path)


def test_two_owners_of_now() -> None:
    """A queue that two own now is the first one's in RocketMQ's order, however they are listed."""
    base = {"kind": "allocate", "strategy": "STICKY", "queues": QUEUES[:2], "clients": ["a", "b"]}
    owned = {"b": QUEUES[:2], "a": QUEUES[:1]}
    lines = [
        {**base, "options": {"current": dict(items)}}
        for items in (owned.items(), reversed(owned.items()))
    ]
    assert [found["result"] for found, _ in answered(*lines)] == [
        {"a": QUEUES[:1], "b": QUEUES[1:2]}
    ] * 2


def test_whatever_json_can_say() -> None:
    """Half a surrogate pair and an id of any length come through as they were, in ASCII."""
    ids = ["\ud800", "\U0001f600", "\u2028", "\uffff"]
    case = {"id": [10**40, "\udfff"], "kind": "sort_clients", "clients": ids}
    (line,) = answer_lines([json.dumps(case).encode()])
    assert line.text.isascii()
    assert json.loads(line.text) == {"id": case["id"], "result": [ids[2], ids[0], ids[1], ids[3]]}


@pytest.mark.parametrize("digits", [640, 641, 4_301, 100_000])
def test_an_id_of_many_digits(digits: int) -> None:
    """Any number of digits is handed back as written; elsewhere such a number is a bad case."""
    number = b"-" + b"9" * digits
    sort, allocate = b',"kind":"sort_clients","clients":["b","a"]}', b',"kind":"allocate"'
    (line,) = answer_lines([b'{"id":{"n":[' + number + b"]}" + sort])
    assert line == (b'{"id":{"n":[' + number + b']},"result":["a","b"]}', True)
    case = b'{"id":1' + allocate + b',"strategy":"AVG","clients":["a"],"queues":[["t","b",'
    (bad,) = answer_lines([case + number + b"]]}"])
    assert not bad.is_case
    # No text counts as one, whatever it begins with, also beside one.
    for begin in (b"\\u0000long:", b"0:", b""):
        text = b'"' + begin + number + b'"'
        (line,) = answer_lines([b'{"id":[' + text + b"," + number + b"," + text + b"]" + sort])
        assert line.text.startswith(b'{"id":[' + text + b"," + number + b"," + text + b"],")
        (line,) = answer_lines([b'{"id":' + text + sort])
        assert line.text.startswith(b'{"id":' + text + b",")


def test_what_is_no_json_is_a_bad_case() -> None:
    """What is no JSON, or nested without end, is a bad case and stops nothing."""
    lines = [
        b'{"id":1e999}',
        b'{"id":NaN}',
        b"\xff",
        b"\xef\xbb\xbf{}",
        b"[" * 100_000,
        b'"x',
        b"{}",
    ]
    found = answered(*lines)
    assert [each["line"] for each, _ in found] == [1, 2, 3, 4, 5, 6, 7]
    assert {is_case for _, is_case in found} == {False}
