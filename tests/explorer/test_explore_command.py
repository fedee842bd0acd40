"""``fairlead proof explore``: what it prints, what it refuses, and its exit codes."""

import json
from pathlib import Path

import pytest

from fairlead.cli.main import main
from fairlead.core.draft import Draft
from fairlead.errors import ExitCode


def run(*arguments: str) -> int:
    """Run the command; return its exit code."""
    with pytest.raises(SystemExit) as ended:
        main(["proof", "explore", *arguments])
    return int(ended.value.code or 0)


def test_a_world_that_holds(capsys: pytest.CaptureFixture[str]) -> None:
    """A world of one's own is searched, and its counts are printed."""
    assert run("--clients", "2", "-o", "json") == ExitCode.OK
    (document,) = json.loads(capsys.readouterr().out)
    assert document["whole"]
    assert document["violation"] is None
    assert document["states"] > 50
    assert document["world"]["clients"] == 2


def test_a_violation_is_told_and_done_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A violation ends with 1 and lists its run step by step; --replay does it again."""
    add_of = Draft.add_of
    monkeypatch.setattr(Draft, "add_of", lambda *each: _ungated(add_of(*each)))
    assert run("--clients", "2", "-o", "jsonl") == ExitCode.VERDICT_NEGATIVE
    document = capsys.readouterr().out
    found = json.loads(document)
    assert found["violation"].startswith("DOUBLE: c0.1 and c1.1")
    kept = tmp_path / "run.json"
    kept.write_text(document)
    assert run("--replay", str(kept)) == ExitCode.VERDICT_NEGATIVE
    told = capsys.readouterr()
    assert all(step in told.out for step in found["run"])
    assert told.err.startswith("DOUBLE")
    assert run("--clients", "2") == ExitCode.VERDICT_NEGATIVE
    assert f"   1  {found['run'][0]}" in capsys.readouterr().out


def _ungated(add: object) -> object:
    from dataclasses import replace

    return replace(add, after=())  # type: ignore[type-var]  # the add of a draft


def test_an_abandoned_search_proves_nothing() -> None:
    """A search that is given up proves nothing, and says so by its exit code."""
    assert run("--clients", "2", "--moves", "2", "--states-max", "20") == ExitCode.VERDICT_NEGATIVE


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["--rows", "some"], "there is no set 'some'"),
        (["--rows", "small", "--clients", "2"], "not with flags that describe a world"),
        (["--restart", "gone"], "'gone' is unknown"),
        (["--replay", "nowhere.json"], "cannot be read"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What makes no sense is refused with the option and the remedy."""
    assert run(*arguments) == ExitCode.USAGE
    assert says in capsys.readouterr().err


def test_a_run_of_other_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that the present code does not take is refused by its step."""
    kept = tmp_path / "run.json"
    kept.write_text(json.dumps({"world": {"clients": 2}, "run": ["nothing happens"]}))
    assert run("--replay", str(kept)) == ExitCode.USAGE
    assert "step 1 is not possible here: nothing happens" in capsys.readouterr().err
