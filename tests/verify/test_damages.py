"""A sound recording, damaged by hand in many ways: each is found under its number."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairlead.recording import RecordingFolder
from fairlead.verify.history import Consumed, Journal
from fairlead.verify.judgement import Journals, judge_recording
from strategies.registry import STRATEGIES
from tests.kit.journaled_world import Life, rich_life
from tests.kit.judgements import told_by
from tests.verify.damages import DAMAGES


@pytest.fixture(scope="module")
def life() -> Life:
    """A life in which everything happens, and nothing wrong."""
    return rich_life()


@pytest.mark.parametrize("name", DAMAGES)
def test_each_damage_is_found_by_its_rule(life: Life, tmp_path: Path, name: str) -> None:
    """What does not fit together is found by the rule that it breaks."""
    damage, number = DAMAGES[name]
    rows = {place: list(log) for place, log in life.rows().items()}
    damage(rows)
    judgement = judge_recording(life.record(tmp_path / "r", rows), STRATEGIES)
    assert number in judgement.broken, told_by(judgement)
    found = next(each for each in judgement.rulings if each.number == number).findings
    assert all(finding.text for finding in found)


@pytest.fixture
def recording(life: Life, tmp_path: Path) -> RecordingFolder:
    """The sound recording, and the source that its clients read."""
    recording = life.record(tmp_path / "r")
    ends: dict[int, int] = {}
    for records in life.diary.records.values():
        for record in records:
            if isinstance(record, Consumed):
                number = record.queue.queue_id
                ends[number] = max(ends.get(number, 0), record.offset)
    runs = {number: ((0, end),) for number, end in ends.items()}
    return replace(recording, manifest=replace(recording.manifest, sources={"orders": runs}))


def _longest(life: Life) -> Journal:
    return max(life.diary.journals(), key=lambda journal: len(journal.records))


def _without(record: Any, journal: Journal) -> Journal:
    left = tuple(each for each in journal.records if each is not record)
    return replace(journal, records=left)


@pytest.mark.parametrize(
    "name", ["gap", "back in time", "copied", "garbage", "none", "other group"]
)
def test_a_damaged_journal_proves_what_it_is(
    life: Life, recording: RecordingFolder, name: str
) -> None:
    """A gap, a clock that goes back, a copy and a journal of others prove what they are."""
    journals, longest = life.diary.journals(), _longest(life)
    at = journals.index(longest)
    messages = [each for each in longest.records if isinstance(each, Consumed)]
    middle = messages[len(messages) // 2]
    group, told = "orders", ""
    match name:
        case "gap":
            journals[at] = _without(middle, longest)
            told = f"S5: {middle.queue}: nobody processed 1 messages"
        case "back in time":
            late = [
                replace(each, t_ns=each.t_ns - 10**12) if each is middle else each
                for each in longest.records
            ]
            journals[at] = replace(longest, records=tuple(late))
            told = "time runs backwards"
        case "copied":
            journals.append(replace(longest, client_id="copy"))
            told = "had two owners"
        case "garbage":
            journals[at] = replace(longest, faults=("process-3.jsonl line 7: no JSON",))
            told = "the journals prove nothing here"
        case "none":
            journals[at] = replace(longest, records=())
            told = "were skipped"
        case _:
            group, told = "a", "without a grant"
    assert (
        told_by(judge_recording(recording, STRATEGIES, _given(life, life.diary.journals()))) == ""
    )
    judgement = judge_recording(recording, STRATEGIES, _given(life, journals, group))
    assert told in told_by(judgement)
    assert not judgement.passed


def _given(life: Life, journals: list[Journal], group: str = "orders") -> Journals:
    return Journals(journals, group, life.diary.steps)
