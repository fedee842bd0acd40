"""A member in Java over real HTTP: what it asks, what it does, and what it does not fall into."""

from collections.abc import Callable

import pytest

from tests.java_client.probe import Probe
from tests.java_client.scripted_gateway import JOINED, ScriptedGateway, start, stop

pytestmark = pytest.mark.java

Member = Callable[..., Probe]


def test_it_joins_as_the_contract_says(gateway: ScriptedGateway, member: Member) -> None:
    """A join names client, topics and wishes, and a group's name is safe in the path."""
    member(
        gateway.address, group="a|b%", zone="east", capacity=2, consume_from="timestamp",
        consume_timestamp_ms=5, ordered=True,
    )  # fmt: skip
    asked = gateway.join()
    assert (asked.method, asked.path) == ("POST", "/v1/groups/a%7Cb%25/members")
    process = asked.body.pop("process")
    assert asked.headers["idempotency-key"] == f"{process['uuid']}-{process['joins']}"
    assert process["joins"] == 1
    assert asked.headers["content-type"] == "application/json"
    assert "authorization" not in asked.headers
    assert asked.body == {
        "client_id": "me",
        "topics": [{"topic": "orders", "tags": ["*"]}],
        "consume_from": "timestamp",
        "consume_timestamp_ms": 5,
        "capacity": 2,
        "zone": "east",
        "ordered": True,
        "language": "java",
    }


def test_it_polls_as_the_contract_says(gateway: ScriptedGateway, member: Member) -> None:
    """Each poll echoes the state, raises the sequence, and says position and end of each work."""
    running = member(gateway.address)
    gateway.join()
    first = gateway.poll()
    assert (first.method, first.path) == ("POST", "/v1/sessions/s%2F1/poll")
    assert first.body == {
        "state": "j1",
        "sequence": 2,
        "stopped": [],
        "wait_ms": 3_000,
        "working": [],
    }
    first.news(state="t2", start=[start(3, 120)], more={"unknown": 1.5})
    assert running.next() == ["start", 3, [1, 7], 120]
    second = gateway.poll()
    work = {"queue": ["orders", "main", 3], "epoch": [1, 7], "position": 120}
    assert second.body == {
        "state": "t2",
        "sequence": 3,
        "stopped": [],
        "wait_ms": 3_000,
        "working": [work],
    }
    running.say("progressed", 3, [1, 7], 130, 400)
    assert running.ask("works", 3) == ["works", 3, [1, 7]]
    second.news()
    assert gateway.poll().body["working"] == [{**work, "position": 130, "end": 400}]


def test_it_uses_a_connection_again(gateway: ScriptedGateway, member: Member) -> None:
    """Join and polls that follow one another come over one connection."""
    member(gateway.address)
    ports = {gateway.join().peer}
    for _ in range(5):
        asked = gateway.poll()
        ports.add(asked.peer)
        asked.news()
    assert len(ports) == 1


def test_it_hands_a_queue_over(gateway: ScriptedGateway, member: Member) -> None:
    """Asked to stop, it finishes; its word overtakes the poll under way on another connection."""
    running = member(gateway.address)
    gateway.join()
    gateway.poll().news(start=[start(0, 100), start(1, 100)])
    gateway.poll().news(stop=[stop(0, 30_000)])
    assert running.until("stop")[-1] == ["stop", 0, [1, 7]]
    former = gateway.poll()
    running.say("stopped", 0, [1, 7], 140, 150)
    newer = gateway.poll()
    assert newer.sequence == former.sequence + 1
    assert newer.peer != former.peer
    released = {"queue": ["orders", "main", 0], "epoch": [1, 7], "position": 140, "end": 150}
    assert newer.body["stopped"] == [released]
    newer.news(state="newer")
    last = gateway.poll()
    assert last.body["stopped"] == []
    # The answer to the poll that was given up comes late, and is none.
    former.answer(200, {**_NOTHING, "state": "late", "start": [start(2, 5)], "working": []})
    running.say("subscribe", ["payments"])
    after = gateway.poll()
    assert after.body["state"] == "newer"
    assert [each["queue"][2] for each in after.body["working"]] == [1]
    assert after.body["topics"] == [{"topic": "payments", "tags": ["A"]}]


_NOTHING = {"lease_ms": 9_000, "start": [], "stop": [], "working": []}


def test_at_the_deadline_it_stops_at_once(gateway: ScriptedGateway, member: Member) -> None:
    """A queue that `working` does not name stops at once, and is said to have stopped."""
    running = member(gateway.address)
    gateway.join()
    gateway.poll().news(start=[start(0, 100)])
    gateway.poll().news(stop=[stop(0, 0)], working=[])
    assert running.until("abandon")[-1] == ["abandon", 0, [1, 7]]
    assert running.ask("works", 0) == ["works", 0, None]
    assert [each["position"] for each in gateway.poll().body["stopped"]] == [100]


