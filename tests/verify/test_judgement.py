"""A sound life holds every invariant; each way to break one is found under its number."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from fairlead.core.model import Epoch
from fairlead.recording import RecordingFolder
from fairlead.verify.history import ClientKilled, Consumed, Start, Stop
from fairlead.verify.judgement import (
    Journals,
    Judgement,
    UnknownGroupError,
    judge_recording,
)
from fairlead.verify.replay_judge import judge_replay
from fairlead.verify.replaying import Replay
from fairlead.verify.verdicts import Verdicts
from strategies.registry import STRATEGIES
from tests.kit.journaled_world import MILLISECOND, Body, Life, Rows, forge, rich_life
from tests.kit.judgements import ruling_of, told_by
from tests.verify.forgeries import FORGERIES, early_grant, first_of


@pytest.fixture(scope="module")
def life() -> Life:
    """A life in which everything happens, and nothing wrong."""
    return rich_life()


def _judge(
    recording: RecordingFolder, life: Life | None = None, group: str = "orders"
) -> Judgement:
    journals = None
    if life is not None:
        journals = Journals(life.diary.journals(), group, life.diary.steps)
    return judge_recording(recording, STRATEGIES, journals)


def test_a_sound_life_breaks_nothing(life: Life, tmp_path: Path) -> None:
    """Nothing is broken in a sound life, and nearly everything was looked at."""
    judgement = _judge(life.record(tmp_path / "r"), life)
    assert told_by(judgement) == ""
    assert judgement.passed
    open_ = {each.number for each in judgement.rulings if each.outcome == "not_judged"}
    assert open_ <= {"S8", "S14", "L4"}
    counts = judgement.counts
    assert counts["handovers"] >= 10
    assert counts["generations"] == 2
    assert counts["rejects"] == {"not_json": 1}
    assert (counts["duplicates_clean"], counts["holes"]) == (0, 0)
    assert 0 < counts["duplicates_killed"] <= counts["duplicates_killed_at_most"]
    # Those that left were silent too, and did not die.
    assert counts["lapses"] == 1
    (killed,) = judgement.recoveries
    assert killed.fault == "client-8 killed"
    assert killed.recovered_ms is not None
    assert killed.recovered_ms > 10_000
    assert judgement.to_json()["passed"] is True


def test_without_journals_ownership_is_not_judged(life: Life, tmp_path: Path) -> None:
    """Without journals nobody says that there was one owner; the rest is judged."""
    judgement = _judge(life.record(tmp_path / "r"))
    assert judgement.passed
    ruling = ruling_of(judgement, "S1")
    assert (ruling.outcome, ruling.reason) == (
        "not_judged",
        "no journals were given (--journals)",
    )
    assert ruling_of(judgement, "S2").outcome == "held"


@pytest.mark.parametrize("name", FORGERIES)
def test_one_forged_field_is_found_with_its_record(life: Life, tmp_path: Path, name: str) -> None:
    """One forged field of one record is found under its number, with the record that shows it."""
    suffix, edit, number = FORGERIES[name]
    rows = life.rows()
    row = forge(rows, suffix, edit)
    judgement = _judge(life.record(tmp_path / "r", rows))
    assert number in judgement.broken, told_by(judgement)
    if suffix != "releases":
        places = [each.place for each in ruling_of(judgement, number).findings[0].slice]
        assert f"{row.topic}/{row.partition}@{row.offset}" in places


def test_a_grant_without_its_gate_is_found(life: Life, tmp_path: Path) -> None:
    """A queue that is granted without a gate while its holder has not released it is found."""
    rows = life.rows()
    early_grant(rows)
    judgement = _judge(life.record(tmp_path / "r", rows))
    finding = ruling_of(judgement, "S2").findings[0]
    assert "may work under" in finding.text
    assert any("newest heartbeat" in each.says for each in finding.slice)
    written = orjson.loads(orjson.dumps(judgement.to_json()))
    (ruling,) = [each for each in written["invariants"] if each["number"] == "S2"]
    shown = [{"place": each.place, "says": each.says} for each in finding.slice]
    assert ruling["findings"][0] == {"says": finding.text, "slice": shown}


def test_a_start_at_a_stale_report_is_found(life: Life, tmp_path: Path) -> None:
    """A start at a position that only a release of no grant tells of is found."""
    rows = life.rows()
    told: list[Any] = []

    def stale(body: Body) -> bool:
        if body["kind"] != "release" or not body["position"] or not body["position"][1]:
            return False
        told.extend((body["queue"], [*body["position"]]))
        body["epoch"], body["position"][1] = [1, 998], body["position"][1] + 3
        return True

    def moved(body: Body) -> bool:
        move = first_of(body, "moves", stage="granted", queue=told[0], position=told[1])
        if move is None:
            return False
        move["position"] = [0, told[1][1] + 3]
        return True

    forge(rows, "releases", stale)
    forge(rows, "decisions", moved)
    ruling = ruling_of(_judge(life.record(tmp_path / "r", rows)), "S4")
    assert ruling.outcome == "broken"
    assert "which only a stale report has" in ruling.findings[0].text


def _lose(rows: Rows, suffix: str, wanted: Callable[[bytes], bool]) -> None:
    for (name, _), log in rows.items():
        for at, row in enumerate(log):
            if name == suffix and row.value is not None and at and wanted(row.value):
                del log[at]
                return
    raise AssertionError(f"no such record in {suffix}")


@pytest.mark.parametrize(
    "suffix, wanted, number",
    [
        ("heartbeats", b'"kind":"progress"', "S11"),
        ("releases", b'"kind":"release"', "S11"),
        ("rejects", b'"reason"', "S11"),
        ("decisions", b'"stage":"granted"', "S11"),
    ],
)
def test_a_lost_record_is_missed(
    life: Life, tmp_path: Path, suffix: str, wanted: bytes, number: str
) -> None:
    """A record that is not there any more is missed."""
    rows = life.rows()
    if suffix == "rejects":
        rows["rejects", 0].clear()
    else:
        _lose(rows, suffix, lambda value: wanted in value)
    judgement = _judge(life.record(tmp_path / "r", rows))
    assert number in judgement.broken, told_by(judgement)


def test_a_lost_assignment_is_missed_unless_compacted(life: Life, tmp_path: Path) -> None:
    """An assignment is missed, but compaction may have taken one whose key has a newer one."""
    rows = life.rows()
    log = next(log for (suffix, _), log in rows.items() if suffix == "assignments" and len(log) > 3)
    newest = {row.key: at for at, row in enumerate(log)}
    del log[next(at for at, row in enumerate(log) if at and newest[row.key] != at)]
    ruling = ruling_of(_judge(life.record(tmp_path / "r", rows)), "S6")
    assert ruling.outcome == "not_judged"
    assert "which compaction may explain" in ruling.reason


def test_one_changed_byte_is_found_by_the_replay(life: Life, tmp_path: Path) -> None:
    """One changed byte of what was written is found by the replay, and the field is named."""
    rows = life.rows()
    forge(
        rows,
        "decisions",
        lambda body: bool(body["members"] and body.update(strategy="STICKY") is None),
    )
    ruling = ruling_of(_judge(life.record(tmp_path / "r", rows)), "S6")
    assert ruling.outcome == "broken"
    assert "differs from the replay at strategy" in ruling.findings[0].text


def test_a_letter_of_a_sound_row_is_found(life: Life, tmp_path: Path) -> None:
    """A dead letter of a row that is sound, or of none, is found."""
    for offset, told in ((1, "though it is well formed"), (10_000, "where there is no record")):
        rows = life.rows()
        letter = rows["rejects", 0][0]
        body = orjson.loads(letter.value or b"")
        body["at"][2] = offset
        end = rows["rejects", 0][-1].offset + 1
        rows["rejects", 0].append(letter._replace(offset=end, value=orjson.dumps(body)))
        judgement = _judge(life.record(tmp_path / f"r-{offset}", rows))
        assert told in told_by(judgement)
        assert "S11" in judgement.broken


def _journals(life: Life, client_id: str, edit: Callable[[Any], list[Any]]) -> Journals:
    journals = [
        replace(journal, records=tuple(new for old in journal.records for new in edit(old)))
        if journal.client_id == client_id
        else journal
        for journal in life.diary.journals()
    ]
    return Journals(journals, "orders", life.diary.steps)


def _moved(life: Life) -> tuple[str, Stop]:
    """Return a client and the last stop of a queue that somebody else starts at once."""
    starts = {
        (record.queue, record.offset): record.t_ns
        for records in life.diary.records.values()
        for record in records
        if isinstance(record, Start)
    }
    for client_id, records in life.diary.records.items():
        for record in records:
            if not isinstance(record, Stop):
                continue
            started = starts.get((record.queue, record.offset), 0)
            if 0 < started - record.t_ns < 2_000 * MILLISECOND:
                return client_id, record
    raise AssertionError("no queue was moved")


def test_a_late_stop_is_a_second_owner(life: Life, tmp_path: Path) -> None:
    """A client that stops after its successor started is a second owner, shown by three lines."""
    client_id, stop = _moved(life)

    def late(record: Any) -> list[Any]:
        return [replace(record, t_ns=record.t_ns + 10**12)] if record == stop else [record]

    judgement = judge_recording(
        life.record(tmp_path / "r"), STRATEGIES, _journals(life, client_id, late)
    )
    findings = [each for each in ruling_of(judgement, "S1").findings if "two owners" in each.text]
    assert len(findings[0].slice) == 3
    assert str(stop.queue) in findings[0].text


def test_holes_and_repetitions_are_found(life: Life, tmp_path: Path) -> None:
    """A start beyond what was processed is a hole, one below it reads again; both are found."""
    client_id, stop = _moved(life)
    recording = life.record(tmp_path / "r")

    def short(record: Any) -> list[Any]:
        if record == stop:
            return [replace(record, offset=record.offset - 1)]
        same = isinstance(record, Consumed) and record.queue == stop.queue
        return [] if same and record.offset == stop.offset - 1 else [record]

    hole = judge_recording(recording, STRATEGIES, _journals(life, client_id, short))
    assert "1 messages from" in told_by(hole)
    assert hole.counts["holes"] == 1

    def twice(record: Any) -> list[Any]:
        same = isinstance(record, Consumed) and record.queue == stop.queue
        return [record, record] if same and record.offset == stop.offset - 1 else [record]

    repeat = judge_recording(recording, STRATEGIES, _journals(life, client_id, twice))
    assert "S5: read twice" in told_by(repeat)
    assert repeat.counts["duplicates_clean"] == 1


def test_a_start_without_a_grant_is_found(life: Life, tmp_path: Path) -> None:
    """A start under an epoch that nobody was granted, or below the one before, is found."""
    client_id, stop = _moved(life)

    def other(record: Any) -> list[Any]:
        if isinstance(record, Start | Stop) and (record.queue, record.epoch) == (
            stop.queue,
            stop.epoch,
        ):
            return [replace(record, epoch=Epoch(9, 9))]
        return [record]

    judgement = judge_recording(
        life.record(tmp_path / "r"), STRATEGIES, _journals(life, client_id, other)
    )
    assert {"S2", "S3"} <= {*judgement.broken}
    assert "without a grant" in told_by(judgement)


def test_death_not_on_record(life: Life, tmp_path: Path) -> None:
    """Work that nobody stopped goes on: without a log of deaths its successor is a second owner."""
    steps = [step for step in life.diary.steps if not isinstance(step, ClientKilled)]
    journals = Journals(life.diary.journals(), "orders", steps)
    judgement = judge_recording(life.record(tmp_path / "r"), STRATEGIES, journals)
    assert "S1" in judgement.broken
    assert "neither a stop nor a death on record" in told_by(judgement)


def test_group_of_the_journals(life: Life, tmp_path: Path) -> None:
    """Where several groups decided, journals need the name of theirs."""
    recording = life.record(tmp_path / "r")
    for group in (None, "nobody"):
        journals = Journals(life.diary.journals(), group)
        with pytest.raises(UnknownGroupError) as raised:
            judge_recording(recording, STRATEGIES, journals)
        assert raised.value.known == ("a", "orders")


def test_a_history_without_a_decision_proves_nothing(tmp_path: Path) -> None:
    """A history without a decision proves nothing."""
    judgement = _judge(Life().record(tmp_path / "r"))
    assert judgement.nothing == "the recording holds no decision"
    assert not judgement.passed


def test_a_history_without_a_handover_proves_nothing(tmp_path: Path) -> None:
    """A history in which no queue went from one client to another proves nothing."""
    life = Life()
    life.join("alone")
    life.world.pass_seconds(3)
    judgement = _judge(life.record(tmp_path / "r"))
    assert judgement.nothing == "no queue went from one client to another"
    assert (judgement.broken, judgement.passed) == ((), False)


def test_head_is_gone(life: Life, tmp_path: Path) -> None:
    """A log whose first rows are gone is judged from where it begins, and not run again."""
    rows = life.rows()
    rows["heartbeats", 0] = rows["heartbeats", 0][40:]
    judgement = _judge(life.record(tmp_path / "r", rows))
    assert ruling_of(judgement, "S6").outcome == "not_judged"
    assert "does not hold every row" in ruling_of(judgement, "S6").reason
    assert "before the first recorded heartbeat" in ruling_of(judgement, "S2").reason
    assert told_by(judgement) == ""


def test_an_unexplained_growth_of_state_is_found(life: Life, tmp_path: Path) -> None:
    """A state that is larger than members, queues and groups explain is found."""
    verdicts = Verdicts()
    replay = Replay.of(life.record(tmp_path / "r"), STRATEGIES)
    judge_replay(replay, verdicts, lambda: -16, lambda _: None)
    ruling = next(each for each in verdicts.rulings() if each.number == "S13")
    assert ruling.outcome == "broken"
