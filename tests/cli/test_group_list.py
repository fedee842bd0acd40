"""`fairlead group list`: which groups it shows and how, from serve or from the topics."""

import http.server
import io
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from kafka import KafkaProducer

from fairlead.broker.ports import free_ports
from fairlead.cli.group.list_groups import Order, chosen_groups
from fairlead.cli.main import main
from fairlead.cli.render.group import bridge_lines, engine_line, group_rows
from fairlead.cli.render.output import OutputFormat, write_fitting, write_rows
from fairlead.cli.sources.served_view import NobodyServesError, ask_serve, group_path, other_topics
from fairlead.errors import EnvironmentMissingError
from fairlead.observed.bridge_liveness import BridgeLiveness, BridgeVerdict
from fairlead.settings import load_settings
from fairlead.wire.topics import TopicNames
from tests.answers.schema import assert_answer
from tests.kit.awaiting import ended
from tests.kit.decision_bodies import encoded_decision

ROOT = Path(__file__).parents[2]
NOW_MS = 1_781_000_100_000
MANY = 2_000
FEW = 20


def _group(name: str, **changes: Any) -> dict[str, Any]:
    """Return a group at rest, as serve tells it."""
    engine = {"ticked_ms": NOW_MS - 300, "silent": False, "silent_ms": None, "says": "ticks"}
    last = {"append_ms": NOW_MS - 65_000, "triggers": ["client_joined"], "queues_moved": 2}
    return {
        "group": name, "phase": "stable", "phase_since_ms": NOW_MS - 65_000, "strategy": "AVG",
        "mode": "cooperative", "message_model": "clustering", "members": 3, "members_idle": 1,
        "queues": 8, "queues_unassigned": 0, "queues_draining": 0, "queues_gated": 0,
        "queues_in_handover": 0,
        "queues_unsafe": 0, "epoch": [3, 41], "converged": True, "skew": 1, "alarms": [],
        "problems": [], "other_alarms": [], "engine": engine, "released": None,
        "lag_messages": 120, "lag_ms": 840, "lag_at_least": False, "last_rebalance": last,
        "as_of_ms": NOW_MS,
        **changes,
    }  # fmt: skip


OFFLINE = _group(
    "billing", phase="empty", members=0, members_idle=0, lag_messages=9_000, problems=["offline"]
)
MUTE = _group("orders-eu", members=7, problems=["mute_member"], queues_gated=2, last_rebalance=None)
CALM = _group("orders")
GROUPS = [OFFLINE, CALM, MUTE]


def _names(**asked: Any) -> list[str]:
    wanted = {"pattern": None, "phases": (), "sort": Order.NAME, "problem": False, **asked}
    return [each["group"] for each in chosen_groups(GROUPS, **wanted)]


@pytest.mark.parametrize(
    "asked, names",
    [
        ({}, ["billing", "orders", "orders-eu"]),
        ({"pattern": "orders"}, ["orders", "orders-eu"]),
        ({"pattern": "orders*"}, ["orders", "orders-eu"]),
        ({"pattern": "orders?eu"}, ["orders-eu"]),
        ({"phases": ("empty",)}, ["billing"]),
        ({"phases": ("released",)}, []),
        ({"problem": True}, ["billing", "orders-eu"]),
        ({"sort": Order.LAG}, ["billing", "orders", "orders-eu"]),
        ({"sort": Order.MEMBERS}, ["orders-eu", "orders", "billing"]),
        ({"sort": Order.LAST}, ["billing", "orders", "orders-eu"]),
    ],
)
def test_groups_are_chosen_by_name_phase_and_trouble(
    asked: dict[str, Any], names: list[str]
) -> None:
    """Groups are chosen by name, phase and trouble, and sorted by what is asked for."""
    assert _names(**asked) == names


def test_a_released_group_keeps_its_phase() -> None:
    """A released group is found by the phase that JSON and the table show, and by no other word."""
    released = _group("old", phase="empty", released={"by": "alice"})
    found = chosen_groups([released, CALM], None, ("empty",), Order.NAME, problem=False)
    assert found == [released]
    assert [row["phase"] for row in group_rows(found, NOW_MS)] == ["empty, released"]


