"""What commands write of a recording, and what serve answers over HTTP, is as the schema says."""

import contextlib
import http.client
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from typer.testing import CliRunner

from fairlead.access.guard import guarded
from fairlead.cli.main import app
from fairlead.cli.render.applied_plan import show_applied, show_done
from fairlead.cli.render.output import OutputFormat
from fairlead.control.control_session import RuleOutcome
from fairlead.core.model import MessageQueue
from fairlead.core.records import RuleSet
from fairlead.errors import VerdictError
from fairlead.http.event_streams import EventStreams
from fairlead.http.server import HttpServer, start_server
from fairlead.kafka.topic_follower import Following
from fairlead.operating.applied_plan import AppliedPlan, PlanInForce
from fairlead.planning.changes import Changes
from fairlead.planning.saved_plan import PlannedMove, SavedPlan
from fairlead.serve.api import application
from fairlead.serve.serve_metrics import ServeMetrics
from fairlead.serve.shared_view import SharedView
from fairlead.settings import ServeSettings, load_settings
from fairlead.wire.decision_records import decisions_of
from strategies.registry import STRATEGIES
from tests.answers.schema import assert_answer, assert_answers
from tests.kit.live_group import GROUP, TICK_MS
from tests.kit.memory_source import MemorySource
from tests.kit.memory_topics import NAMES, PARTITIONS
from tests.kit.moving_world import moving_life, recorded
from tests.kit.observed_world import Reader