def test_a_lost_session_is_joined_again(gateway: ScriptedGateway, member: Member) -> None:
    """409 stops everything; when all has stopped, the client joins under another key."""
    running = member(gateway.address)
    key = gateway.join().headers["idempotency-key"]
    gateway.poll().news(start=[start(0, 100)])
    gateway.poll().answer(409, {"type": "urn:fairlead:lost", "reason": "lease_ended"})
    assert running.until("stop_all")[-1] == ["stop_all", "lease_ended", [0]]
    assert running.ask("works", 0) == ["works", 0, None]
    running.say("stopped", 0, [1, 7], 140, None)
    again = gateway.join(session="s2")
    assert again.headers["idempotency-key"] != key
    polled = gateway.next("/v1/sessions/s2/poll")
    assert (polled.body["working"], polled.body["stopped"]) == ([], [])


def test_words_to_a_former_poll_end_nothing(gateway: ScriptedGateway, member: Member) -> None:
    """The gateway refuses the poll that was given up: the session goes on."""
    running = member(gateway.address)
    gateway.join()
    gateway.poll().news(start=[start(0, 100)])
    former = gateway.poll()
    running.say("subscribe", ["payments"])
    newer = gateway.poll()
    former.answer(409, {"reason": "session_elsewhere"})
    newer.news(state="newer")
    assert gateway.poll().body["state"] == "newer"
    assert running.ask("works", 0) == ["works", 0, [1, 7]]


def test_a_duplicate_stays_out(gateway: ScriptedGateway, member: Member) -> None:
    """Another process has the client id: the client is closed, and says so."""
    running = member(gateway.address)
    gateway.join()
    gateway.poll().answer(409, {"reason": "duplicate_client_id"})
    assert running.until("close")[-1] == ["close", "duplicate_client_id"]
    assert running.ask("await", 0) == ["await", True, "duplicate_client_id"]
    assert gateway.asked.empty()


def test_it_leaves(gateway: ScriptedGateway, member: Member) -> None:
    """Closed, it finishes its work, says its last words once more if they get lost, and ends."""
    running = member(gateway.address)
    gateway.join()
    gateway.poll().news(state="t2", start=[start(0, 100)])
    gateway.poll()
    running.say("leave", 0)
    assert running.until("stop")[-1] == ["stop", 0, [1, 7]]
    leaving = gateway.poll()
    assert leaving.body["leaving"] is True
    running.say("stopped", 0, [1, 7], 133, None)
    words = gateway.next("/v1/sessions/s%2F1")
    assert words.method == "DELETE"
    released = {"queue": ["orders", "main", 0], "epoch": [1, 7], "position": 133}
    assert words.body == {"state": "t2", "sequence": leaving.sequence + 1, "stopped": [released]}
    words.cut()
    again = gateway.next("/v1/sessions/s%2F1")
    assert again.method == "DELETE"
    assert again.body["stopped"] == [released]
    again.answer(204)
    assert running.until("close")[-1] == ["close", "left"]
    assert running.ask("await", 10_000) == ["await", True, "left"]


def test_it_hands_over_when_it_leaves(gateway: ScriptedGateway, member: Member) -> None:
    """It says at once that it leaves, and works on until it hears of each stop, or is hurried."""
    running = member(gateway.address)
    gateway.join()
    gateway.poll().news(start=[start(0, 100), start(1, 200)])
    gateway.poll()
    running.say("leave", 60_000)
    leaving = gateway.poll()
    assert leaving.body["leaving"] is True
    assert running.ask("works", 0) == ["works", 0, [1, 7]]
    running.say("progressed", 0, [1, 7], 140, None)
    leaving.news(stop=[stop(0, 30_000)])
    assert running.until("stop")[-1] == ["stop", 0, [1, 7]]
    running.say("stopped", 0, [1, 7], 141, None)
    while not (words := gateway.poll().body)["stopped"]:
        pass
    assert [each["queue"][2] for each in words["working"]] == [1]
    running.say("leave", 0)
    assert running.next() == ["stop", 1, [1, 7]]


def test_without_answers_the_lease_ends(gateway: ScriptedGateway, member: Member) -> None:
    """A gateway that takes polls and never answers cannot keep a client at work."""
    running = member(gateway.address)
    gateway.join(lease_ms=2_000, poll_ms=500)
    gateway.poll().news(start=[start(0, 100)], lease_ms=2_000)
    assert running.until("stop_all")[-1] == ["stop_all", "lease_ended", [0]]
    assert running.ask("works", 0) == ["works", 0, None]


def test_requests_that_were_given_up_free_their_threads(
    gateway: ScriptedGateway, member: Member
) -> None:
    """However many polls a client gives up, few threads wait for their answers."""
    running = member(gateway.address)
    gateway.join()
    gateway.poll()
    for number in range(40):
        running.say("subscribe", [f"topic-{number}"])
        assert gateway.poll().body["topics"][0]["topic"] == f"topic-{number}"
    kind, count = running.ask("threads")
    assert kind == "threads"
    # A thread that was freed takes a moment to end its request, and then waits for another one.
    assert count <= 20


def test_a_join_without_an_answer_keeps_its_key(gateway: ScriptedGateway, member: Member) -> None:
    """Joins that may or may not have arrived make one session: they have one key."""
    member(gateway.address)
    keys = []
    for _ in range(3):
        asked = gateway.next("/members")
        keys.append(asked.headers["idempotency-key"])
        asked.cut()
    last = gateway.next("/members")
    assert {*keys} == {last.headers["idempotency-key"]}
    last.answer(201, JOINED)
    assert gateway.poll().body["state"] == "j1"