@pytest.mark.parametrize(
    "groups, pattern, line",
    [
        ([], "odrers", "there is no group: a client's first heartbeat, or a rule, makes one"),
        ([CALM], "odrers", "none of 1 group matches; the nearest to odrers is orders"),
        (GROUPS, "ordesr", "none of 3 groups matches; the nearest to ordesr are orders, "),
        (GROUPS, "orders", "none of 3 groups matches\n"),
    ],
)
def test_an_empty_list_says_so(
    groups: list[dict[str, Any]],
    pattern: str,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Where no group matches the list says so in words, and JSON is an empty list."""
    monkeypatch.setattr("fairlead.cli.group.list_groups._groups", lambda *_: (groups, [], NOW_MS))
    command = ["group", "list", pattern, "--phase", "handing_over"]
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert not ended.value.code
    assert capsys.readouterr().out.startswith(line)
    with pytest.raises(SystemExit):
        main([*command, "-o", "json"])
    assert orjson.loads(capsys.readouterr().out) == []


def test_an_unknown_phase_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """A phase that no group is ever in is refused with the nearest, before anything is read."""
    with pytest.raises(SystemExit) as ended:
        main(["group", "list", "--phase", "handingover"])
    assert ended.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "there is no phase 'handingover'; the nearest is handing_over" in said


def test_what_there_is_to_look_at() -> None:
    """A group without trouble has none; the others say which, and then alarms that are no fault."""
    odd = _group("x", problems=["unassigned", "unsafe"], other_alarms=["rule_without_effect"])
    told = [row["problem"] for row in group_rows([CALM, OFFLINE, odd], NOW_MS)]
    assert told == [None, "offline", "unassigned, unsafe, alarm rule_without_effect"]


def test_whether_an_engine_runs() -> None:
    """One line says that no engine ticks, and for how many groups if not for all."""
    says = "no engine has ticked for 8.0 s"
    dead = {"ticked_ms": NOW_MS - 8_000, "silent": True, "silent_ms": 8_000, "says": says}
    longer = {**dead, "silent_ms": None, "says": "no heartbeat is left"}
    assert engine_line([]) is None
    assert engine_line([CALM, MUTE]) is None
    line = f"engine: {says}: owners keep working, nothing is decided (fairlead run)"
    assert engine_line([_group("a", engine=dead)]) == line
    both = [_group("a", engine=dead), _group("b", engine=longer), CALM]
    assert engine_line(both) == line.replace("8.0 s:", "8.0 s for 2 of 3 groups:")


@pytest.mark.parametrize("state", ["running", "look_ups_fail", "stopped", "dead"])
def test_a_bridge_that_does_not_follow_has_a_line(state: BridgeVerdict) -> None:
    """A bridge that does not follow its cluster has a line of its own, with its last sign."""
    life = BridgeLiveness("main", state, 1_781_000_000_000, 1_781_000_060_000)
    lines = bridge_lines([life.to_json()])
    assert lines == ([] if state == "running" else [f"bridge: {life.words()}"])
    assert all("2026-06-09 10:13:20Z" in line for line in lines)


def test_each_group_is_a_line_with_its_newest_rebalance(capsys: pytest.CaptureFixture[str]) -> None:
    """Each group is a line, with how long ago what led to its newest rebalance."""
    rows = list(group_rows([CALM, MUTE], NOW_MS))
    columns = ("group", "phase", "members", "idle", "lag", "waiting", "epoch", "last", "trigger")
    write_rows(rows, columns, OutputFormat.TABLE)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    heading, _, *found = ["  ".join(line.split()) for line in lines]
    assert heading == "group  phase  members  idle  lag  waiting  epoch  last  trigger"
    assert found == [
        "orders  stable  3  1  120  840  ms  3.41  1  min  5  s  client_joined",
        "orders-eu  stable  7  1  120  840  ms  3.41  -  -",
    ]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_below_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is wider than the terminal, those below the table neither."""
    says = "no engine has ticked for 2 min, by this machine's clock"
    dead = {"ticked_ms": NOW_MS - 120_000, "silent": True, "silent_ms": 120_000, "says": says}
    life = BridgeLiveness("main", "dead", 1_781_000_000_000, 1_781_000_060_000)
    found = [_group("orders", engine=dead)], [life.to_json()], NOW_MS
    monkeypatch.setattr("fairlead.cli.group.list_groups._groups", lambda *_: found)
    monkeypatch.setenv("COLUMNS", "80")
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    with pytest.raises(SystemExit):
        main(["group", "list"])
    written = terminal.getvalue()
    said = " ".join(written.split())
    assert engine_line(found[0]) in said  # type: ignore[operator]
    assert bridge_lines(found[1])[0] in said
    assert max(len(line.rstrip()) for line in written.splitlines()) <= 80


@contextmanager
def _serving(answers: dict[str, tuple[int, bytes]]) -> Iterator[str]:
    """Answer as serve does, and return where."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answers[self.path]
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            ended(thread)


def test_released_groups_are_chosen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """--released shows the groups that JSON calls released; no phase has that name."""
    settings = load_settings()
    document = {
        "bootstrap": settings.kafka.bootstrap,
        "topic_prefix": settings.kafka.topic_prefix,
        "now_ms": NOW_MS,
        "bridges": [],
        "groups": [_group("old", released={"by": "alice"}), CALM],
    }
    with _serving({"/api/v1/groups": (200, orjson.dumps(document))}) as url:
        monkeypatch.setenv("FAIRLEAD__SERVE__URL", url)
        with pytest.raises(SystemExit):
            main(["group", "list", "--released", "-o", "json"])
        (found,) = orjson.loads(capsys.readouterr().out)
        assert (found["group"], found["phase"]) == ("old", "stable")
        with pytest.raises(SystemExit):
            main(["group", "list", "--phase", "released"])
        assert "there is no phase 'released'" in capsys.readouterr().err


def test_answers_of_serve_are_read() -> None:
    """Answers are read; a refusal says what it says; what is no serve counts as nobody."""
    refused = orjson.dumps({"error": "there is no group oders", "remedy": "The nearest is orders."})
    path = group_path("%RETRY%oders|a")
    assert path == "/api/v1/groups/%25RETRY%25oders%7Ca"
    with _serving({"/a": (200, b'{"x":1}'), path: (404, refused), "/b": (200, b"hi")}) as url:
        assert ask_serve(url, "/a") == {"x": 1}
        with pytest.raises(EnvironmentMissingError, match="there is no group oders"):
            ask_serve(url, path)
        with pytest.raises(NobodyServesError, match="no fairlead serve"):
            ask_serve(url, "/b")
    (port,) = free_ports(1)
    with pytest.raises(NobodyServesError, match="nobody answers"):
        ask_serve(f"http://127.0.0.1:{port}", "/a")


def _run(*arguments: str, url: str) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "fairlead", "group", "list", *arguments]
    return subprocess.run(
        command,
        capture_output=True,
        cwd=ROOT,
        timeout=120,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "FAIRLEAD__SERVE__URL": url},
    )


def test_on_a_narrow_terminal_columns_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """Where not all columns have room those that say least are left out: a group is a line."""
    rows = [*group_rows([_group("orders-of-the-north"), _group("payments")], NOW_MS)]
    columns = ("group", "phase", "waiting" * 10)
    write_fitting(rows, columns, OutputFormat.TABLE, width=60, fewer=("group", "phase"))
    told = capsys.readouterr().out.splitlines()
    assert [line.split() for line in told if "stable" in line] == [
        ["orders-of-the-north", "stable"],
        ["payments", "stable"],
    ]


def _listed(count: int) -> float:
    """Return the seconds of work that a list of so many groups costs, Python's start included."""
    groups = [_group(f"group-{number:04}") for number in range(count)]
    of = {"bootstrap": "127.0.0.1:9092", "topic_prefix": "fairlead."}
    answer = {**of, "now_ms": NOW_MS, "ready": False, "reason": "reading", "groups": groups}
    answer |= {"bridges": [], "records_behind": 0, "as_of_ms": NOW_MS}
    assert_answer("Groups", {**answer, "groups": groups[:3]})
    with _serving({"/api/v1/groups": (200, orjson.dumps(answer))}) as url:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = _run(url=url)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert len(ended.stdout.splitlines()) == count + 4
    assert ended.stderr == b"fairlead serve is not ready: reading\n"
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_a_list_of_thousands_is_nearly_as_quick() -> None:
    """A list of 2,000 groups costs little more than one of 20, most of it Python's start."""
    assert min(_listed(MANY), _listed(MANY)) < 2 * max(_listed(FEW), _listed(FEW))


def test_whose_groups_are_served() -> None:
    """An answer is ours if the topics begin alike and one broker is named by both."""
    kafka = load_settings(overrides={"kafka.bootstrap": "localhost:9092,b:9092"}).kafka
    answer = {"bootstrap": "c:9092,127.0.0.1:9092", "topic_prefix": "fairlead."}
    assert other_topics(answer, kafka) is None
    assert other_topics({**answer, "bootstrap": "b:9093"}, kafka) == "b:9093, topics fairlead.…"
    assert other_topics({**answer, "topic_prefix": "other."}, kafka) is not None


def test_of_another_cluster(bootstrap: str, topics: TopicNames) -> None:
    """Groups of another cluster are not shown as those that were asked for."""
    other = {"bootstrap": "elsewhere:9092", "topic_prefix": topics.prefix}
    answer = {**other, "now_ms": NOW_MS, "ready": True, "groups": [_group("theirs")]}
    with _serving({"/api/v1/groups": (200, orjson.dumps(answer))}) as url:
        flags = ("--bootstrap", bootstrap, "--topic-prefix", topics.prefix, "-o", "json")
        ended = _run(*flags, url=url)
    assert orjson.loads(ended.stdout) == []
    assert b"shows elsewhere:9092, topics test_of" in ended.stderr


def test_without_serve_the_topics_are_read(bootstrap: str, topics: TopicNames) -> None:
    """Where nobody serves, the topics are read, which is said with the time that it took."""
    now_ms = time.time_ns() // 1_000_000
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    value = encoded_decision(41, []).replace(b"1781000000000", b"%d" % now_ms)
    producer.send(topics.name("decisions"), key=b"orders", value=value).get(30)
    producer.close()
    (port,) = free_ports(1)
    flags = ("--bootstrap", bootstrap, "--topic-prefix", topics.prefix, "-o", "json")
    ended = _run(*flags, url=f"http://127.0.0.1:{port}")
    (found,) = orjson.loads(ended.stdout)
    assert (found["group"], found["epoch"], found["problems"]) == ("orders", [3, 41], [])
    said = ended.stderr.decode()
    assert "nobody answers at" in said
    assert "of the topics in " in said
