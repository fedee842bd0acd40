"""The Java core does what the vectors of the thin session say."""

import subprocess
from pathlib import Path

import pytest

from tests.kit.awaiting import SECONDS
from tests.thin.vectors import FILE
from tools.java_client import JavaClient

pytestmark = pytest.mark.java


def run(client: JavaClient, file: str) -> "subprocess.CompletedProcess[str]":
    """Replay a file."""
    command = client.command("VectorRunner", file)
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)


def test_the_core_does_what_the_vectors_say(java_client: JavaClient) -> None:
    """Each event of each vector has the actions, the lease and the works that the file says."""
    done = run(java_client, str(FILE))
    assert done.returncode == 0, done.stdout + done.stderr
    vectors = FILE.read_text(encoding="utf-8").count("\n[\n")
    assert done.stdout.startswith(f"{vectors} vectors, ")


@pytest.mark.parametrize(
    "said, instead",
    [
        ('["send_leave"', '["send_poll"'),
        ('["stop_all","lease', '["stop_all","x'),
        ("9000,", "9001,"),
    ],
)
def test_a_core_that_does_something_else_is_found(
    java_client: JavaClient, tmp_path: Path, said: str, instead: str
) -> None:
    """The runner fails at a step that differs in one action, one reason or one number."""
    text = FILE.read_text(encoding="utf-8")
    place = text.rindex(said)
    file = tmp_path / "wrong.json"
    file.write_text(text[:place] + instead + text[place + len(said) :], encoding="utf-8")
    done = run(java_client, str(file))
    assert done.returncode == 1
    assert "wanted" in done.stdout
