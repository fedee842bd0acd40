"""What RocketMQ's own tests and textbooks say of its strategies, case by case."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from fairlead.core.allocation import AllocationError
from fairlead.core.model import MessageQueue
from strategies.consistent_hash import ring_hash
from strategies.machine_room import room_of_broker
from strategies.registry import ROCKETMQ


def numbered(count: int, broker_name: str = "brokerName", first: int = 0) -> list[MessageQueue]:
    """Return queues of one broker with ascending ids."""
    return [MessageQueue("topic_test", broker_name, first + number) for number in range(count)]


def ids(count: int, prefix: str = "CID_PREFIX", first: int = 0) -> list[str]:
    """Return client ids with ascending numbers."""
    return [f"{prefix}{first + number}" for number in range(count)]


def dealt(
    name: str,
    queues: Sequence[MessageQueue],
    client_ids: Sequence[str],
    options: Mapping[str, Any] | None = None,
) -> dict[str, list[int]]:
    """Return the queue ids of each client that has any."""
    dealing = ROCKETMQ[name].deal(queues, client_ids, options or {})
    shares = {
        client_id: [queue.queue_id for queue in dealing(client_id)] for client_id in client_ids
    }
    return {client_id: share for client_id, share in shares.items() if share}


@pytest.mark.parametrize(
    "queues, clients, blocks, circle",
    [
        (10, 4, [[0, 1, 2], [3, 4, 5], [6, 7], [8, 9]], [[0, 4, 8], [1, 5, 9], [2, 6], [3, 7]]),
        (9, 4, [[0, 1, 2], [3, 4], [5, 6], [7, 8]], [[0, 4, 8], [1, 5], [2, 6], [3, 7]]),
        (8, 4, [[0, 1], [2, 3], [4, 5], [6, 7]], [[0, 4], [1, 5], [2, 6], [3, 7]]),
        (6, 2, [[0, 1, 2], [3, 4, 5]], [[0, 2, 4], [1, 3, 5]]),
        (7, 5, [[0, 1], [2, 3], [4], [5], [6]], [[0, 5], [1, 6], [2], [3], [4]]),
        (2, 3, [[0], [1]], [[0], [1]]),
        (1, 4, [[0]], [[0]]),
    ],
)
def test_avg_deals_blocks_and_circle_deals_round(
    queues: int, clients: int, blocks: list[list[int]], circle: list[list[int]]
) -> None:
    """AVG deals blocks, AVG_BY_CIRCLE round and round; the first clients get what is left over."""
    assert list(dealt("AVG", numbered(queues), ids(clients)).values()) == blocks
    assert list(dealt("AVG_BY_CIRCLE", numbered(queues), ids(clients)).values()) == circle


def test_a_duplicated_id_counts_at_its_first_place() -> None:
    """A duplicated id counts at its first place, and what falls to its second is nobody's."""
    clients = ["c1", "c1", "c2"]
    assert dealt("AVG", numbered(6), clients) == {"c1": [0, 1], "c2": [4, 5]}
    assert dealt("AVG_BY_CIRCLE", numbered(6), clients) == {"c1": [0, 3], "c2": [2, 5]}


@pytest.mark.parametrize("name", sorted(set(ROCKETMQ) - {"CONFIG"}))
def test_every_strategy_refuses_the_same_input(name: str) -> None:
    """Every strategy but CONFIG refuses the same input in the same order, and knows no stranger."""
    options = {"rooms": ["x"]} if name == "MACHINE_ROOM" else {}
    for queues, asked, code in (
        (numbered(0), "", "client_id_empty"),
        (numbered(0), "a", "queues_empty"),
        (numbered(1), "a", "clients_empty"),
    ):
        with pytest.raises(AllocationError) as failed:
            ROCKETMQ[name].deal(queues, (), options)(asked)
        assert failed.value.code == code
    assert ROCKETMQ[name].deal(numbered(3), ["a"], options)("b") == ()


def test_config_gives_every_client_the_list() -> None:
    """CONFIG gives every client all of the list, and an empty one without a list."""
    wanted = {"queues": [["topic_test", "brokerName", number] for number in range(4)]}
    assert dealt("CONFIG", numbered(4), ids(2), wanted) == {key: [0, 1, 2, 3] for key in ids(2)}
    assert dealt("CONFIG", numbered(4), ids(2)) == {}


@pytest.mark.parametrize(
    "rooms, shares",
    [
        (["room1"], [[0, 1, 4], [2, 3]]),
        (["room2"], [[5, 6, 9], [7, 8]]),
        (["room1", "room2"], [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]),
        (["x"], []),
    ],
)
def test_only_queues_of_the_rooms_are_dealt(rooms: list[str], shares: list[list[int]]) -> None:
    """Only queues of the rooms are dealt, what is left over from the tail."""
    queues = numbered(5, "room1@broker-a") + numbered(5, "room2@broker-b", 5)
    assert list(dealt("MACHINE_ROOM", queues, ids(2), {"rooms": rooms}).values()) == shares


def test_rooms_never_configured_are_an_error() -> None:
    """Rooms that were never configured are an error at the first queue that has a room."""
    assert dealt("MACHINE_ROOM", numbered(2, "no room"), ids(1)) == {}
    with pytest.raises(AllocationError) as failed:
        dealt("MACHINE_ROOM", numbered(1, "a@b"), ids(1))
    assert failed.value.code == "rooms_unset"


@pytest.mark.parametrize(
    "broker_name, room",
    [("a@b", "a"), ("a@b@", "a"), ("@b", ""), ("a@", None), ("a", None), ("@", None),
     ("a@b@c", None), ("a@@b", None)],
)  # fmt: skip
def test_a_broker_has_a_room_if_two_parts_remain(broker_name: str, room: str | None) -> None:
    """A name has a room if two parts remain after Java's split, which drops empty ends."""
    assert room_of_broker(broker_name) == room


