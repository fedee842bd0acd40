"""A checkpoint has one owner and one layout."""

import errno
import fcntl
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.errors import EnvironmentMissingError, ExitCode, RefusedError
from fairlead.kafka.topic_ids import check_topic_ids
from streaming.checkpoint import Checkpoint, Layout, check_layout
from tests.kit.awaiting import child_process

LAYOUT = Layout.of("some-cluster-id", "fairlead.", (4, 64), 2)

HOLD = """
import sys
from pathlib import Path
from streaming.checkpoint import Checkpoint
with Checkpoint(Path(sys.argv[1])).owned():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_only_the_own_user_reads_the_state(tmp_path: Path) -> None:
    """Nobody but the process's user reads the state, even where the folder was open before."""
    folder = tmp_path / "checkpoint"
    folder.mkdir(mode=0o755)
    with Checkpoint(folder).owned():
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_second_driver_is_refused_while_the_first_lives(tmp_path: Path) -> None:
    """A second driver is refused with the first one's process id, until the first is dead."""
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    command = [sys.executable, "-c", HOLD, str(checkpoint.folder)]
    with child_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        with pytest.raises(RefusedError, match=f"process id {first.pid}") as refused:
            checkpoint.owned().__enter__()
        assert refused.value.exit_code == ExitCode.REFUSED
        first.kill()
        first.wait()
    with checkpoint.owned():
        assert (checkpoint.folder / "lock").read_text() == f"{os.getpid()}\n"


def test_lock_ends_with_context(tmp_path: Path) -> None:
    """After the context another process can have the folder at once."""
    checkpoint = Checkpoint(tmp_path)
    with checkpoint.owned():
        pass
    with (tmp_path / "lock").open() as handle:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.parametrize(
    "path",
    ["file", "file/checkpoint", "/proc/checkpoint", "x" * 300],
    ids=["a file", "below a file", "below proc", "too long"],
)
def test_a_path_that_can_be_no_folder_is_refused(tmp_path: Path, path: str) -> None:
    """A path that can be no folder is refused, with the setting: another start changes nothing."""
    (tmp_path / "file").write_text("")
    with pytest.raises(RefusedError, match=r"engine\.checkpoint") as refused:
        Checkpoint(tmp_path / path).owned().__enter__()
    assert refused.value.exit_code == ExitCode.REFUSED
    assert refused.value.remedy


def test_a_full_disk_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk may have room later: the supervisor tries again."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(EnvironmentMissingError, match="No space left"):
        Checkpoint(tmp_path / "checkpoint").owned().__enter__()


def test_a_layout_comes_back_as_stored(tmp_path: Path) -> None:
    """A layout comes back as it was stored, and there is none before."""
    checkpoint = Checkpoint(tmp_path)
    assert checkpoint.stored_layout() is None
    checkpoint.store_layout(LAYOUT)
    assert checkpoint.stored_layout() == LAYOUT


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2}', '{"version": 1, "shards": 4}'])
def test_a_damaged_layout_refuses_the_start(tmp_path: Path, text: str) -> None:
    """A layout that cannot be read refuses the start instead of counting as new."""
    (tmp_path / "layout.json").write_text(text)
    with pytest.raises(RefusedError, match=r"layout\.json"):
        Checkpoint(tmp_path).stored_layout()


@pytest.mark.parametrize(
    "found, named",
    [
        (replace(LAYOUT, shards=8), "shards was 4 and is 8"),
        (replace(LAYOUT, assignments_partitions=32), "assignments_partitions was 64 and is 32"),
        (replace(LAYOUT, shuffle_partitions=1), "engine.shuffle_partitions"),
        (replace(LAYOUT, cluster_id="other"), "kafka.bootstrap"),
        (replace(LAYOUT, topic_prefix="other."), "kafka.topic_prefix"),
    ],
)
def test_each_difference_of_layout_refuses_the_start(found: Layout, named: str) -> None:
    """Each difference refuses the start, and the message names it."""
    with pytest.raises(RefusedError) as refused:
        check_layout(LAYOUT, found)
    assert named in str(refused.value)


def test_the_same_layout_is_accepted() -> None:
    """The same layout is accepted, whatever keys a newer engine would choose."""
    check_layout(LAYOUT, replace(LAYOUT, keys=(9, 9, 9, 9)))


def test_there_is_state_from_the_first_committed_batch_on(tmp_path: Path) -> None:
    """There is state from the first committed batch on; a planned batch alone is none."""
    checkpoint = Checkpoint(tmp_path)
    assert not checkpoint.has_state()
    (checkpoint.query / "offsets").mkdir(parents=True)
    (checkpoint.query / "offsets" / "0").touch()
    (checkpoint.query / "commits").mkdir()
    (checkpoint.query / "commits" / ".0.crc").touch()
    assert not checkpoint.has_state()
    for batch in (0, 9, 10):
        (checkpoint.query / "commits" / str(batch)).touch()
    assert checkpoint.has_state()
    assert checkpoint.newest_commit() == 10


