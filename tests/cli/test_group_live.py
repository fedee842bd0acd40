"""`fairlead group` and the real job: a rule set at run time, its answer, and what clients get."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from fairlead.errors import ExitCode
from fairlead.wire.partition import partition_of_group
from strategies.sticky.strategy import Sticky
from tests.answers.schema import assert_command
from tests.kit.awaiting import child_process
from tests.kit.client import Client
from tests.kit.kafka_log import SHARDS, body_of
from tests.kit.live_system import SharedEngine

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord


ROOT = Path(__file__).parents[2]


class OnlyHere(Sticky):
    """A strategy that the operator's conf/ has, and the engine's has not."""

    name = "ONLY_HERE"


class Group:
    """One group of the running job, and the command on it."""

    def __init__(self, engine: SharedEngine, name: str) -> None:
        self.name = name
        self._engine = engine

    def join(self, *client_ids: str) -> list[Client]:
        """Let clients join, and wait until each holds its even share of the four queues."""
        clients = [self._engine.fleet.join(client_id, self.name) for client_id in client_ids]
        for client in clients:
            self._engine.log.await_record(
                "assignments", self._holds(client, lambda held: len(held) == 4 // len(clients))
            )
        return clients

    def await_held(self, client: Client, *queue_ids: int) -> None:
        """Wait until a client may work on exactly these queues."""
        wanted = self._holds(client, lambda held: held == [*queue_ids])
        self._engine.log.await_record("assignments", wanted)

    def decision_of(self, at: list[Any]) -> dict[str, Any]:
        """Return the audit record that names the record at this place as a cause."""

        def wanted(record: "ConsumerRecord") -> bool:
            body = body_of(record)
            return body["group"] == self.name and at in [each.get("at") for each in body["cause"]]

        return body_of(self._engine.log.await_record("decisions", wanted))

    def decisions(self) -> list[dict[str, Any]]:
        """Return the group's audit records so far."""
        found = map(body_of, self._engine.log.records("decisions"))
        return [body for body in found if body["group"] == self.name]

    def await_decision(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for an audit record of the group, and return it."""
        return body_of(
            self._engine.log.await_record(
                "decisions",
                lambda record: body_of(record)["group"] == self.name and wanted(body_of(record)),
            )
        )

    def run(
        self, verb: str, *flags: str, code: ExitCode = ExitCode.OK
    ) -> tuple[list[dict[str, Any]], str]:
        """Run the command; return its rows and what it said beside them."""
        kafka = self._engine.settings.kafka
        place = ["--bootstrap", kafka.bootstrap, "--topic-prefix", kafka.topic_prefix]
        command = [sys.executable, "-m", "fairlead", "group", verb, self.name, *flags, *place]
        ended = subprocess.run(  # noqa: PLW1510 - how it ends is what is looked at
            [*command, "-o", "json"], capture_output=True, text=True, cwd=ROOT, timeout=120
        )
        assert ended.returncode == code, ended.stderr
        rows = orjson.loads(ended.stdout or "[]")
        assert_command(["group", verb, *flags], rows)
        return rows, ended.stderr

    def _holds(
        self, client: Client, wanted: Callable[[list[int]], bool]
    ) -> "Callable[[ConsumerRecord], bool]":
        def holds(record: "ConsumerRecord") -> bool:
            body = body_of(record)
            if (body.get("group"), body.get("client_id")) != (self.name, client.client_id):
                return False
            # A notice says why it waits.
            if body["kind"] != "assignment":
                return False
            # When a draining queue is released, the engine tells only its successor.
            kept = [each for each in body["assigned"] if each["state"] != "draining"]
            held = sorted(each["queue"][2] for each in kept if each["state"] == "held")
            return len(held) == len(kept) and wanted(held)

        return holds


# Almost a minute: the rules that the next tests set go the same way.
@pytest.mark.slow
def test_pinned_at_run_time(engine: SharedEngine, tmp_path: Path) -> None:
    """STICKY and a pin are set while the job runs: answered, audited, carried out; then refused."""
    group = Group(engine, "pinned")
    first, second = group.join("c1", "c2")
    said = ("--by", "alice", "--because", "its cache is warm")
    rows, text = group.run("set", "--strategy", "STICKY", "--pin", "orders/main/0=c2", *said)
    assert [(row["rule"], row["answer"]) for row in rows] == [
        ("strategy", "in_force"),
        ("pin", "in_force"),
    ]
    assert text == ""
    (place,) = rows[1]["places"]
    decision = group.decision_of(place)
    assert decision["strategy"] == "STICKY"
    # One command, two records: a batch may end between them.
    assert decision["triggers"] in (["rules_changed", "pins_changed"], ["pins_changed"])
    (cause,) = [each for each in decision["cause"] if each.get("at") == place]
    assert cause == {
        "kind": "pins_changed",
        "queue": ["orders", "main", 0],
        "rule": "pin",
        "by": "alice",
        "because": "its cache is warm",
        "at": place,
    }
    (name,) = rows[1]["led_to"]
    assert (name["group"], name["epoch"]) == ("pinned", decision["epoch"])
    group.await_held(second, 0, 2)
    group.await_held(first, 1, 3)

    given = tmp_path / "conf.toml"
    given.write_text(f'[engine]\nstrategies = ["{__name__}:OnlyHere"]\n')
    flags = ("--strategy", "ONLY_HERE", "--config", str(given))
    rows, text = group.run("set", *flags, code=ExitCode.VERDICT_NEGATIVE)
    assert (rows[0]["answer"], rows[0]["refused"]["reason"]) == ("refused", "unknown_strategy")
    assert (
        "the engine refuses it (there is no strategy 'ONLY_HERE'); the rule before it stays" in text
    )
    rows, text = group.run("show")
    assert [(row["rule"], row["says"], row["by"]) for row in rows if row["origin"] == "rule"] == [
        ("strategy", "STICKY", "alice"),
        ("pin", "c2", "alice"),
    ]
    assert "strategy by " in text

    rows, _ = group.run("unset", "--pin", "orders/main/0", "--by", "bob")
    assert rows[0]["answer"] == "in_force"
    (cause,) = group.decision_of(rows[0]["places"][0])["cause"]
    assert (cause["removed"], cause["by"]) == (True, "bob")


@pytest.mark.slow
def test_drained_under_avg(engine: SharedEngine) -> None:
    """A client is drained under RocketMQ's strategy; a weight does nothing there, which is said."""
    group = Group(engine, "drained")
    first, second = group.join("c1", "c2")
    rows, text = group.run("set", "--drain", "c1", "--weight", "orders/main/3=2.5")
    assert {row["answer"] for row in rows} == {"in_force"}
    assert "weight: AVG does not use this rule" in text
    assert "alarm rule_without_effect" in text
    group.await_held(first)
    group.await_held(second, 0, 1, 2, 3)


@pytest.mark.slow
def test_a_pause_holds_a_join_back(engine: SharedEngine) -> None:
    """A pause holds a join back; a restart within its grace moves nobody else; a drain shows."""
    group = Group(engine, "paused")
    first, second = group.join("c1", "c2")
    rows, _ = group.run("pause", "--because", "the cache is being rebuilt")
    assert group.decision_of(rows[0]["places"][0])["state"]["phase"] == "paused"
    third = engine.fleet.join("c3", group.name)
    group.await_held(third)
    rows, _ = group.run("resume")
    assert rows[0]["queues_moved"] == 1
    group.await_held(third, 3)

    rows, _ = group.run("set", "--restart-grace-ms", "60000")
    ruled = group.decision_of(rows[0]["places"][0])
    engine.fleet.leave(second)
    group.await_decision(lambda body: body["state"]["phase"] == "waiting_for_clients")
    engine.fleet.join("c2", group.name, life=2)
    group.await_decision(
        lambda body: (
            body["epoch"] > ruled["epoch"]
            and any(move["stage"] in ("gated", "granted") for move in body["moves"])
        )
    )
    moved = [
        (move["client_id"], move["queue"][2])
        for body in group.decisions()
        if body["epoch"] > ruled["epoch"]
        for move in body["moves"]
    ]
    assert set(moved) == {("c2", 2)}

    rows, text = group.run("drain", "c", "--until-empty", "60", code=ExitCode.USAGE)
    assert "c: is not in the group paused, and nothing is written" in text
    assert "The nearest of its members: c1, c2, c3" in text
    rows, text = group.run("undrain", "c")
    assert rows[0]["answer"] == "unchanged"
    assert "drain of c: paused has no such rule to remove" in text
    for words in (["resume"], ["undrain", "c1"], ["unset", "--pause"], ["show"]):
        word, *more = words
        _, text = Group(engine, "pausde").run(word, *more, code=ExitCode.USAGE)
        assert "there is no group pausde" in text
        assert "paused" in text
    rows, _ = group.run("drain", "c1", "--until-empty", "60")
    assert first.held == {}
    decided = group.decision_of(rows[0]["places"][0])
    told = group.await_decision(
        lambda body: {"kind": "drained", "client_id": "c1"} in body["cause"]
    )
    assert told["epoch"] >= decided["epoch"]
    group.await_held(first)


@pytest.mark.slow
def test_a_queue_that_is_not_there(engine: SharedEngine) -> None:
    """A queue in no route is shown with what its topic has, for it may be mistyped."""
    group = Group(engine, "mistyped")
    group.join("c1")
    pins = [f"{queue}=c1" for queue in ("orders/main/3", "orders/mian/3", "nowhere/main/0")]
    flags = [word for pin in pins for word in ("--pin", pin)]
    rows, text = group.run("set", "--strategy", "STICKY", *flags, "--dry-run")
    assert len(rows) == 4
    assert "orders/main/3" not in text
    assert "orders/mian/3: no route has this queue now; orders has main (queues 0 to 3)" in text
    assert "nowhere/main/0: no route has this queue now; no route of nowhere is known" in text


@pytest.mark.slow  # the console's tests write such rules too
def test_all_groups_at_run_time(engine: SharedEngine) -> None:
    """A rule of all groups is answered by each group that it changes."""
    group = Group(engine, "one-of-all")
    group.join("c1")
    everybody = Group(engine, "*")
    rows, text = everybody.run(
        "set", "--trigger-ms", "15000", "--because", "less to do", "--wait", "6"
    )
    assert rows[0]["answer"] == "in_force"
    assert "one-of-all" in [each["group"] for each in rows[0]["led_to"]]
    assert "conf/ has timing in [group_defaults]" in text
    (cause,) = [
        cause
        for place in rows[0]["places"]
        if place[1] == partition_of_group(group.name, SHARDS)
        for cause in group.decision_of(place)["cause"]
    ]
    assert (cause["group"], cause["because"]) == ("*", "less to do")


def test_described_while_it_runs(engine: SharedEngine) -> None:
    """The command shows who holds what and that all follow, with the lag that members reported."""
    group = Group(engine, "described")
    group.join("c1", "c2")
    described: Any = group.run("describe")[0]
    held = {
        each["queue"][2]: [one["client_id"] for one in each["held"]]
        for each in described["queue_list"]
    }
    assert held == {0: ["c1"], 1: ["c1"], 2: ["c2"], 3: ["c2"]}
    assert [each["client_id"] for each in described["member_list"]] == ["c1", "c2"]
    assert described["engine"]["silent"] is False
    assert described["strategy"] == "AVG"


def _reading(engine: SharedEngine, *words: str) -> list[str]:
    """Return a command that reads the engine's topics."""
    kafka = engine.settings.kafka
    place = ["--bootstrap", kafka.bootstrap, "--topic-prefix", kafka.topic_prefix]
    return [sys.executable, "-m", "fairlead", *words, *place]


def _rows(engine: SharedEngine, *words: str) -> list[dict[str, Any]]:
    command = _reading(engine, *words, "-o", "jsonl")
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)  # noqa: PLW1510
    assert ended.returncode == ExitCode.OK, ended.stderr
    rows = [orjson.loads(line) for line in ended.stdout.splitlines()]
    assert_command(words, rows)
    return rows


