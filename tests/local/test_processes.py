"""A process and all it started: processor time and memory, on trees of real small processes."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fairlead_proof.local import processes
from fairlead_proof.local.processes import (
    FamilyMemory,
    family_memory,
    family_of,
    memory_bytes,
    processor_seconds,
)

from tests.kit.awaiting import child_process

MEBIBYTE = 2**20
HELD = 40 * MEBIBYTE

BURN = """
import sys, time
begun = time.process_time()
while time.process_time() - begun < 0.5:
    pass
print("burnt", flush=True)
sys.stdin.readline()
"""
BURN_IN_CHILD = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {BURN!r}])
child.wait()
"""
HOLD = """
import sys
held = b"x" * int(sys.argv[1])
print("held", flush=True)
sys.stdin.readline()
"""
HOLD_AND_CHILD = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {HOLD!r}, sys.argv[1]])
{HOLD}
child.wait()
"""


@contextlib.contextmanager
def _running(code: str, *, words: int = 1) -> Iterator[int]:
    """A process that is there until the end of the context; begins when it has said its words."""
    with child_process(
        [sys.executable, "-c", code, str(HELD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        for _ in range(words):
            assert process.stdout.readline()
        yield process.pid
        process.stdin.write("\n" * words)
        process.stdin.flush()


def _gone() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize("code", [BURN, BURN_IN_CHILD], ids=["own", "of_child"])
def test_the_processor_time_of_a_child_counts(code: str) -> None:
    """The time that a process or its child used is seen while both live."""
    with _running(code) as pid:
        used = processor_seconds(pid)
    assert 0.4 < used < 5.0


def test_a_process_that_is_gone_has_no_figure() -> None:
    """A process that is gone has no figure."""
    gone = _gone()
    for figure in (processor_seconds, memory_bytes, family_of):
        with pytest.raises(ProcessLookupError):
            figure(gone)
    assert processor_seconds(os.getpid()) > 0


def test_memory_of_a_tree() -> None:
    """The memory of a process and of its child are added up, each page once."""
    with _running(HOLD_AND_CHILD, words=2) as pid:
        members = [member.pid for member in family_of(pid)]
        parts = [memory_bytes(member) for member in members]
        found = family_memory(pid, seconds_max=5.0)
    assert len(members) == found.processes == 2
    assert members[0] == pid
    assert found.complete
    assert min(parts) >= HELD
    assert 2 * HELD < found.bytes < 2 * HELD + 60 * MEBIBYTE
    assert found.bytes == pytest.approx(sum(parts), rel=0.05)


def test_a_process_that_ends_meanwhile_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ends between being found and being looked at is left out."""
    gone = processes.Process(_gone(), "S", 1, 1, 0.0, 9)
    with _running(HOLD) as pid:
        living = family_of(pid)
        monkeypatch.setattr(processes, "family_of", lambda _: [gone, *living])
        found = family_memory(pid, seconds_max=5.0)
    assert found.complete
    assert found.processes == 1
    assert found.bytes >= HELD


def test_look_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look that has taken its time looks at nothing more, and has looked at the greatest."""
    with _running(HOLD_AND_CHILD, words=2) as pid, _running(BURN) as small:
        family = [*family_of(small), *family_of(pid)]
        times = iter([0.0, 0.1, 0.2, 0.3])
        monkeypatch.setattr(processes, "family_of", lambda _: family)
        monkeypatch.setattr(processes, "monotonic", lambda: next(times))
        found = family_memory(pid, seconds_max=0.25)
    assert (found.processes, found.complete) == (2, False)
    assert found.bytes > 2 * HELD


def test_kernel_does_not_tell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A living process whose memory cannot be read is an error, not a process that is gone."""
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_text("7 (a) b) S 1 7 7 0 -1 0 0 0 0 0 3 4 0 0 20 0 1 0 9 8 25")
    monkeypatch.setattr(processes, "PROC", tmp_path)
    assert processor_seconds(7) == 7 / os.sysconf("SC_CLK_TCK")
    with pytest.raises(FileNotFoundError):
        family_memory(7, seconds_max=1.0)
    (tmp_path / "7" / "smaps_rollup").write_text("0-1 ---p 0 00:00 0 [rollup]\nRss: 4 kB\n")
    with pytest.raises(OSError, match="has no Pss"):
        memory_bytes(7)
    (tmp_path / "7" / "smaps_rollup").write_text("Rss: 9 kB\nPss:    5 kB\nPss_Dirty: 1 kB\n")
    assert family_memory(7, seconds_max=1.0) == FamilyMemory(5 * 1024, 1, complete=True)
