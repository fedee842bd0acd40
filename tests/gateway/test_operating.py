"""Operating over HTTP, with the real log, job and bridge: the command's records and answers."""

import contextlib
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
import pytest
from fairlead_client import Consumer

from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.errors import ExitCode
from fairlead.gateway.operations import Operations
from fairlead.gateway.operator_api import OperatorApi
from fairlead.http.server import start_server
from strategies.sticky.strategy import Sticky
from tests.answers.schema import assert_answer, assert_answers
from tests.gateway.operator_words import CHANGES, REFUSALS
from tests.kit.command import Command
from tests.kit.http_caller import Asking
from tests.kit.kafka_topics import commit
from tests.kit.live_system import WAIT_MS, LiveSystem, live_system
from tests.kit.serve_process import Served, serving

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka

QUEUES = 2
NOW = {"wait_ms": 0}


class OnlyHere(Sticky):
    """A strategy that the gateway's settings name, and the engine's do not."""

    name = "ONLY_HERE"


class _Principal:
    """May operate each group, and observe those that do not begin with secret."""

    def __init__(self, name: str) -> None:
        self.name = name

    def may(self, right: str, group: str) -> bool:
        """Tell so; a reader only observes."""
        seen = not group.startswith("secret")
        return seen if right == "observe" else self.name != "reader"


class _ByHeader:
    """Takes the principal from a header, as the real guard takes it from a token."""

    def caller(self, scope: dict[str, Any]) -> _Principal:
        """Return it."""
        return _Principal(dict(scope["headers"])[b"principal"].decode())


class Place(NamedTuple):
    """The running system, a server of operators' requests, and `fairlead serve`."""

    system: LiveSystem
    port: int
    served: Served

    def consumer(self, group: str, **given: Any) -> Consumer:
        """Return a client that reads the topic from its beginning."""
        kafka = self.system.settings.kafka
        return Consumer(
            bootstrap=kafka.bootstrap,
            prefix=kafka.topic_prefix,
            group=group,
            topics=[self.system.topic],
            consume_from="first_offset",
            **given,
        )

    def written(self) -> "list[ConsumerRecord]":
        """Return everything in the control topic."""
        return self.system.log.records("control")


@pytest.fixture(scope="module")
def place(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Place]:
    """One run for all tests of this module; each test has groups of its own."""
    folder = tmp_path_factory.mktemp("run")
    with contextlib.ExitStack() as stack:
        system = stack.enter_context(
            live_system(spark_of_the_run, kafka.bootstrap, folder, queues=QUEUES, messages=10)
        )
        # The broker makes its topic of commits at the first one, which takes a moment.
        commit(kafka.bootstrap, "some", system.topic, {0: (0, "")})
        data = DataCluster(kafka.bootstrap, timeout_ms=10_000, options={})
        engine = system.settings.engine.model_copy(update={"strategies": [f"{__name__}:OnlyHere"]})
        own = system.settings.model_copy(update={"engine": engine})
        operations = Operations(own, lambda: contextlib.closing(data.again()))
        api = OperatorApi(_ByHeader(), operations, None)
        where = system.settings.serve.model_copy(update={"port": 0})
        server = start_server(api, where, "serve", system.settings.http, bodies_under=["/v1/"])
        stack.callback(server.stop)
        prefix = system.settings.kafka.topic_prefix
        served = stack.enter_context(
            serving(folder, kafka.bootstrap, prefix, "FAIRLEAD__GATEWAY__ENABLED=true")
        )
        served.wait("/readyz", 200)
        yield Place(system, int(server.url.rpartition(":")[2]), served)


@pytest.fixture
def alice(place: Place) -> Asking:
    """Somebody who may operate."""
    return Asking(place.port, principal="alice")


def _new(place: Place, before: int, group: str) -> list[tuple[Any, Any]]:
    """Return key and value of each record since, with G for the name of the group."""
    pairs = [(orjson.loads(each.key), orjson.loads(each.value)) for each in place.written()]
    found = [(["G", *key[1:]], {**value, "group": "G"}) for key, value in pairs if key[0] == group]
    return found[before:]


