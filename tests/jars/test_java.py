"""Which Java is taken, and what is said when none will do."""

from pathlib import Path

import pytest

from fairlead.errors import EnvironmentMissingError, ExitCode
from fairlead.java import find_java

pytestmark = pytest.mark.java


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that FAIRLEAD_JAVA names; each test says what it does."""
    path = tmp_path / "java"
    monkeypatch.setenv("FAIRLEAD_JAVA", str(path))
    return path


def _write(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_the_java_of_this_machine_is_found() -> None:
    """It runs, is 17 or later, and its home holds it."""
    java = find_java()
    assert java.major >= 17
    assert (java.home / "bin" / "java").exists()
    assert f'version "{java.major}' in java.banner


def test_java_home_is_asked_after_fairlead_java(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """JAVA_HOME decides when FAIRLEAD_JAVA is not set, and a wrong one is not passed over."""
    home = find_java().home
    monkeypatch.delenv("FAIRLEAD_JAVA", raising=False)
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert find_java().executable == home / "bin" / "java"
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EnvironmentMissingError, match=r"JAVA_HOME leads to .*bin/java"):
        find_java()


def test_a_java_that_is_not_there_is_named(program: Path) -> None:
    """The error says which variable led there, what to do, and has the environment's exit code."""
    with pytest.raises(EnvironmentMissingError, match=f"FAIRLEAD_JAVA leads to {program}") as error:
        find_java()
    assert "Install a JDK" in error.value.remedy
    assert error.value.exit_code == ExitCode.ENVIRONMENT


def test_an_old_java_is_refused(program: Path) -> None:
    """Java 11 says who it is, and that is not enough."""
    _write(program, 'echo "    java.home = /opt/11" >&2; echo \'openjdk version "11.0.2"\' >&2')
    with pytest.raises(EnvironmentMissingError, match="is Java 11; 17 or later is needed"):
        find_java()


def test_a_java_that_fails_is_quoted(program: Path) -> None:
    """What a broken installation says stands in the error."""
    _write(program, "echo 'Could not create the Java Virtual Machine.' >&2; exit 1")
    with pytest.raises(EnvironmentMissingError, match="code 1 and printed: Could not create"):
        find_java()


def test_a_program_that_cannot_be_run_is_named(program: Path) -> None:
    """A file that is no program for this machine."""
    program.write_bytes(b"\x7fELF not really")
    program.chmod(0o755)
    with pytest.raises(EnvironmentMissingError, match="does not run"):
        find_java()