@pytest.mark.parametrize("planned", [None, 7])
def test_a_state_without_commits_refuses_the_start(tmp_path: Path, planned: int | None) -> None:
    """What only a committed batch leaves behind, without any commit, refuses the start."""
    checkpoint = Checkpoint(tmp_path)
    states = checkpoint.query / "state" / "0" / "0"
    states.mkdir(parents=True)
    (states / "3.delta").touch()
    (checkpoint.query / "offsets").mkdir()
    if planned is not None:
        (checkpoint.query / "offsets" / str(planned)).touch()
    with pytest.raises(RefusedError, match="is damaged: query holds no commit") as refused:
        checkpoint.has_state()
    assert str(tmp_path) in refused.value.remedy


def test_an_unfinished_first_batch_is_no_state(tmp_path: Path) -> None:
    """A first batch that was never committed is no state, whatever it wrote, and is forgotten."""
    checkpoint = Checkpoint(tmp_path)
    states = checkpoint.query / "state" / "0" / "0"
    states.mkdir(parents=True)
    (states / "1.delta").touch()
    (checkpoint.query / "offsets").mkdir()
    (checkpoint.query / "offsets" / "0").touch()
    checkpoint.store_layout(LAYOUT)
    assert not checkpoint.has_state()
    checkpoint.forget_first_batch()
    assert not checkpoint.query.exists()
    assert checkpoint.stored_layout() == LAYOUT


def test_the_ids_of_the_topics_come_back(tmp_path: Path) -> None:
    """The ids of the topics come back as they were stored; damaged ones refuse the start."""
    checkpoint = Checkpoint(tmp_path)
    assert checkpoint.stored_topic_ids() == {}
    checkpoint.store_topic_ids({"t.control": "a", "t.routes": "b"})
    assert checkpoint.stored_topic_ids() == {"t.control": "a", "t.routes": "b"}
    (tmp_path / "topics.json").write_text('{"version": 9}')
    with pytest.raises(RefusedError, match=r"topics\.json"):
        checkpoint.stored_topic_ids()


def test_topics_made_anew() -> None:
    """Only a topic whose id both sides know can differ, and every one that does is named."""
    check_topic_ids({}, {"t.a": "1"})
    check_topic_ids({"t.a": "1", "t.b": "2"}, {"t.a": "1"})
    with pytest.raises(RefusedError, match=r"t\.a \(its id was 1 and is 3\), t\.b") as refused:
        check_topic_ids({"t.a": "1", "t.b": "2", "t.c": "5"}, {"t.a": "3", "t.b": "4", "t.c": "5"})
    assert refused.value.exit_code == ExitCode.REFUSED


PLANNED = """v1
{"batchWatermarkMs":0,"batchTimestampMs":1795278024368,"conf":{"spark.sql.shuffle.partitions":"1"}}
{"fairlead.heartbeats":{"0":29,"1":49},"fairlead.routes":{"0":9}}"""


def _batch(checkpoint: Checkpoint, number: int, text: str, *, committed: bool) -> None:
    """Write what Spark writes for a batch."""
    for folder in ("offsets", "commits")[: 2 if committed else 1]:
        (checkpoint.query / folder).mkdir(parents=True, exist_ok=True)
        (checkpoint.query / folder / str(number)).write_text(text, encoding="utf-8")


def test_the_query_reads_on_behind_the_newest_committed_batch(tmp_path: Path) -> None:
    """The query reads on behind the newest committed batch, also where a later one was planned."""
    checkpoint = Checkpoint(tmp_path)
    _batch(checkpoint, 9, PLANNED, committed=True)
    read = {
        ("fairlead.heartbeats", 0): 29,
        ("fairlead.heartbeats", 1): 49,
        ("fairlead.routes", 0): 9,
    }
    assert checkpoint.next_offsets() == checkpoint.planned_offsets() == read
    _batch(checkpoint, 10, PLANNED.replace("49", "60"), committed=False)
    assert checkpoint.next_offsets() == read
    assert checkpoint.planned_offsets() == {**read, ("fairlead.heartbeats", 1): 60}


@pytest.mark.parametrize(
    "text",
    ["", "v1\n{}", PLANNED.replace("v1", "v2"), PLANNED.replace("29", '"x"'), "v1\n{}\n[]"],
)
def test_damaged_offsets_refuse_the_start(tmp_path: Path, text: str) -> None:
    """Offsets that cannot be read refuse the start, with the file's name."""
    checkpoint = Checkpoint(tmp_path)
    _batch(checkpoint, 3, text, committed=True)
    with pytest.raises(RefusedError, match="offsets/3 cannot be parsed"):
        checkpoint.next_offsets()


def test_lost_offsets_refuse_the_start(tmp_path: Path) -> None:
    """A commit without its offsets refuses the start as well."""
    checkpoint = Checkpoint(tmp_path)
    _batch(checkpoint, 3, PLANNED, committed=True)
    (checkpoint.query / "offsets" / "3").unlink()
    with pytest.raises(RefusedError, match="offsets/3 cannot be parsed"):
        checkpoint.next_offsets()
