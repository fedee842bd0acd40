"""`fairlead apply` and the real job: carried out as planned, or refused with what came between."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_proof.local.ownership import Ownership

from fairlead.cli.main import main
from fairlead.errors import ExitCode
from fairlead.operating.rule_changes import OperatedGroup
from fairlead.wire.decision_records import DecisionReader
from fairlead.wire.raw import raw_record
from tests.answers.schema import assert_command
from tests.kit.command import document_of
from tests.kit.kafka_log import body_of
from tests.kit.live_system import SharedEngine

if TYPE_CHECKING:
    from fairlead.control.control_session import RuleOutcome
    from fairlead.control.rule_change import RuleChange

Capture = pytest.CaptureFixture[str]
QUEUES = 4
RULES = 2
"""Rules of the plan: the engine reads them in one batch or in two, and decides as often."""


class Group:
    """A group of the running job, and commands on it."""

    def __init__(self, engine: SharedEngine, name: str, capsys: Capture) -> None:
        self.name = name
        self.engine = engine
        self._capsys = capsys
        kafka = engine.settings.kafka
        self._place = ["--bootstrap", kafka.bootstrap, "--topic-prefix", kafka.topic_prefix]

    def join(self, *client_ids: str) -> None:
        """Let clients join, and wait until the group is at rest with them and no others."""
        for client_id in client_ids:
            self.engine.fleet.join(client_id, self.name)
        self.await_rest(*client_ids)

    def await_rest(self, *client_ids: str) -> None:
        """Wait until the group is at rest with these members."""
        found, reader = Ownership(), DecisionReader(self.name)

        def settles(record: Any) -> bool:
            decision = reader.read(raw_record(record))
            if decision is not None:
                found.apply(decision)
            return found.is_settled_among(frozenset(client_ids), QUEUES)

        self.engine.log.await_record("decisions", settles)

    def run(self, *words: str, code: ExitCode = ExitCode.OK) -> tuple[Any, str]:
        """Run a command; return its document, and what it said beside it."""
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main([*words, "-o", "json", *self._place])
        output = self._capsys.readouterr()
        assert end.value.code == code, output.err
        document = document_of(output.out)
        if document is not None:
            assert_command(words, document)
        return document, output.err

    def say(self, *words: str) -> str:
        """Run a command that succeeds; return what it says to people."""
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main([*words, *self._place])
        output = self._capsys.readouterr()
        assert end.value.code == ExitCode.OK, output.err
        return output.out

    def await_cause(self, kind: str) -> None:
        """Wait until a decision of the group names such a cause."""
        self.engine.log.await_record(
            "decisions",
            lambda record: body_of(record)["group"] == self.name and kind in str(body_of(record)),
        )

    def rules(self) -> list[dict[str, Any]]:
        """Return the records of the group's rules in the control topic."""
        found = [body_of(record) for record in self.engine.log.records("control") if record.value]
        return [body for body in found if body["group"] == self.name]


def test_a_plan_is_carried_out_once_as_shown(
    engine: SharedEngine, capsys: Capture, tmp_path: Path
) -> None:
    """A plan runs once, signed, and moves what it showed; its join stays to the operator."""
    group, saved = Group(engine, "planned", capsys), str(tmp_path / "plan.json")
    group.join("c1", "c2")
    flags = ("--strategy", "STICKY", "--pin", "orders/main/0=c2", "--join", "c3")
    shown, _ = group.run("plan", group.name, *flags, "--save", saved)
    assert shown["queues_dropped"] >= 2
    document, text = group.run("apply", saved, "--dry-run")
    assert {row["verdict"] for row in document["move_list"]} == {"not_written"}
    assert "start client c3" in text
    assert group.rules() == []

    said = ("--by", "alice", "--because", "a warm cache")
    _, text = group.run("apply", saved, *said, "--wait", "0", code=ExitCode.ENVIRONMENT)
    assert "planned: no answer within 0 s; the rules of the plan stand in the log" in text
    assert "Run the same command again: it tells whether the plan is applied" in text
    group.await_cause("pins_changed")
    done, _ = group.run("apply", saved)
    assert done["already_applied"]
    assert 1 <= len(done["led_to"]) <= RULES
    assert done["left"] == ["start client c3 (its application's operator)"]
    text = group.say("apply", saved)
    assert "planned: the plan is applied already; nothing is written. Its rules are in" in text
    assert "pins_changed pin orders/main/0 by alice (a warm cache)" in text
    assert "to be done: start client c3" in text
    assert {(body["by"], body["because"]) for body in group.rules()} == {("alice", "a warm cache")}
    group.await_rest("c1", "c2")
    for gone in ("--pin", "orders/main/0"), ("--strategy",):
        group.run("group", "unset", group.name, *gone)
        group.await_rest("c1", "c2")
    group.run("plan", group.name, *flags, "--save", saved)
    document, text = group.run("apply", saved, *said)
    assert document["as_planned"], document
    assert [row["answer"] for row in document["outcomes"]] == ["in_force", "in_force"]
    assert {row["verdict"] for row in document["move_list"]} == {"as_planned"}
    assert {row["planned"]["to"] for row in document["move_list"]} <= {"c1", "c2"}
    assert document["left"] == ["start client c3 (its application's operator)"]
    written = len(group.rules())

    done, _ = group.run("apply", saved)
    assert done["already_applied"]
    assert 1 <= len(done["led_to"]) <= RULES
    assert len(group.rules()) == written


