"""The set-up refuses what it cannot work with, and says what to do."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.kit.awaiting import LONGEST_SECONDS

ROOT = Path(__file__).resolve().parents[2]


def _script(path: Path, text: str) -> str:
    """Write a program that prints what an older tool would print."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS
    )


def test_an_old_python_is_named_with_a_remedy(tmp_path: Path) -> None:
    """A Python that does not fit is named with its version and the remedy."""
    old = _script(tmp_path / "python3", 'case "$2" in *platform*) echo 3.9.18;; *) exit 1;; esac')
    done = _run("deploy/find-python", "--check", old)
    assert done.returncode == 3
    assert f"PYTHON={old} is 3.9.18; Python 3.11 or 3.12" in done.stderr
    assert "make setup PYTHON=" in done.stderr


def test_a_missing_python_is_named() -> None:
    """Where no Python fits, the set-up says so instead of failing somewhere later."""
    done = _run("deploy/find-python", "--check", "")
    assert done.returncode == 3
    assert "no Python 3.11 or 3.12" in done.stderr


def test_python_is_searched(tmp_path: Path) -> None:
    """The first fitting Python of the path is found; one that does not run is passed over."""
    _script(tmp_path / "python3.11", "exit 127")
    _script(tmp_path / "python3", "exit 0")
    path = f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin"
    done = subprocess.run(
        [ROOT / "deploy" / "find-python"],
        cwd=ROOT,
        env={"PATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST_SECONDS,
    )
    assert done.stdout == "python3\n"


@pytest.mark.parametrize(
    "banner, wanted",
    [
        ('openjdk version "11.0.2" 2019-01-15', "is Java 11; 17 or later is needed"),
        ('java version "1.8.0_392"', "is Java 1; 17 or later is needed"),
        ("what is this", "is Java ?; 17 or later is needed"),
    ],
)
def test_an_old_java_is_named_with_a_remedy(banner: str, wanted: str, tmp_path: Path) -> None:
    """A Java that is too old is named with its version and the remedy."""
    old = _script(tmp_path / "java", f"echo '{banner}' >&2")
    done = _run("deploy/check-java", old)
    assert done.returncode == 3
    assert wanted in done.stderr
    assert "set JAVA_HOME" in done.stderr


@pytest.mark.parametrize("major", [17, 21, 25])
def test_java_17_and_later_are_accepted(major: int, tmp_path: Path) -> None:
    """Java 17 and later is accepted without a word."""
    new = _script(tmp_path / "java", f"echo 'openjdk version \"{major}.0.1\" 2026-01-01' >&2")
    done = _run("deploy/check-java", new)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_missing_java_is_named_with_a_remedy(tmp_path: Path) -> None:
    """A Java that is not there is named with the remedy."""
    done = _run("deploy/check-java", str(tmp_path / "java"))
    assert done.returncode == 3
    assert "does not run" in done.stderr


def test_make_alone_lists_the_targets() -> None:
    """Make without a target lists the targets of the README."""
    done = _run("make")
    assert done.returncode == 0
    targets = ("setup", "demo", "test", "test-fast", "test-long", "bench", "bench-strategies")
    for target in (*targets, "check", "lock", "explore"):
        assert f"  make {target} " in done.stdout
