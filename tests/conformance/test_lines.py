"""Cases in, answers out: in order, whatever a line holds."""

import json

from fairlead.conformance.lines import answer_lines

QUEUES = [["orders", "main", number] for number in range(3)]


def answered(*lines: object) -> list[tuple[dict[str, object], bool]]:
    """Answer lines, each an object to be written as JSON or the bytes themselves."""
    written = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return [(json.loads(line.text), line.is_case) for line in answer_lines(written)]


def test_order_and_bad_lines() -> None:
    """Every line is answered in its place; a bad one has its number and stops nothing."""
    case = {"kind": "allocate", "strategy": "AVG", "queues": QUEUES, "clients": ["a", "b"]}
    found = answered({"id": 7, **case}, b"{", b"\n", b"[1]", {"id": [1], **case, "clients": ["b"]})
    assert [is_case for _, is_case in found] == [True, False, False, True]
    assert found[0][0] == {"id": 7, "result": {"a": QUEUES[:2], "b": QUEUES[2:]}}
    assert [(each["id"], each["line"]) for each, is_case in found if not is_case] == [
        (None, 2),
        (None, 4),
    ]
    assert found[3][0] == {"id": [1], "result": {"b": QUEUES}}


def test_fields_that_cannot_be() -> None:
    """A case that lacks a field, or has a wrong one, names it."""
    good = {"id": 1, "kind": "allocate", "strategy": "AVG", "queues": QUEUES, "clients": ["a"]}
    for wrong, path in (
        ({"kind": "guess"}, "kind:"),
        ({"strategy": 1}, "strategy:"),
        ({"queues": [["t", "b", True]]}, "queues[0]:"),
        ({"clients": [1]}, "clients[0]:"),
        ({"clients": "a"}, "clients:"),
        ({"options": []}, "options:"),
    ):
        ((found, is_case),) = answered({**good, **wrong})
        assert isinstance(found["error"], dict)
        assert (found["id"], is_case, found["error"]["code"]) == (1, False, "bad_case")
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


def test_sorting() -> None:
    """Queues are sorted by their numbers, texts as Java compares them: by UTF-16 units."""
    queues = [["t", "b", 10], ["t", "b", 2], ["t", "\U0001f600", 0], ["t", "\uffee", 0]]
    found = answered(
        {"kind": "sort_queues", "queues": queues},
        {"kind": "sort_clients", "clients": ["CID-2", "CID-10", "\uffee", "\U0001f600"]},
    )
    assert found[0][0]["result"] == [queues[1], queues[0], queues[2], queues[3]]
    assert found[1][0]["result"] == ["CID-10", "CID-2", "\U0001f600", "\uffee"]