def test_each_change_writes_the_record_of_the_command(
    place: Place, alice: Asking, capsys: pytest.CaptureFixture[str]
) -> None:
    """Command and HTTP write the same keys and values; over HTTP `by` is the principal."""
    command = Command("group", place.system.settings, capsys)
    commanded, asked = 0, 0
    for words, method, path, body in CHANGES:
        verb, *more = words
        absent = ["--absent-ok"] if verb in ("set", "drain") else []
        said = [*more, *absent, "--by", "alice", "--because", "a reason", "--wait", "0"]
        rows = command(verb, "by-command", *said, code=ExitCode.ENVIRONMENT)
        answer = alice(method, f"/v1/groups/by-http/{path}", {**body, **NOW, "because": "a reason"})
        # No engine has answered by then, and both say so.
        assert answer.status == 202, answer
        assert any("stands in the log all the same" in each for each in answer.notes)
        assert_answers("RuleOutcome", answer.document)
        changed = [(row["rule"], row["for"], row["value"], row["answer"]) for row in rows]
        assert changed == [
            (row["rule"], row["for"], row["value"], row["answer"]) for row in answer.document
        ]
        by_command = _new(place, commanded, "by-command")
        by_http = _new(place, asked, "by-http")
        assert by_command, words
        assert by_http == by_command
        assert {value["by"] for _, value in by_http} == {"alice"}
        commanded, asked = commanded + len(by_command), asked + len(by_http)


