"""What a holder of a token tries through the door: nothing of it reaches another's group or log."""

import gzip
import http.client
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from fairlead.gateway.session_log import incarnation_of_session
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import load_settings
from tests.access.access_files import made_token, principal_text
from tests.kit.gateway_server import gateway_serving
from tests.kit.http_caller import Answer, Asking
from tests.kit.kafka_log import Log

if TYPE_CHECKING:
    from fairlead.broker import EmbeddedKafka

MINE, OTHERS, POOR, MANY, LEAVING = (made_token() for _ in range(5))
ENDLESS = 10**9
WORK = {"queue": ["orders", "main", 0], "epoch": [1, 1], "position": ENDLESS}


class Door(NamedTuple):
    """A guarded gateway, and the log behind it."""

    port: int
    log: Log
    access: Path

    def of(self, token: str, **headers: str) -> Asking:
        """Return a caller with a token."""
        return Asking(self.port, authorization=f"Bearer {token}", **headers)

    def join(self, token: str, group: str, **more: Any) -> Answer:
        """Join a group."""
        body = {"client_id": "a", "topics": [{"topic": "orders"}], **more}
        return self.of(token)("POST", f"/v1/groups/{group}/members", body)

    def poll(self, token: str, session: str, state: str, sequence: int = 1, **words: Any) -> Answer:
        """Poll without waiting for news."""
        body = {"state": state, "sequence": sequence, "wait_ms": 0, **words}
        return self.of(token)("POST", f"/v1/sessions/{session}/poll", body)

    def written(self) -> dict[str, int]:
        """Return how many records stand in each topic that a gateway writes."""
        return {each: len(self.log.records(each)) for each in ("heartbeats", "releases")}