@pytest.mark.slow
def test_the_past_of_a_live_group_is_told_with_its_causes(engine: SharedEngine) -> None:
    """The history of a live group shows owners, causes and moves, each cause with its record."""
    group = Group(engine, "past")
    group.join("c1", "c2")
    third = engine.fleet.join("c3", group.name)
    group.await_held(third, 3)
    (story,) = _rows(engine, "explain", group.name, "--queue", "3")
    assert (story["owner"], story["state"]) == ("c3", "held")
    newest, before = story["owners"]
    (cause,) = newest["given_by"]["cause"]
    assert (cause["kind"], cause["client_id"], cause["status"]) == (
        "client_joined",
        "c3",
        "verified",
    )
    assert newest["handover"]["released_offset"] == newest["start_position"][1]
    assert newest["handover"]["gap_ms"] >= 0
    assert before["client_id"] == "c2"
    causes = [*before["given_by"]["cause"], *(c for d in before["led_by"] for c in d["cause"])]
    assert {each["status"] for each in causes} == {"verified"}
    rows = _rows(engine, "moves", group.name, "--since", "1h", "--client", "c3")
    assert [(row["from"], row["to"], row["chief_cause"]["kind"]) for row in rows] == [
        ("c2", "c3", "client_joined")
    ]
    assert rows[0]["queue"] == story["queue"]


def test_rejects_are_followed_until_ctrl_c(engine: SharedEngine) -> None:
    """What is refused while `rejects tail` follows is shown at once; Ctrl-C ends it in order."""
    words = ("rejects", "tail", "--follow", "--group", "refused", "-o", "jsonl")
    partition = partition_of_group("refused", SHARDS)
    offset = engine.log.append("heartbeats", b"{", b"refused", partition)
    engine.log.await_record("rejects", lambda record: record.key == b"refused")
    with child_process(_reading(engine, *words), stdout=subprocess.PIPE, cwd=ROOT) as command:
        assert command.stdout is not None
        first = orjson.loads(command.stdout.readline())
        assert (first["reason"], first["at"][2]) == ("not_json", offset)
        engine.log.append("heartbeats", b"[]", b"refused", partition)
        second = orjson.loads(command.stdout.readline())
        assert (second["reason"], second["excerpt"]) == ("not_an_object", "[]")
        command.send_signal(signal.SIGINT)
        assert command.wait(30) == ExitCode.OK