def test_resets_are_those_of_the_command(
    place: Place, alice: Asking, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dry run, which is the default, shows what the command shows; then both write the same."""
    topic = place.system.topic
    words = ("--to", "4", "--topic", topic, "--new-group", "--by", "alice", "--wait", "0")
    command = Command("offsets", place.system.settings, capsys)
    reset, body = "/v1/groups/reset-http/offsets/reset", {"to": "4", "new_group": True}
    for which in ({"topics": [topic]}, {"queues": [[topic, "main", n] for n in range(QUEUES)]}):
        dry = alice("POST", reset, {**body, **which})
        assert (dry.status, dry.document) == (200, command("reset", "reset-command", *words))
        assert 'nothing is written; "dry_run": false writes it' in dry.notes[-1]
    assert _new(place, 0, "reset-http") == []
    command("reset", "reset-command", *words, "--apply", code=ExitCode.ENVIRONMENT)
    done = alice("POST", reset, {**body, "topics": [topic], "dry_run": False, **NOW})
    assert done.status == 202
    assert_answers("Reset", done.document)
    by_http = _new(place, 0, "reset-http")
    assert len(by_http) == QUEUES
    assert by_http == _new(place, 0, "reset-command")


def test_dry_runs_write_nothing(place: Place, alice: Asking) -> None:
    """Each change can be tried: it answers with what would be written, and writes nothing."""
    before = len(place.written())
    for _, method, path, body in CHANGES:
        if method == "DELETE" or path in ("resume", "undrain"):
            continue
        tried = alice(method, f"/v1/groups/tried/{path}", {**body, "dry_run": True})
        assert tried.status == 200, tried
        assert {each["answer"] for each in tried.document} == {"not_written"}
    assert len(place.written()) == before


@pytest.mark.slow
def test_a_plan_is_that_of_the_command(
    place: Place, alice: Asking, capsys: pytest.CaptureFixture[str]
) -> None:
    """With joins, leaves, a topic that grows and rules: the same document, and nothing written."""
    topic = place.system.topic
    with place.consumer("planned", client_id="c1") as consumer:
        assert consumer.poll(WAIT_MS) is not None
        before = len(place.written())
        words = ["--join", "c2,zone=east", "--join", "c3", "--leave", "c1", "--route", f"{topic}=4"]
        words += ["--strategy", "STICKY", "--pin", f"{topic}/main/3=c3"]
        found = Command("plan", place.system.settings, capsys)("planned", *words)
        body = {
            "joins": [{"client_id": "c2", "zone": "east"}, {"client_id": "c3"}],
            "leaves": ["c1"],
            "routes": [{"topic": topic, "queues": 4}],
            "rules": [
                {"rule": "strategy", "value": {"name": "STICKY", "options": {}}},
                {"rule": "pin", "value": {"queue": [topic, "main", 3], "client_id": "c3"}},
            ],
        }
        answer = alice("POST", "/v1/groups/planned/plan", body)
        assert answer.status == 200, answer
        assert_answer("Plan", answer.document)
        # A note may say for how long an engine under load has been silent.
        assert {**answer.document, "notes": []} == {**found, "notes": []}
        assert len(place.written()) == before

        # The engine answers, and the client obeys.
        drained = alice("POST", "/v1/groups/planned/drain", {"client_id": "c1"})
        assert (drained.status, drained.document["field"]) == (409, "leave_unread")
        assert 'send "leave_unread": true' in drained.document["remedy"]
        ruled = alice("POST", "/v1/groups/planned/drain", {"client_id": "c1", "leave_unread": True})
        assert ruled.status == 200, ruled
        (row,) = ruled.document
        assert (row["answer"], row["by"], row["queues_moved"]) == ("in_force", "alice", 0)
        shown = alice("GET", "/v1/groups/planned/rules")
        assert_answers("Rule", shown.document)
        rows = Command("group", place.system.settings, capsys)("show", "planned")
        assert shown.document == rows


def test_refusals_say_what_would_fit(place: Place, alice: Asking) -> None:
    """Each names the field, and its remedy speaks of fields, never of flags; none writes."""
    alice("POST", "/v1/groups/known-1/pause", {"new_group": True, **NOW})
    alice("POST", "/v1/groups/secret-known-1/pause", {"new_group": True, **NOW})
    before = len(place.written())
    for method, path, body, status, kind, field, words in REFUSALS:
        answer = alice(method, f"/v1/groups/{path}".replace(" ", "%20"), body)
        told = answer.document
        assert (answer.status, told["type"]) == (status, f"urn:fairlead:{kind}"), (path, body, told)
        assert told.get("field") == field, (path, body, told)
        assert words in f"{told['detail']} {told['remedy']}", told
        assert "--" not in told["remedy"], told
        assert "secret" not in told["remedy"], told
        assert_answer("Error", told)
    assert len(place.written()) == before


def test_who_may_only_observe_changes_nothing(place: Place) -> None:
    """A plan needs the right to observe; all that writes needs the right to operate."""
    reader = Asking(place.port, principal="reader")
    before = len(place.written())
    for _, method, path, body in CHANGES:
        refused = reader(method, f"/v1/groups/known-2/{path}", body)
        assert (refused.status, refused.document["type"]) == (403, "urn:fairlead:forbidden")
    assert reader("POST", "/v1/groups/known-2/plan", {}).status == 404
    assert reader("POST", "/v1/groups/secret-2/plan", {}).status == 403
    assert len(place.written()) == before


def test_a_rule_that_the_engine_refuses_is_told_with_its_record(alice: Asking) -> None:
    """What only the engine knows to be wrong is 409, with what came of each rule."""
    rules = [
        {"rule": "slots", "value": "group"},
        {"rule": "strategy", "value": {"name": "ONLY_HERE"}},
    ]
    body = {"rules": rules, "new_group": True, "wait_ms": 10_000}
    answer = alice("PUT", "/v1/groups/mistaken/rules", body)
    told = answer.document
    assert (answer.status, told["type"]) == (409, "urn:fairlead:refused_by_engine"), told
    assert told["field"].startswith("rules[1].value"), told
    _, row = told["outcomes"]
    assert (row["answer"], row["refused"]["reason"]) == ("refused", "unknown_strategy")
    assert_answer("Error", told)


def test_reading_is_the_same_with_and_without_the_gateway(place: Place) -> None:
    """Lists, descriptions and decisions under /v1 are those under /api/v1; so are events."""
    group = "read"
    with place.consumer(group) as consumer:
        assert consumer.poll(WAIT_MS) is not None
        place.served.wait(f"/api/v1/groups/{group}", 200)
        ask = Asking(place.served.port)
        listed = ask("GET", "/v1/groups")
        assert group in [each["group"] for each in listed.document["groups"]]
        assert_answer("Groups", listed.document)
        assert_answer("GroupDescribed", ask("GET", f"/v1/groups/{group}").document)
        decided = ask("GET", f"/v1/groups/{group}/decisions").document
        assert decided == ask("GET", f"/api/v1/groups/{group}/decisions").document
        first = decided["decisions"][0]
        path = f"/v1/groups/{group}/events"
        with socket.create_connection(("127.0.0.1", place.served.port)) as stream:
            after = first["at"][2] - 1
            head = f"GET {path} HTTP/1.1\r\nhost: localhost\r\nlast-event-id: {after}\r\n\r\n"
            stream.sendall(head.encode())
            told = b""
            while b"event: decision" not in told:
                told += stream.recv(4_096)
            assert f"id: {first['at'][2]}\n".encode() in told
