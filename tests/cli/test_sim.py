"""The command that runs lives by seed, from its flags to its exit code."""

import orjson
import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.core.draft import Draft
from fairlead.errors import ExitCode

RUNNER = CliRunner()


def test_a_few_schedules_are_counted_and_not_judged_by_how_much_happened() -> None:
    """Six schedules are too few to tell whether enough goes wrong; they break no promise."""
    ran = RUNNER.invoke(app, ["proof", "sim", "-n", "6", "--seed", "900", "-o", "json"])
    assert ran.exit_code == ExitCode.OK, ran.output
    (document,) = orjson.loads(ran.stdout)
    assert document["schedules"] == 6
    assert document["passed"] is True
    assert {target["passed"] for target in document["targets"]} == {None}
    assert sum(document["faults"].values()) > 6
    assert document["breaches"] == []


def test_the_table_names_every_fault_and_the_measures() -> None:
    """People see what went wrong, how often, and what came of it."""
    ran = RUNNER.invoke(app, ["proof", "sim", "--schedules", "2"])
    assert ran.exit_code == ExitCode.OK
    for words in ("engine dies partly written", "handovers, released", "broke a promise"):
        assert words in ran.stdout


def test_a_story_is_told_line_by_line() -> None:
    """One schedule can be read as what happened when, to whom."""
    ran = RUNNER.invoke(app, ["proof", "sim", "--story", "--seed", "5"])
    assert ran.exit_code == ExitCode.OK
    assert "lets everything heal" in ran.stdout
    again = RUNNER.invoke(app, ["proof", "sim", "--story", "--seed", "5", "-o", "json"])
    (document,) = orjson.loads(again.stdout)
    assert document["story"] == ran.stdout.splitlines()


def test_a_broken_promise_is_shown_with_how_to_repeat_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lowest seed that fails ends the output: version, story, and the command to type."""
    monkeypatch.setattr(Draft, "new_epoch", lambda self: self.state.epoch)
    monkeypatch.setattr(Draft, "next_epoch", lambda self: self.state.epoch)
    ran = RUNNER.invoke(app, ["proof", "sim", "-n", "3", "--seed", "40"])
    assert ran.exit_code == ExitCode.VERDICT_NEGATIVE
    assert "seed 40, fairlead " in ran.stderr
    assert "fairlead proof sim --story --seed 40" in ran.stderr
    assert "driver-1" in ran.stderr


def test_no_schedules_are_refused() -> None:
    """A run of nothing proves nothing."""
    assert RUNNER.invoke(app, ["proof", "sim", "-n", "0"]).exit_code == ExitCode.USAGE
