"""Journals are judged beside topics as they are: compacted, and with rows that say nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fairlead.core.model import Epoch
from fairlead.recording import RecordingFolder
from fairlead.verify.history import Start, Stop
from fairlead.verify.judgement import Journals, Judgement, judge_recording
from fairlead.wire.raw import RawRecord
from strategies.registry import STRATEGIES
from tests.kit.journaled_world import Life, Rows, rich_life
from tests.kit.judgements import told_by

GARBAGE = (
    b'{"kind":"progress"}',
    b'nonsense "progress" nonsense',
    b'["progress"]',
    b'{"kind":"progress","group":"orders","client_id":"c","queues":[{"queue":["o","m",0]}]}',
)


@pytest.fixture(scope="module")
def life() -> Life:
    """A life in which everything happens, and nothing wrong."""
    return rich_life()


def _judge(life: Life, folder: Path, rows: Rows, journals: Journals | None = None) -> Judgement:
    given = journals or Journals(life.diary.journals(), "orders", life.diary.steps)
    return judge_recording(life.record(folder, rows), STRATEGIES, given)


def _compacted(rows: Rows) -> None:
    """Keep of the assignments the newest of each key."""
    for (suffix, _), log in rows.items():
        if suffix == "assignments":
            newest = {row.key: at for at, row in enumerate(log)}
            log[:] = [row for at, row in enumerate(log) if newest[row.key] == at]


def test_decisions_tell_grants_that_compaction_took(life: Life, tmp_path: Path) -> None:
    """Decisions say who was granted what, where compaction took the assignments."""
    rows = life.rows()
    _compacted(rows)
    judgement = _judge(life, tmp_path / "r", rows)
    assert told_by(judgement) == ""


def test_never_granted_in_compacted_assignments(life: Life, tmp_path: Path) -> None:
    """A start that nobody granted is found there too."""
    rows = life.rows()
    _compacted(rows)
    journals = life.diary.journals()
    edited = [
        type(journal)(
            journal.client_id,
            tuple(
                type(each)(each.queue, Epoch(9, each.epoch.number), each.offset, each.t_ns)
                if isinstance(each, Start | Stop)
                else each
                for each in journal.records
            ),
        )
        for journal in journals[:1]
    ]
    given = Journals([*edited, *journals[1:]], "orders", life.diary.steps)
    judgement = _judge(life, tmp_path / "r", rows, given)
    assert "S2" in judgement.broken
    assert "without a grant" in told_by(judgement)


@pytest.mark.parametrize("value", GARBAGE)
def test_garbage_among_heartbeats_is_no_evidence(life: Life, tmp_path: Path, value: bytes) -> None:
    """A row that is no progress, and that no engine takes, is no evidence and ends nothing."""
    rows = life.rows()
    log = rows["heartbeats", 0]
    log.append(log[-1]._replace(offset=log[-1].offset + 1, value=value))
    assert told_by(_judge(life, tmp_path / "r", rows)) == ""


@pytest.mark.parametrize("suffix", ["decisions", "assignments"])
@pytest.mark.parametrize("value", [b"{nonsense", b"[1]"])
def test_garbage_of_the_engine(life: Life, tmp_path: Path, suffix: str, value: bytes) -> None:
    """What the engine cannot have written is found beside journals as it is without them."""
    rows = life.rows()
    log: list[RawRecord] = next(
        log for (name, _), log in rows.items() if name == suffix and len(log) > 2
    )
    log[1] = log[1]._replace(value=value)
    judgement = _judge(life, tmp_path / "r", rows)
    assert "S3" in judgement.broken
    assert "cannot be read" in told_by(judgement)


def test_dead_letters_are_read_once(
    life: Life, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which rows were refused is read once, for the topics and for what stands beside journals."""
    asked: list[str] = []
    every = RecordingFolder.all_rows

    def all_rows(recording: RecordingFolder, suffix: str) -> Iterator[RawRecord]:
        asked.append(suffix)
        return every(recording, suffix)

    monkeypatch.setattr(RecordingFolder, "all_rows", all_rows)
    judgement = _judge(life, tmp_path / "r", life.rows())
    assert (told_by(judgement), asked.count("rejects")) == ("", 1)
    assert len(judgement.refused) == judgement.counts["rejects"]["not_json"] == 1