@pytest.fixture(scope="module")
def door(kafka: "EmbeddedKafka", tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """A gateway that knows three principals; all may join the groups of orders."""
    prefix = f"attacked-{uuid.uuid4().hex[:8]}."
    create_topics(
        {"bootstrap_servers": kafka.bootstrap}, prefix, topic_specs(load_settings().topics), 1
    )
    access = tmp_path_factory.mktemp("door") / "access.toml"
    few = "limits = { sessions = 1, streams = 1 }"
    access.write_text(
        principal_text("mine", 'consume = ["orders*"]', token=MINE[1])
        + principal_text("others", 'consume = ["orders*"]', token=OTHERS[1])
        + principal_text("poor", 'consume = ["orders*"]', few, token=POOR[1])
        + principal_text("many", 'consume = ["orders*"]', few, token=MANY[1])
        + principal_text("leaving", 'consume = ["orders*"]', token=LEAVING[1])
    )
    settings = load_settings(
        overrides={"kafka.bootstrap": kafka.bootstrap, "kafka.topic_prefix": prefix}
    ).kafka
    with (
        gateway_serving(kafka.bootstrap, prefix, access__file=str(access)) as url,
        Log(settings) as log,
    ):
        yield Door(int(url.rpartition(":")[2]), log, access)


def kind_of(answer: Answer) -> str:
    """Return the type of a problem."""
    kind: str = answer.document["type"].rpartition(":")[2]
    return kind


@pytest.mark.broker
def test_nobody_speaks_for_the_session_of_another(door: Door) -> None:
    """Attack C2: a guessed session, another's session and another's state are refused unwritten."""
    joined = door.join(MINE[0], "orders-1").document
    session, state = joined["session"], joined["state"]
    own = door.join(OTHERS[0], "orders-1", client_id="b").document
    before = door.written()
    stolen = door.poll(OTHERS[0], session, state, leaving=True, stopped=[WORK])
    assert (stolen.status, kind_of(stolen)) == (403, "not_yours")
    swapped = door.poll(OTHERS[0], own["session"], state, leaving=True)
    assert (swapped.status, kind_of(swapped)) == (403, "not_yours")
    guessed = door.poll(OTHERS[0], incarnation_of_session(), own["state"])
    assert (guessed.status, kind_of(guessed)) == (403, "not_yours")
    ended = door.of(OTHERS[0])(
        "DELETE", f"/v1/sessions/{session}", {"state": own["state"], "sequence": 1}
    )
    assert (ended.status, kind_of(ended)) == (403, "not_yours")
    watched = door.of(OTHERS[0])("GET", f"/v1/sessions/{session}/events")
    assert watched.status == 404
    assert door.written() == before
    assert door.poll(MINE[0], session, state).status == 200


@pytest.mark.broker
@pytest.mark.parametrize(
    "change", [lambda text: text[:-2] + "AA", lambda text: text[1:], str.upper]
)
def test_a_forged_state_opens_nothing(door: Door, change: Any) -> None:
    """A state that no gateway of this key has written ends the session for whoever shows it."""
    joined = door.join(MINE[0], "orders-1", client_id="forger").document
    forged = door.poll(MINE[0], joined["session"], change(joined["state"]))
    assert (forged.status, forged.document["reason"]) == (409, "bad_state")


@pytest.mark.broker
def test_no_release_of_what_was_never_granted(door: Door) -> None:
    """Attack C1: stopped at the end of all offsets, without a grant: no release is written."""
    joined = door.join(MINE[0], "orders-2", client_id="liar").document
    answer = door.poll(
        MINE[0], joined["session"], joined["state"], stopped=[WORK], working=[WORK], leaving=True
    )
    assert answer.status in (200, 422)
    releases = [each for each in door.log.bodies("releases") if each["group"] == "orders-2"]
    assert releases == []
    told = [
        each
        for each in door.log.bodies("heartbeats")
        if each["group"] == "orders-2" and each["kind"] == "progress"
    ]
    assert [queue for each in told for queue in each["queues"]] == []


@pytest.mark.broker
def test_no_record_is_larger_or_packed(door: Door) -> None:
    """Attacks C3 and H2: what is too large, or compressed, is refused; written is plain text."""
    joined = door.join(MINE[0], "orders-3", client_id="packer").document
    large = door.poll(MINE[0], joined["session"], "x" * 300_000)
    assert large.status == 413
    packed = gzip.compress(b" " * 10_000_000)
    with closing(http.client.HTTPConnection("127.0.0.1", door.port, timeout=20)) as connection:
        headers = {"authorization": f"Bearer {MINE[0]}", "content-encoding": "gzip"}
        connection.request("POST", "/v1/groups/orders-3/members", packed, headers)
        assert connection.getresponse().status in (400, 415, 422)
    assert door.poll(MINE[0], joined["session"], joined["state"]).status == 200
    values = [each.value for each in door.log.records("heartbeats")]
    assert all(value.startswith(b"{") and len(value) < 10_000 for value in values)


@pytest.mark.broker
@pytest.mark.parametrize(
    "method, path",
    [
        ("POST", "/v1/groups/orders-4/ticks"),
        ("POST", "/v1/ticks"),
        ("PUT", "/v1/groups/orders-4/rules"),
        ("POST", "/v1/groups/orders-4/offsets/reset"),
        ("POST", "/v1/groups/billing/members"),
        ("POST", "/v1/groups/orders-4%2F..%2Fbilling/members"),
        ("GET", "/v1/groups/orders-4"),
        ("GET", "/v1/groups/orders-4%0A"),
        ("GET", "/api/v1/groups/orders-4/decisions%0A"),
        ("GET", "/metrics%0A"),
        ("GET", "/metrics"),
    ],
)
def test_a_client_writes_nothing_but_its_own_words(door: Door, method: str, path: str) -> None:
    """Attack H1: no path writes a tick, and the right to consume changes and shows no group."""
    words = {"generation": 1_000_000, "client_id": "a", "topics": [{"topic": "orders"}]}
    before = len(door.log.records("control"))
    answer = door.of(MINE[0])(method, path, None if method == "GET" else words)
    assert answer.status in (400, 403, 404, 422), answer
    assert len(door.log.records("control")) == before


@pytest.mark.broker
def test_no_field_of_a_join_reaches_the_engines_words(door: Door) -> None:
    """Attack H1: a generation, a kind or a principal in a join is refused by its name."""
    for field in ("generation", "kind", "principal", "incarnation", "lease_ms"):
        answer = door.join(MINE[0], "orders-5", **{field: 1_000_000})
        assert (answer.status, answer.document["field"]) == (422, field)


@pytest.mark.broker
def test_a_principal_has_as_many_sessions_and_streams_as_its_limits_allow(door: Door) -> None:
    """The next one is refused with 429, says when to try again, and hurts no other principal."""
    first = door.join(POOR[0], "orders-6").document
    second = door.join(POOR[0], "orders-6", client_id="b")
    assert (second.status, kind_of(second)) == (429, "too_many_sessions")
    path = f"/v1/sessions/{first['session']}/events"
    headers = {"authorization": f"Bearer {POOR[0]}"}
    with closing(http.client.HTTPConnection("127.0.0.1", door.port, timeout=20)) as connection:
        connection.request("GET", path, headers=headers)
        assert connection.getresponse().status == 200
        refused = door.of(POOR[0])("GET", path)
        assert (refused.status, kind_of(refused)) == (429, "too_many_streams")
    assert door.join(MINE[0], "orders-6", client_id="c").status == 201
    words = {"state": first["state"], "sequence": 1}
    assert door.of(POOR[0])("DELETE", f"/v1/sessions/{first['session']}", words).status == 204
    assert door.join(POOR[0], "orders-6", client_id="b").status == 201


@pytest.mark.broker
def test_joins_that_come_together_are_counted_one_by_one(door: Door) -> None:
    """The limit holds for those that are under way at one time."""
    with ThreadPoolExecutor(8) as threads:
        joins = [
            threads.submit(door.join, MANY[0], "orders-7", client_id=f"c{number}")
            for number in range(8)
        ]
        statuses = sorted(each.result().status for each in joins)
    assert statuses == [201] + [429] * 7


@pytest.mark.broker
def test_a_stream_ends_with_the_right_of_its_caller(door: Door) -> None:
    """A principal that is taken out of the access file hears no more news."""
    joined = door.join(LEAVING[0], "orders-8").document
    path = f"/v1/sessions/{joined['session']}/events"
    headers = {"authorization": f"Bearer {LEAVING[0]}"}
    with closing(http.client.HTTPConnection("127.0.0.1", door.port, timeout=30)) as connection:
        connection.request("GET", path, headers=headers)
        stream = connection.getresponse()
        assert stream.status == 200
        text = door.access.read_text()
        door.access.write_text(text[: text.index('[[principal]]\nname = "leaving"')])
        # It returns once the gateway has ended the stream in order.
        assert stream.read().startswith(b": alive")
    assert door.of(LEAVING[0])("GET", path).status == 401