@pytest.mark.slow
def test_an_outdated_plan_is_refused(engine: SharedEngine, capsys: Capture, tmp_path: Path) -> None:
    """A join since, a plan without rules, and a file that was changed: refused, nothing written."""
    group, saved = Group(engine, "refused", capsys), tmp_path / "plan.json"
    group.join("c1", "c2")
    no = ExitCode.VERDICT_NEGATIVE
    group.run("plan", group.name, "--join", "c3", "--route", "orders=8", "--save", str(saved))
    _, text = group.run("apply", str(saved), code=no)
    assert "the plan has no rule; there is nothing to write" in text
    assert "give orders 8 queues (the topic's owner" in text

    group.run("plan", group.name, "--drain", "c2", "--save", str(saved))
    document = json.loads(saved.read_text())
    document["plan"]["moves"].pop()
    other = tmp_path / "other.json"
    other.write_text(json.dumps(document))
    _, text = group.run("apply", str(other), code=no)
    assert "planned to stay, now c2 → c1" in text

    group.run("plan", group.name, "--drain", "c11", "--save", str(other))
    _, text = group.run("apply", str(other), code=ExitCode.USAGE)
    assert "c11: is not in the group refused, and nothing is written" in text
    assert "The nearest of its members: c1, c2" in text

    group.join("c1", "c2", "c3")
    _, text = group.run("apply", str(saved), code=no)
    assert "client_joined c3" in text
    assert group.rules() == []


def test_a_join_between_look_and_write(
    engine: SharedEngine, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes between the last look and the rules is found afterwards and told, with code 1."""
    group, saved = Group(engine, "overtaken", capsys), str(tmp_path / "plan.json")
    group.join("c1", "c2")
    group.run("plan", group.name, "--drain", "c2", "--save", saved)
    write = OperatedGroup.write

    def late(
        operated: OperatedGroup, changes: "Sequence[RuleChange]", wait_s: float | None
    ) -> "list[RuleOutcome]":
        group.join("c1", "c2", "c3")
        return write(operated, changes, wait_s)

    monkeypatch.setattr(OperatedGroup, "write", late)
    document, text = group.run("apply", saved, code=ExitCode.VERDICT_NEGATIVE)
    assert document["came_between"]
    assert not document["as_planned"]
    assert "another decision came between the last look and the rules" in text


@pytest.mark.slow
def test_in_a_paused_group_the_moves_wait(
    engine: SharedEngine, capsys: Capture, tmp_path: Path
) -> None:
    """In a paused group the rules are in force, and the moves wait: told, and no failure."""
    group, saved = Group(engine, "held", capsys), str(tmp_path / "plan.json")
    group.join("c1", "c2")
    group.run("group", "pause", group.name)
    group.run("plan", group.name, "--drain", "c2", "--save", saved)
    document, text = group.run("apply", saved)
    assert {row["verdict"] for row in document["move_list"]} == {"held_up"}
    assert "moves nothing now" in text
    done, _ = group.run("apply", saved)
    assert done["already_applied"]
