"""`fairlead verify` and `fairlead replay` as they are typed: what they say, how they end."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.errors import ExitCode, FairleadError, NothingProvedError, UsageError, VerdictError
from fairlead.verify.fault_log import read_faults, write_faults
from fairlead.verify.history import Closing, EngineKilled, Fault, StepBegun, StepRecord
from fairlead.verify.invariants import INVARIANTS
from tests.answers.schema import assert_command
from tests.kit.journaled_world import Life, Rows, forge, rich_life
from tests.verify.forgeries import FORGERIES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "verify.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording, journals and fault log of a sound life."""
    life, folder = rich_life(), tmp_path_factory.mktemp("run")
    life.record(folder / "recording")
    life.write_journals(folder / "journals")
    write_faults(folder / "faults.jsonl", life.diary.steps)
    return folder


def _run(*words: str | Path) -> tuple[int, str]:
    ended = CliRunner().invoke(app, [str(word) for word in words])
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return ended.exit_code, ended.stdout


def _evidence(folder: Path) -> list[str | Path]:
    journals, faults = folder / "journals", folder / "faults.jsonl"
    where: list[str | Path] = [folder / "recording", "--journals", journals, "--faults", faults]
    return [*where, "--group", "orders"]


def test_a_sound_life_is_shown_in_a_table(folder: Path) -> None:
    """The table shows a sound life, every invariant by its number, and the command ends with 0."""
    code, text = _run("verify", *_evidence(folder))
    assert code == ExitCode.OK
    lines = text.splitlines()
    assert [line.split()[0] for line in lines if line.split()[:1] and line.split()[0] in INVARIANTS]
    assert lines[-1].startswith("verdict: HELD: ")
    assert "client-8 killed" in text


def test_programs_get_the_verdict_as_json(folder: Path) -> None:
    """Programs get the same as JSON, on one line if they ask for it."""
    code, text = _run("verify", *_evidence(folder), "-o", "jsonl")
    assert code == ExitCode.OK
    assert text.count("\n") == 1
    document: dict[str, Any] = orjson.loads(text)
    assert_command(["verify"], document)
    assert document["passed"] is True
    assert [each["number"] for each in document["invariants"]] == list(INVARIANTS)
    assert document["counts"]["unknown_outcomes"] == 0
    assert document["recoveries"][0]["fault"] == "client-8 killed"


def test_a_broken_invariant_is_named_and_ends_with_1(tmp_path: Path) -> None:
    """A broken invariant is named with the records that show it, and ends with 1."""
    life = rich_life()
    rows = life.rows()
    suffix, edit, number = FORGERIES["epoch back"]
    row = forge(rows, suffix, edit)
    life.record(tmp_path / "r", rows)
    code, text = _run("verify", tmp_path / "r")
    assert code == ExitCode.VERDICT_NEGATIVE
    assert f"{row.topic}/{row.partition}@{row.offset}" in text
    assert f"verdict: BROKEN: {number}" in text.splitlines()[-1]
    code, text = _run("replay", tmp_path / "r")
    assert code == ExitCode.VERDICT_NEGATIVE
    assert "DIFFERENT: the first difference" in text
    assert "  field         epoch" in text
    for command in ("verify", "replay"):
        code, text = _run(command, tmp_path / "r", "-o", "json")
        assert code == ExitCode.VERDICT_NEGATIVE
        assert_command([command], orjson.loads(text))


def test_a_history_that_proves_nothing_has_its_own_code(tmp_path: Path) -> None:
    """An empty history, and one without a handover, end with a code of their own."""
    Life().record(tmp_path / "empty")
    code, text = _run("verify", tmp_path / "empty")
    assert (code, text.splitlines()[-1]) == (
        ExitCode.NOTHING_PROVED,
        "verdict: NOTHING PROVED: the recording holds no decision",
    )
    code, text = _run("replay", tmp_path / "empty")
    assert (code, "there is no decision" in text) == (ExitCode.NOTHING_PROVED, True)
    alone = Life()
    alone.join("alone")
    alone.world.pass_seconds(3)
    alone.record(tmp_path / "alone")
    code, text = _run("verify", tmp_path / "alone")
    assert code == ExitCode.NOTHING_PROVED
    assert "no queue went from one client to another" in text


def test_a_replay_says_what_it_compared(folder: Path) -> None:
    """A replay tells what it compared, and that it came to the same."""
    code, text = _run("replay", folder / "recording")
    assert code == ExitCode.OK
    assert text.splitlines()[-1] == "the same, byte for byte"
    code, text = _run("replay", folder / "recording", "-o", "json")
    document = orjson.loads(text)
    assert_command(["replay"], document)
    assert (document["same"], document["difference"], document["settings_assumed"]) == (
        True,
        None,
        [],
    )
    assert document["recorded_by"] == ["0.0.test"]


