"""The command says who caught what, and ends with 1 unless everything was caught."""

import json
import subprocess
import sys

import pytest

from tests.kit.awaiting import LONGEST_SECONDS
from tests.mutants.tree import ROOT

pytestmark = pytest.mark.xdist_group("mutants")


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the command as make mutants does."""
    command = [sys.executable, "-m", "tests.mutants", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS
    )


def test_two_at_once() -> None:
    """Each of two processes hunts in its own copy; programs get everything that was found."""
    done = run("--quick", "--jobs", "2", "--only", "M26", "--only", "M3", "-o", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(each["mutant"], each["caught"]) for each in found] == [("M3", True), ("M26", True)]
    assert found[1]["catchers"][0]["violation"].startswith("DOUBLE")
    assert found[1]["catchers"][0]["run"]


def test_an_unknown_name_is_wrong_usage() -> None:
    """A name that nobody has is wrong usage, and the names are listed."""
    done = run("--only", "M99")
    assert done.returncode == 2
    assert "M99" in done.stderr
