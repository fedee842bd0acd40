"""The verdict as people and programs get it."""

import io
from dataclasses import replace
from pathlib import Path

import orjson
from fairlead_proof.demo.judge import judge
from fairlead_proof.demo.report import DemoReport, print_report, write_report
from rich.console import Console

from fairlead.verify.history import History
from tests.kit.recorded_history import BARE, SMALL, sound_history


def _report(history: History, failure: str | None = None) -> DemoReport:
    return DemoReport(judge(history, SMALL), seed=7, prefix="demo-x.", took_s=61.2, failure=failure)


def _printed(report: DemoReport) -> str:
    console = Console(file=io.StringIO(), width=60)
    print_report(report, console)
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.strip() for line in console.file.getvalue().splitlines())


def test_a_sound_run_is_printed_whole() -> None:
    """A sound run is printed with every step, what the killed left, every requirement."""
    text = _printed(_report(sound_history()))
    assert "verdict: PASSED in 61 s (seed 7)" in text
    assert "FAIL" not in text
    assert [line.split()[0] for line in text.splitlines() if line.endswith(" s")] == [
        "start", "join", "leave", "kill", "grow", "engine_kill",
    ]  # fmt: skip
    assert "b orders/main/3" in text
    assert "two owners at once" in text


def test_a_failed_requirement_is_printed_uncut() -> None:
    """A failed requirement is printed with what was found, wide enough that nothing is cut."""
    history = sound_history()
    text = _printed(_report(replace(history, grants=history.grants - {BARE})))
    assert "verdict: FAILED" in text
    assert "starts that were not granted:\norders/main/0 by a under 1.1\n" in text


def test_a_script_that_ended_early_fails_the_run() -> None:
    """A script that ended early fails the run, whatever the judge says of the rest."""
    report = _report(sound_history(), failure="waited 60 s in vain")
    assert not report.passed
    assert "the script ended early: waited 60 s in vain" in _printed(report)


def test_the_file_holds_the_verdict_and_replaces_an_older_one(tmp_path: Path) -> None:
    """The file holds the verdict, each check, step and killed client, and replaces an older one."""
    path = tmp_path / "report.json"
    path.write_text("old", encoding="utf-8")
    write_report(_report(sound_history()).to_json(), path)
    document = orjson.loads(path.read_bytes())
    assert document["passed"] is True
    assert document["memory_mib"] is None
    assert {check["name"]: check["passed"] for check in document["checks"]}["messages missed"]
    assert [step["moved"] for step in document["steps"]] == [6, 2, 2, 3, 2, 1]
    assert document["killed"][0]["client_id"] == "b"
    assert (document["killed"][0]["read_twice"], document["killed"][0]["at_most"]) == (9, 9)
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
