"""Shares written down by hand: what RocketMQ's strategies give in cases that people know.

They hold both sides to something that neither computed: a judge that asks wrongly and a strategy
that is wrong in the same way would agree with each other.
"""

from typing import Any, Final

from tests.judge.cases import Case, Queue

Shares = dict[str, list[int]]


def queues(count: int, broker: str = "brokerName", first: int = 0) -> list[Queue]:
    """Return queues of one broker, numbered from the first."""
    return [["topic_test", broker, number] for number in range(first, first + count)]


def ids(count: int, prefix: str = "CID_PREFIX") -> list[str]:
    """Return client ids with numbers from 0."""
    return [f"{prefix}{number}" for number in range(count)]


def dealt(lists: str) -> list[list[int]]:
    """Read queue numbers, client by client: "0 1; 2; -"."""
    return [[int(word) for word in part.split() if word != "-"] for part in lists.split(";")]


def case(strategy: str, queues_: list[Queue], clients: list[str], **more: Any) -> Case:
    """Return a case in the format of `fairlead proof conform`."""
    fields = {"kind": "allocate", "strategy": strategy, "queues": queues_, "clients": clients}
    return {"id": strategy, **fields, **more}


def _even(strategy: str, queue_count: int, client_count: int, lists: str) -> tuple[Case, Shares]:
    clients = ids(client_count)
    asked = case(strategy, queues(queue_count), clients)
    return asked, dict(zip(clients, dealt(lists), strict=True))


def _rooms(rooms: list[str], lists: str) -> tuple[Case, Shares]:
    shared = [*queues(5, "room1@broker-a"), *queues(5, "room2@broker-b", first=5)]
    clients = ids(2)
    asked = case("MACHINE_ROOM", shared, clients, options={"rooms": rooms})
    return asked, dict(zip(clients, dealt(lists), strict=True))


def _ring(nodes: int, clients: list[str], queue_count: int, lists: Shares) -> tuple[Case, Shares]:
    asked = case("CONSISTENT_HASH", queues(queue_count), clients, options={"virtual_nodes": nodes})
    return asked, {client: lists.get(client, []) for client in clients}


def _nearby(each: int, rooms: list[int], clients: list[str], lists: str) -> tuple[Case, Shares]:
    """Queue q of room r has the number 10 r + q."""
    shared = [one for room in rooms for one in queues(each, f"IDC{room}-brokerName", 10 * room)]
    options = {"room": "prefix-before-first-dash", "inner": "AVG", "inner_options": {}}
    asked = case("MACHINE_ROOM_NEARBY", shared, clients, options=options)
    return asked, dict(zip(clients, dealt(lists), strict=True))


_TEN: Final[Shares] = {
    "CID-0": [3, 5, 8, 18, 19],
    "CID-2": [4],
    "CID-3": [6, 7, 9],
    "CID-5": [10, 11, 15, 17],
    "CID-7": [0, 2, 12],
    "CID-8": [1, 13, 14],
    "CID-9": [16],
}

KNOWN: Final[tuple[tuple[Case, Shares], ...]] = (
    _even("AVG", 10, 4, "0 1 2; 3 4 5; 6 7; 8 9"),
    _even("AVG", 8, 4, "0 1; 2 3; 4 5; 6 7"),
    _even("AVG", 7, 5, "0 1; 2 3; 4; 5; 6"),
    _even("AVG", 2, 3, "0; 1; -"),
    _even("AVG_BY_CIRCLE", 10, 4, "0 4 8; 1 5 9; 2 6; 3 7"),
    _even("AVG_BY_CIRCLE", 7, 5, "0 5; 1 6; 2; 3; 4"),
    _even("AVG_BY_CIRCLE", 1, 4, "0; -; -; -"),
    # An id twice has its first place only; what its second would have belongs to nobody.
    (case("AVG", queues(6), ["c1", "c1", "c2"]), {"c1": [0, 1], "c2": [4, 5]}),
    (case("AVG_BY_CIRCLE", queues(6), ["c1", "c1", "c2"]), {"c1": [0, 3], "c2": [2, 5]}),
    (case("AVG_BY_CIRCLE", queues(10), ids(4), **{"for": ["stranger"]}), {"stranger": []}),
    (
        case("CONFIG", queues(2), ids(2), options={"queues": queues(4)}),
        {"CID_PREFIX0": [0, 1, 2, 3], "CID_PREFIX1": [0, 1, 2, 3]},
    ),
    _rooms(["room1"], "0 1 4; 2 3"),
    _rooms(["room2"], "5 6 9; 7 8"),
    _rooms(["room1", "room2"], "0 1 2 3 4; 5 6 7 8 9"),
    _rooms(["x"], "-; -"),
    _ring(3, ids(10, "CID-"), 20, _TEN),
    # Who leaves gives away its own queues, and nobody else's move.
    _ring(3, ids(10, "CID-")[1:], 20, _TEN | {"CID-3": [3, 5, 6, 7, 8, 9, 18, 19]}),
    _ring(3, [*ids(10, "CID-")[1:], "CID-NEW"], 20, _TEN | {"CID-NEW": _TEN["CID-0"]}),
    _ring(10, ids(2, "CID-"), 6, {"CID-0": [1, 3, 4, 5], "CID-1": [0, 2]}),
    _ring(0, ids(2, "CID-"), 6, {}),
    _nearby(3, [1, 2, 3], ids(4, "IDC1-CID-"), "10 20 30; 11 21 31; 12 22 32; -"),
    _nearby(
        4,
        [1, 2, 3],
        [*ids(2, "IDC1-CID-"), *ids(2, "IDC2-CID-")],
        "10 11 30; 12 13 31; 20 21 32; 22 23 33",
    ),
    _nearby(3, [1, 2], ["IDC9-CID-0"], "10 11 12 20 21 22"),
)
"""Cases, and the queue numbers of each client."""

REFUSED: Final[tuple[tuple[Case, str], ...]] = (
    (case("AVG", [], ids(2)), "queues_empty"),
    (case("AVG", queues(1), [], **{"for": ["a"]}), "clients_empty"),
    (case("AVG", [], [], **{"for": [""]}), "client_id_empty"),
    (case("AVG", [], [], **{"for": ["a"]}), "queues_empty"),
    (case("CONSISTENT_HASH", [], [], options={"virtual_nodes": -1}), "virtual_nodes_invalid"),
    (case("MACHINE_ROOM", queues(1, "a@b"), ids(1), options={"rooms": None}), "rooms_unset"),
    (
        case("MACHINE_ROOM_NEARBY", queues(1, "-b"), ["a-c"], options={"inner": "AVG"}),
        "room_unknown",
    ),
    (
        case("MACHINE_ROOM_NEARBY", queues(1, "a-b"), ["-c"], options={"inner": "AVG"}),
        "room_unknown",
    ),
)
"""Cases that RocketMQ throws at, and the code for it."""
