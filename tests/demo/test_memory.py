"""The memory of a run: the greatest of many looks at this process and all it started."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fairlead_proof.demo.memory import MemoryUse, MemoryWatch
from fairlead_proof.local import processes

from tests.kit.awaiting import child_process

HELD = 40 * 2**20
SECONDS = 20.0
HOLD = f"""
held = b"x" * {HELD}
print("held", flush=True)
input()
"""


def _await(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _looks(watch: MemoryWatch) -> int:
    return watch.use.looks if watch.use is not None else 0


def test_what_a_child_needed_counts_when_it_is_gone() -> None:
    """What a child needed counts on when it is gone."""
    with MemoryWatch(look_seconds=0.01) as watch:
        _await(lambda: _looks(watch) > 0)
        assert watch.use is not None
        alone = watch.use
        with child_process(
            [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            assert child.stdin is not None
            assert child.stdout.readline() == "held\n"
            seen = _looks(watch)
            _await(lambda: _looks(watch) >= seen + 2)
            child.stdin.write("\n")
        seen = _looks(watch)
        _await(lambda: _looks(watch) >= seen + 2)
    assert watch.use.bytes > alone.bytes + HELD // 2
    assert watch.use.processes == alone.processes + 1


def test_the_greatest_sum_of_memory_is_kept() -> None:
    """The greatest sum is kept with its processes; a look that was broken off is counted."""
    use = MemoryUse()
    for found, count, complete in [(5, 2, True), (9, 3, False), (7, 4, True)]:
        use = use.with_look(found, count, complete=complete)
    assert use == MemoryUse(bytes=9, processes=3, looks=3, broken_off=1)
    assert [MemoryUse(bytes=size).mib for size in (0, 1, 2**20, 2**20 + 1)] == [0, 1, 1, 2]


def test_kernel_does_not_tell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where memory cannot be read there is no figure, and the run goes on."""
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_text("7 (a) S 1 7 7 0 -1 0 0 0 0 0 3 4 0 0 20 0 1 0 9 8 25")
    monkeypatch.setattr(processes, "PROC", tmp_path)
    with MemoryWatch(7, look_seconds=0.01) as watch:
        time.sleep(0.05)
    assert watch.use is None