QUEUE = MessageQueue("orders", "main", 0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of a group whose queues moved for many reasons."""
    return recorded(moving_life(), tmp_path_factory.mktemp("run") / "recording").folder


@pytest.mark.parametrize(
    "words, name",
    [
        ("group list", "Group"),
        (f"group describe {GROUP}", "GroupDescribed"),
        (f"group describe {GROUP} --state", "GroupState"),
        (f"group describe {GROUP} --queues", "Queue"),
        (f"group describe {GROUP} --members", "Member"),
        (f"group show {GROUP}", "Rule"),
        (f"group check {GROUP}", "Verdict"),
        ("group check --all", "Verdict"),
        (f"watch {GROUP} --since 1h", "Decision"),
        (f"offsets show {GROUP}", "QueuePlace"),
        (f"plan {GROUP} --join c9", "Plan"),
        (f"explain {GROUP} --queue 0", "Story"),
        (f"moves {GROUP} --since 1h", "Move"),
    ],
)
def test_lines(folder: Path, words: str, name: str) -> None:
    """Each line of ``-o jsonl`` is one object of the kind that the schema names."""
    assert_answers(name, map(json.loads, _written(words, folder, "jsonl").splitlines()))


def test_check_of_all(folder: Path) -> None:
    """A check of all groups is one document."""
    assert_answer("Check", json.loads(_written("group check --all", folder, "json")))


def _written(words: str, folder: Path, output: str) -> str:
    ended = CliRunner().invoke(app, [*words.split(), "--dump", str(folder), "-o", output])
    if ended.exception is not None and not isinstance(ended.exception, VerdictError):
        raise ended.exception
    return ended.stdout


@pytest.fixture(scope="module")
def server() -> Iterator[HttpServer]:
    """A server of the same group."""
    settings = load_settings()
    where = ServeSettings(**{**settings.serve.model_dump(), "host": "127.0.0.1", "port": 0})
    following = Following(caught_up=True, trouble="", topics={}, read=0, wanted=0)
    metrics = ServeMetrics(lambda: following)
    streams = EventStreams(settings.http.connections, metrics.streams)
    held = SharedView(where, TICK_MS, STRATEGIES)
    held.begin(NAMES, PARTITIONS)
    held.apply(Reader(moving_life()).rows())
    held.follow()
    view = application(held, lambda: following, metrics, streams, settings)
    asked = guarded(view, settings)
    running = start_server(asked, where, "serve", settings.http)
    yield running
    running.stop()


@pytest.mark.parametrize(
    "path, name",
    [
        ("/", "Index"),
        ("/healthz", "Health"),
        ("/readyz", "Readiness"),
        ("/api/v1/groups", "Groups"),
        ("/api/v1/me", "Me"),
        ("/api/v1/safety", "Safety"),
        ("/api/v1/history", "Activity"),
        (f"/api/v1/groups/{GROUP}", "GroupDescribed"),
        (f"/api/v1/groups/{GROUP}/decisions", "Decisions"),
        (f"/api/v1/groups/{GROUP}/decisions?since_ms=x", "Error"),
        ("/api/v1/groups/nobody", "Error"),
        ("/api/v1/groups/no body", "Error"),
        ("/nothing", "Error"),
        ("/api/v1/groups/a/b/c", "Error"),
    ],
)
def test_http(server: HttpServer, path: str, name: str) -> None:
    """Each path answers the object that the schema names."""
    assert_answer(name, _get(server, path))


def test_times_of_the_groups(server: HttpServer) -> None:
    """The time of a list is that of its newest record, as of a group; the clock has another key."""
    listed = _get(server, "/api/v1/groups")
    assert listed["as_of_ms"] == _get(server, f"/api/v1/groups/{GROUP}")["as_of_ms"]
    assert listed["as_of_ms"] < listed["now_ms"]
    assert 0 <= time.time_ns() // 1_000_000 - listed["now_ms"] < 60_000


@pytest.mark.parametrize(
    "method, path, status",
    [
        ("GET", "/nothing", 404),
        ("GET", f"/api/v1/groups/{GROUP}/nothing", 404),
        ("GET", "/api/v1/groups/nobody", 404),
        ("POST", "/api/v1/groups", 405),
        ("DELETE", f"/api/v1/groups/{GROUP}", 405),
    ],
)
def test_http_refusals(server: HttpServer, method: str, path: str, status: int) -> None:
    """Each refusal is JSON with a remedy, which tells of HTTP and not of a command's flags."""
    told, document = _asked(server, method, path)
    assert told == status
    assert_answer("Error", document)
    assert document["remedy"]
    assert "--" not in document["remedy"]


def test_commands_and_http_say_the_same(server: HttpServer, folder: Path) -> None:
    """A group over HTTP has the keys of its description by the command, down to each queue."""
    served = _get(server, f"/api/v1/groups/{GROUP}")
    shown = json.loads(_written(f"group describe {GROUP}", folder, "json"))
    assert served.keys() == shown.keys()
    assert [each["says"] for each in served["rules"]] == [each["says"] for each in shown["rules"]]
    assert [each["queue"] for each in served["queue_list"]] == [
        each["queue"] for each in shown["queue_list"]
    ]


def _get(server: HttpServer, path: str) -> Any:
    return _asked(server, "GET", path)[1]


def _asked(server: HttpServer, method: str, path: str) -> tuple[int, Any]:
    port = int(server.url.rpartition(":")[2])
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as asked:
        # A change has to be declared as JSON, even without a body.
        kind = {} if method == "GET" else {"Content-Type": "application/json"}
        asked.request(method, quote(path, safe="/?="), headers=kind)
        answer = asked.getresponse()
        return answer.status, json.loads(answer.read())


def test_applied_plans(capsys: pytest.CaptureFixture[str]) -> None:
    """What came of a plan: written, only shown, and applied before."""
    source = MemorySource(moving_life().topics)
    decisions = tuple(decisions_of(GROUP, source.read("decisions", [0])))
    pin = RuleSet(GROUP, "pin", ("orders", "main", "0"), None, "alice")
    move = PlannedMove(QUEUE, "c1", "c3")
    saved = SavedPlan(GROUP, decisions[0].epoch, time.time_ns() // 1_000_000, Changes(), (move,))
    outcome = RuleOutcome(pin, "in_force", (), decisions)
    for dry_run in (False, True):
        done = AppliedPlan(saved, (outcome,), (move,), "t.control", dry_run)
        show_applied(done, OutputFormat.JSONL)
    show_done(PlanInForce(saved, decisions), OutputFormat.JSONL)
    assert_answers("AppliedPlan", map(json.loads, capsys.readouterr().out.splitlines()))
