"""A damaged checkpoint is renamed, never deleted, within bounds, and only when nobody uses it."""

import subprocess
import sys
from pathlib import Path

import pytest

from fairlead.errors import RefusedError
from streaming.checkpoint import Checkpoint
from streaming.damage import copies_of, next_copy
from streaming.moving_aside import move_aside
from tests.kit.awaiting import child_process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkpoint whose name means something in a pattern."""
    made = tmp_path / "state[1]*"
    (made / "query").mkdir(parents=True)
    (made / "query" / "metadata").write_text("x", encoding="ascii")
    return made


def test_a_moved_folder_is_kept_whole(folder: Path) -> None:
    """It is kept whole beside its old place, under a name that nothing has."""
    folder.with_name("state[1]*.damaged-7").mkdir()
    folder.with_name("state1.damaged-9").mkdir()
    kept = move_aside(folder, 3)
    assert kept == folder.with_name("state[1]*.damaged-8")
    assert (kept / "query" / "metadata").read_text(encoding="ascii") == "x"
    assert not folder.exists()
    assert [path.name for path in copies_of(folder)] == [
        "state[1]*.damaged-7",
        "state[1]*.damaged-8",
    ]


def test_with_too_many_kept_nothing_is_moved(folder: Path) -> None:
    """With so many kept already nothing is moved; the remedy names the oldest."""
    for number in (2, 10):
        folder.with_name(f"state[1]*.damaged-{number}").mkdir()
    with pytest.raises(RefusedError, match="2 damaged checkpoints are already kept") as refused:
        move_aside(folder, 2)
    assert ".damaged-2 and the others" in refused.value.remedy
    assert folder.exists()
    assert next_copy(folder).name == "state[1]*.damaged-11"


HOLD = """
import fcntl, sys
with open(sys.argv[1], "a+b") as handle:
    fcntl.lockf(handle, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_folder_in_use_stays(folder: Path) -> None:
    """A folder that a driver has, or the JVM of a killed one, stays."""
    with Checkpoint(folder).owned(), pytest.raises(RefusedError, match="is in use by the driver"):
        move_aside(folder, 3)
    command = [sys.executable, "-c", HOLD, str(folder / "jvm.lock")]
    with child_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as jvm:
        assert jvm.stdout is not None
        assert jvm.stdout.readline() == "held\n"
        with pytest.raises(RefusedError, match="a JVM still uses"):
            move_aside(folder, 3, jvm_seconds_max=0.2)
        assert folder.exists()
        jvm.kill()
        jvm.wait()
    move_aside(folder, 3)


def test_the_target_of_a_link_is_moved(folder: Path, tmp_path: Path) -> None:
    """Where the folder is a link, what it leads to is moved, and the link stays of use."""
    link = tmp_path / "link"
    link.symlink_to(folder)
    kept = move_aside(link, 3)
    assert (kept / "query" / "metadata").exists()
    assert kept.parent == folder.parent
    assert [*link.iterdir()] == []


def test_on_a_full_disk_nothing_is_moved(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk nothing is moved: the next engine could write nothing either."""
    monkeypatch.setattr("streaming.moving_aside.is_full", lambda _folder: True)
    with pytest.raises(RefusedError, match="is full"):
        move_aside(folder, 3)
    assert folder.exists()