def rooms(count: int, each: int) -> list[MessageQueue]:
    """Return queues 0 to `each` of rooms IDC1 and following."""
    return [
        queue for room in range(1, count + 1) for queue in numbered(each, f"IDC{room}-brokerName")
    ]


def clients_in(room: int, count: int) -> list[str]:
    """Return clients of one room."""
    return ids(count, f"IDC{room}-CID-")


@pytest.mark.parametrize(
    "queues, clients, shares",
    [
        (rooms(3, 3), clients_in(1, 4), [[0, 0, 0], [1, 1, 1], [2, 2, 2]]),
        (
            rooms(2, 3),
            clients_in(1, 2) + clients_in(2, 2) + clients_in(3, 2),
            [[0, 1], [2], [0, 1], [2]],
        ),
        (
            rooms(3, 4),
            clients_in(1, 2) + clients_in(2, 2),
            [[0, 1, 0], [2, 3, 1], [0, 1, 2], [2, 3, 3]],
        ),
        (rooms(2, 3), clients_in(9, 1), [[0, 1, 2, 0, 1, 2]]),
    ],
    ids=["orphans_pile_up", "room_without_queues", "one_orphan_room", "all_orphans"],
)
def test_a_rooms_queues_go_to_its_own_clients(
    queues: list[MessageQueue], clients: list[str], shares: list[list[int]]
) -> None:
    """A room's queues go to its own clients; those of rooms without clients to all of them."""
    assert list(dealt("MACHINE_ROOM_NEARBY", queues, clients).values()) == shares


@pytest.mark.parametrize(
    "text, place",
    [
        ("CID-0-0", 1_900_518_137),
        ("CID-1-0", 1_110_034_835),
        ("10.1.2.3@4567#890-0", 626_098_406),
        ("MessageQueue [topic=TopicA, brokerName=broker-a, queueId=0]", 1_888_944_553),
    ],
)
def test_a_ring_hash_is_the_first_four_bytes_of_md5(text: str, place: int) -> None:
    """The first four bytes of the MD5, the first one the highest."""
    assert ring_hash(text) == place


@pytest.mark.parametrize(
    "nodes, clients, queues, shares",
    [
        (3, ids(10, "CID-"), 20, {"CID-0": [3, 5, 8, 18, 19], "CID-2": [4], "CID-3": [6, 7, 9],
                                  "CID-5": [10, 11, 15, 17], "CID-7": [0, 2, 12],
                                  "CID-8": [1, 13, 14], "CID-9": [16]}),
        (3, ids(9, "CID-", 1), 20, {"CID-2": [4], "CID-3": [3, 5, 6, 7, 8, 9, 18, 19],
                                    "CID-5": [10, 11, 15, 17], "CID-7": [0, 2, 12],
                                    "CID-8": [1, 13, 14], "CID-9": [16]}),
        (10, ids(2, "CID-"), 6, {"CID-0": [1, 3, 4, 5], "CID-1": [0, 2]}),
        (0, ids(2, "CID-"), 6, {}),
    ],
)  # fmt: skip
def test_a_queue_belongs_to_the_next_node_of_the_ring(
    nodes: int, clients: list[str], queues: int, shares: dict[str, list[int]]
) -> None:
    """A queue belongs to the next node on the ring; who leaves takes nothing from the others."""
    assert dealt("CONSISTENT_HASH", numbered(queues), clients, {"virtual_nodes": nodes}) == shares


@pytest.mark.parametrize(
    "name, options, at",
    [
        ("AVG", {"size": 1}, "size: no such option; known: none"),
        ("AVG_BY_CIRCLE", {"size": 1}, "size: no such option"),
        ("CONFIG", {"queues": [["t", "b"]]}, "queues[0]"),
        ("CONFIG", {"queue": []}, "queue: no such option; known: queues"),
        ("MACHINE_ROOM", {"rooms": "a"}, "rooms"),
        ("MACHINE_ROOM_NEARBY", {"inner": "NONE"}, "inner: it must be one of AVG"),
        ("MACHINE_ROOM_NEARBY", {"room": "map", "client_rooms": []}, "client_rooms"),
        ("MACHINE_ROOM_NEARBY", {"room": "zone", "queue_zones": [["t", "z"]]}, "queue_zones[0]"),
        ("CONSISTENT_HASH", {"virtual_nodes": True}, "virtual_nodes"),
    ],
)
def test_a_bad_option_is_named(name: str, options: dict[str, Any], at: str) -> None:
    """A bad option is an error that names it."""
    with pytest.raises(AllocationError) as failed:
        dealt(name, numbered(1), ["a"], options)
    assert (failed.value.code, failed.value.message[: len(at)]) == ("bad_option", at)


def test_a_ring_that_is_too_big() -> None:
    """More nodes than a decision has time for are refused with how many there may be."""
    clients = [f"c{number}" for number in range(11)]
    with pytest.raises(AllocationError, match="at most 90909 with 11 clients") as refused:
        dealt("CONSISTENT_HASH", numbered(1), clients, {"virtual_nodes": 100_000})
    assert refused.value.code == "bad_option"


def test_nearby_over_a_list_that_is_not_there() -> None:
    """Options under which no topic could be dealt are refused before a rule puts them in force."""
    with pytest.raises(AllocationError, match=r"inner_options\.queues"):
        ROCKETMQ["MACHINE_ROOM_NEARBY"].check_options({"inner": "CONFIG"})
    listed = {"inner": "CONFIG", "inner_options": {"queues": [["orders", "main", 0]]}}
    ROCKETMQ["MACHINE_ROOM_NEARBY"].check_options(listed)