def _without_head(rows: Rows) -> None:
    rows["heartbeats", 0] = rows["heartbeats", 0][9:]


def _contradicting(rows: Rows) -> None:
    """Let a decision say that it had read nothing."""
    log = rows["decisions", 0]
    body = orjson.loads(log[7].value or b"")
    body["cut"]["positions"] = {}
    log[7] = log[7]._replace(value=orjson.dumps(body))


def test_replay_of_a_part(tmp_path: Path) -> None:
    """A log whose head is gone proves nothing; one that lost a record contradicts itself."""
    life = rich_life()
    rows = life.rows()
    _without_head(rows)
    life.record(tmp_path / "part", rows)
    with pytest.raises(NothingProvedError, match="does not hold every row"):
        _run("replay", tmp_path / "part")
    rows = life.rows()
    _contradicting(rows)
    life.record(tmp_path / "contradiction", rows)
    with pytest.raises(VerdictError, match="contradicts itself"):
        _run("replay", tmp_path / "contradiction")


@pytest.mark.parametrize("output", ["json", "jsonl"])
@pytest.mark.parametrize(
    "damage, code", [(_without_head, ExitCode.NOTHING_PROVED), (_contradicting, 1)]
)
def test_programs_hear_why_nothing_was_replayed(
    tmp_path: Path, damage: Callable[[Rows], None], code: int, output: str
) -> None:
    """What cannot be run again is an answer too: JSON with the error, beside the exit code."""
    life = rich_life()
    rows = life.rows()
    damage(rows)
    life.record(tmp_path / "run", rows)
    ended = CliRunner().invoke(app, ["replay", str(tmp_path / "run"), "-o", output])
    assert isinstance(ended.exception, FairleadError)
    assert ended.exception.exit_code == code
    document = orjson.loads(ended.stdout)
    assert_command(["replay"], document)
    assert document == {
        "same": None,
        "error": ended.exception.message,
        "remedy": ended.exception.remedy,
    }


@pytest.mark.parametrize("number", [*INVARIANTS, "s2"])
def test_each_invariant_explains_itself(number: str) -> None:
    """Each invariant says what it promises, what it is judged from and how."""
    code, text = _run("verify", "--explain", number)
    assert code == ExitCode.OK
    title, judged_from, how = INVARIANTS[number.upper()]
    assert text.splitlines() == [f"{number.upper()}: {title}", f"judged from: {judged_from}", how]


def test_the_page_has_every_invariant() -> None:
    """docs/verify.md has every invariant in the words in which it is explained."""
    text = PAGE.read_text(encoding="utf-8")
    for number, (title, judged_from, how) in INVARIANTS.items():
        assert f"| {number} | {title} | {judged_from} | {how} |" in text


def test_what_cannot_be_judged_is_named_with_its_flag(folder: Path, tmp_path: Path) -> None:
    """The refusal of what is no recording, journal, group, log or invariant names its flag."""
    recording, journals = folder / "recording", folder / "journals"
    (tmp_path / "log").write_bytes(b'{"kind":"earthquake"}\n')
    (tmp_path / "none").mkdir()
    for words, told in (
        (["verify", tmp_path], "there is no manifest.json"),
        (["replay", tmp_path / "nowhere"], "there is no manifest.json"),
        (["verify", recording, "--journals", tmp_path / "nowhere"], "is no folder"),
        (["verify", recording, "--journals", tmp_path / "none"], "holds no file that ends in"),
        (["verify", recording, "--journals", journals], "there are several groups"),
        (["verify", recording, "--journals", journals, "--group", "x"], "there is no group x"),
        (["verify", recording, "--group", "x"], "there are none"),
        (
            ["verify", recording, "--journals", journals, "--faults", tmp_path / "log"],
            "line 1: field 'kind': 'earthquake' is unknown; give one of client_killed",
        ),
        (
            ["verify", recording, "--journals", journals, "--faults", tmp_path / "nowhere"],
            "cannot be read",
        ),
        (["verify", "--explain", "S99"], "there is no invariant S99"),
    ):
        with pytest.raises(UsageError, match=told):
            _run(*words)


def test_each_kind_of_fault_is_read_back(tmp_path: Path) -> None:
    """Each kind of record is read back as it was written."""
    records: list[StepRecord] = [
        StepBegun("join", 5),
        EngineKilled(2, 6, 7),
        Fault("broker stopped", 8, 9),
        Closing(10),
    ]
    write_faults(tmp_path / "faults.jsonl", records)
    assert read_faults(tmp_path / "faults.jsonl") == records
