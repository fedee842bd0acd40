"""A recording that somebody else made: nothing in it is waited for, followed, or read for ever."""

import gzip
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.recording import RecordingError, open_recording
from fairlead.recording.folder import LINE_BYTES_MAX
from tests.kit.recordings import rows_of, settings_of, write_recording
from tests.kit.world import World

NAME = "heartbeats-0.jsonl.gz"

COMMANDS = (
    ("verify",),
    ("replay",),
    ("explain", "orders", "--queue", "orders/main/0", "--dump"),
    ("moves", "orders", "--dump"),
    ("offsets", "show", "orders", "--dump"),
    ("group", "list", "--dump"),
    ("group", "check", "orders", "--dump"),
    ("watch", "orders", "--dump"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sound recording."""
    world = World()
    world.join("a")
    world.pass_seconds(3)
    write_recording(tmp_path / "r", rows_of(world), settings_of(world))
    return tmp_path / "r"


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _link(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def _device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def _socket(path: Path) -> None:
    path.unlink()
    with socket.socket(socket.AF_UNIX) as made:
        # A path of a socket is short.
        made.bind(os.path.relpath(path))


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


STRANGE: dict[Callable[[Path], None], str] = {
    _fifo: "it is a FIFO",
    _link: "it is a symbolic link",
    _device: "it is a symbolic link",
    _socket: "it is a socket",
    _folder: "it is a folder",
}


@pytest.mark.parametrize("name", [NAME, "manifest.json"])
@pytest.mark.parametrize("make", STRANGE, ids=lambda make: make.__name__)
def test_what_is_no_regular_file_is_refused(
    folder: Path, name: str, make: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is no regular file is refused by its name, and neither waited for nor followed."""
    monkeypatch.chdir(folder)
    make(folder / name)
    with pytest.raises(RecordingError, match=f"{name}: {STRANGE[make]}") as raised:
        list(open_recording(folder).rows("heartbeats", 0))
    assert raised.value.remedy


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_refuses_a_hostile_recording(folder: Path, words: tuple[str, ...]) -> None:
    """Every command that reads a recording refuses it so: they have one reader."""
    for name in ("heartbeats-0", "assignments-0", "decisions-0", "rejects-0"):
        _fifo(folder / f"{name}.jsonl.gz")
    ended = CliRunner().invoke(app, [*words, str(folder)])
    assert isinstance(ended.exception, RecordingError), ended
    assert "it is a FIFO" in str(ended.exception)


def _edit(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "manifest.json"
    document = orjson.loads(path.read_bytes())
    edit(document)
    path.write_bytes(orjson.dumps(document))


@pytest.mark.parametrize(
    "file", ["../../etc/passwd", "/etc/passwd", "heartbeats-1.jsonl.gz", "", 7, None]
)
def test_file_of_the_manifest(folder: Path, file: object) -> None:
    """A manifest names no file but those that a recording has: nothing else is opened."""
    _edit(folder, lambda document: document["topics"]["heartbeats"]["0"].update(file=file))
    with pytest.raises(RecordingError, match=r"instead of heartbeats-0\.jsonl\.gz"):
        open_recording(folder)


def test_topic_of_the_manifest(folder: Path) -> None:
    """Nor a topic that Fairlead does not have, from which a path could be made."""

    def edit(document: dict[str, Any]) -> None:
        part = {**document["topics"]["heartbeats"]["0"], "file": "../x-0.jsonl.gz"}
        document["topics"]["../x"] = {"0": part}

    _edit(folder, edit)
    with pytest.raises(RecordingError, match=r"it has an unknown topic '../x'"):
        open_recording(folder)


@pytest.mark.parametrize(
    "numbers",
    [{"first": -1}, {"records": 10**12}, {"first": 9, "end": 1}, {"end": "7"}],
)
def test_numbers_of_the_manifest(folder: Path, numbers: dict[str, object]) -> None:
    """Numbers that contradict each other are refused before anything is read."""
    _edit(folder, lambda document: document["topics"]["heartbeats"]["0"].update(numbers))
    with pytest.raises(RecordingError, match=r"contradict each other|holds .* manifest says"):
        list(open_recording(folder).rows("heartbeats", 0))


@pytest.mark.parametrize(
    "name, value",
    [
        ("strategies", [{"a": 1}]),
        ("tick_ms", "x"),
        ("tick_ms", -1),
        ("tick_ms", 1e300),
        ("chain_cap", "1"),
        ("auto_create", 1),
    ],
)
def test_settings_of_the_manifest(folder: Path, name: str, value: object) -> None:
    """What a driver ran its shards under is read as strictly as in the driver's own claim."""
    _edit(folder, lambda document: document["settings"].update({name: value}))
    with pytest.raises(RecordingError, match=rf"settings\.{name}.* is unreadable"):
        open_recording(folder)


def test_an_enormous_partition_number_costs_nothing(folder: Path) -> None:
    """A partition with an enormous number costs nothing to refuse."""

    def edit(document: dict[str, Any]) -> None:
        parts = document["topics"]["decisions"]
        parts[str(10**15)] = {**parts["0"], "file": f"decisions-{10**15}.jsonl.gz"}

    _edit(folder, edit)
    with pytest.raises(RecordingError, match="it has no partition"):
        open_recording(folder)


@pytest.mark.parametrize("runs", [[[5, 4]], [[0, 3], [2, 5]], [[-4, 4]]])
def test_source_that_goes_back(folder: Path, runs: list[list[int]]) -> None:
    """The runs of a source are in order."""
    _edit(folder, lambda document: document["sources"].update(orders={"0": runs}))
    with pytest.raises(RecordingError, match="the runs of a source are not in order"):
        open_recording(folder)


def test_bomb_of_one_line(folder: Path) -> None:
    """A line without an end is refused at its bound; it is never held as a whole."""
    with gzip.open(folder / NAME, "wb", 9) as stream:
        for _ in range(2 * LINE_BYTES_MAX // 2**20):
            stream.write(b" " * 2**20)
    with pytest.raises(RecordingError, match=f"{NAME}: a line has more than"):
        list(open_recording(folder).rows("heartbeats", 0))


def test_a_bomb_of_lines_is_not_read_to_its_end(folder: Path) -> None:
    """Nor are lines read without an end that are many thousand times the size of their file."""
    line = b'{"offset":%d,"append_ms":1,"key":null,"value":"' + b" " * 2**19 + b'"}\n'
    with gzip.open(folder / NAME, "wb", 9) as stream:
        for offset in range(40):
            stream.write(line % offset)
    numbers = {"first": 0, "end": 10**9, "records": 10**9}
    _edit(folder, lambda document: document["topics"]["heartbeats"]["0"].update(numbers))
    with pytest.raises(RecordingError, match=f"{NAME}: it unpacks to more than 300 times its size"):
        list(open_recording(folder).rows("heartbeats", 0))


def test_for_its_owner_alone(folder: Path, tmp_path: Path) -> None:
    """A recording is written for nobody but its owner; in an empty folder that was there, too."""
    world = World()
    world.pass_seconds(1)
    (tmp_path / "there").mkdir(mode=0o755)
    write_recording(tmp_path / "there", rows_of(world), settings_of(world))
    for made in (folder, tmp_path / "there"):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
        files = list(made.iterdir())
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
        assert len(files) > 5
