"""A checkpoint is looked at without Spark: recorded ones, each damaged in one way."""

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairlead.errors import ExitCode, RefusedError
from streaming.checkpoint import Checkpoint
from streaming.damage import DamagedError
from streaming.inspection import inspect, refusal_of
from tests.kit.unpacking import unpack_archive
from tests.streaming.damages import DAMAGES, empty, newest, without_sum

RECORDED = Path(__file__).with_name("recorded") / "checkpoints.tar.gz"
"""Of a real engine: one that stopped in order, and one killed with a batch planned."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded checkpoints; a test works on a copy."""
    folder = tmp_path_factory.mktemp("recorded")
    unpack_archive(RECORDED, folder)
    return folder


@pytest.fixture(params=["stopped", "killed"])
def checkpoint(request: pytest.FixtureRequest, recorded: Path, tmp_path: Path) -> Checkpoint:
    """A whole checkpoint."""
    shutil.copytree(recorded / request.param, tmp_path / "checkpoint")
    return Checkpoint(tmp_path / "checkpoint")


def test_what_an_engine_leaves_is_whole(checkpoint: Checkpoint) -> None:
    """What an engine leaves behind, stopped or killed, is whole; looking changes nothing."""
    before = {path: path.stat().st_mtime_ns for path in checkpoint.folder.rglob("*")}
    inspect(checkpoint)
    assert {path: path.stat().st_mtime_ns for path in checkpoint.folder.rglob("*")} == before


@pytest.mark.parametrize("name", DAMAGES)
def test_each_fatal_damage_is_named_with_the_way_out(checkpoint: Checkpoint, name: str) -> None:
    """Each damage that a start would die of is named, with the way out; the others are none."""
    damage = DAMAGES[name]
    damage.do(checkpoint.query)
    found = refusal_of(checkpoint)
    if damage.stopped != "inspection":
        assert found is None
        return
    assert isinstance(found, DamagedError)
    assert found.exit_code == ExitCode.REFUSED
    assert found.message.startswith(f"engine.checkpoint: {checkpoint.folder} is damaged: ")
    assert damage.named in found.message
    assert f"mv {checkpoint.folder} {checkpoint.folder}.damaged-1" in found.remedy
    assert found.folder == checkpoint.folder


def test_leftovers_of_a_kill(checkpoint: Checkpoint) -> None:
    """Files that were being written are none that a start reads."""
    store = checkpoint.query / "state" / "0" / "0"
    plan = newest(checkpoint.query, "offsets")
    for folder, name in ((plan.parent, f"{int(plan.name) + 1}"), (store, "900.delta")):
        staged = f".{name}.38f69b0b-ed3c-431f-9ed8-8b62f426e4ef.TID7.tmp"
        (folder / staged).write_bytes(b"v1\n{")
        (folder / f".{staged}.crc").write_bytes(b"crc")
    # A batch that is run again writes its state over what the killed one has left, file by file.
    (store / "155.delta").write_bytes(b"new")
    (store / ".155.delta.crc").write_bytes(b"crc\0\0\0\2\0old!")
    (checkpoint.query / "commits" / ".155.crc").write_bytes(b"")
    inspect(checkpoint)


def test_an_unreadable_snapshot_is_replaced_by_changes(checkpoint: Checkpoint) -> None:
    """Spark goes without a snapshot while the changes since the one before it are there."""
    store = checkpoint.query / "state" / "0" / "0"
    shutil.copy(store / "129.snapshot", store / "140.snapshot")
    empty(store / "140.snapshot")
    inspect(checkpoint)
    (store / "135.delta").unlink()
    with pytest.raises(DamagedError, match=r"140\.snapshot is empty"):
        inspect(checkpoint)


def test_another_state_store_is_not_judged(checkpoint: Checkpoint) -> None:
    """A kind of state store that is none of ours is not judged."""
    store = checkpoint.query / "state" / "0" / "0"
    for path in store.glob("*.*"):
        path.unlink()
    (store / "154.zip").touch()
    inspect(checkpoint)


def test_a_folder_without_a_committed_batch_is_whole() -> None:
    """A folder that is not there yet, or holds no committed batch, is whole."""
    assert refusal_of(Checkpoint(Path("/path/to/checkpoint"))) is None


def test_without_the_layout_the_topics_are_unknown(checkpoint: Checkpoint) -> None:
    """Without the layout nobody knows which topics the state is of."""
    (checkpoint.folder / "layout.json").unlink()
    with pytest.raises(DamagedError, match=r"layout\.json is missing"):
        inspect(checkpoint)


def test_another_version_is_refused_and_is_no_damage(checkpoint: Checkpoint) -> None:
    """A checkpoint of another version is refused, and is not damaged: it is not moved aside."""
    path = checkpoint.folder / "layout.json"
    path.write_text(path.read_text().replace('"version": 1', '"version": 7'))
    with pytest.raises(RefusedError, match="another version of Fairlead") as refused:
        inspect(checkpoint)
    assert not isinstance(refused.value, DamagedError)
    assert refused.value.exit_code == ExitCode.REFUSED


@contextlib.contextmanager
def _nobody() -> Iterator[None]:
    """Have no rights of root's while the context is open."""
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody without rights")
@pytest.mark.parametrize("place, what", [("query/offsets", "written"), ("query/metadata", "read")])
def test_missing_rights_are_no_damage(recorded: Path, place: str, what: str) -> None:
    """The error names what this user may not read or write, and calls it no damage."""
    # pytest's own folders are closed to others.
    with tempfile.TemporaryDirectory() as above:
        Path(above).chmod(0o755)
        checkpoint = Checkpoint(Path(above) / "checkpoint")
        shutil.copytree(recorded / "stopped", checkpoint.folder)
        for path in (checkpoint.folder, *checkpoint.folder.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)
        with _nobody():
            inspect(checkpoint)
        (checkpoint.folder / place).chmod(0o700)
        with _nobody():
            found = refusal_of(checkpoint)
    assert type(found) is RefusedError
    assert f"{place} may not be {what} by this user (uid 65534)" in found.message


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_read_only_disk_is_refused_without_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """A folder on a read-only disk is refused with its own remedy, and no restart is tried."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(RefusedError, match="may not be written") as refused:
        Checkpoint(tmp_path / "checkpoint").owned().__enter__()
    assert "dmesg" in refused.value.remedy


def test_a_full_disk_is_named_first(
    checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The remedy for what a full disk may have emptied begins with the disk."""
    monkeypatch.setattr("streaming.damage.is_full", lambda _folder: True)
    empty(without_sum(newest(checkpoint.query, "commits")))
    found = refusal_of(checkpoint)
    assert isinstance(found, DamagedError)
    assert found.remedy.startswith("Its disk is full: free space first")
