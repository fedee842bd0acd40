"""A recording gives back what was recorded, and says what is wrong with it."""

import gzip
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from fairlead.core.records import DriverSettings
from fairlead.errors import UsageError
from fairlead.recording import RecordingError, RecordingFolder, RecordingWriter, open_recording
from fairlead.recording.lines import line_of, record_of
from fairlead.wire.raw import RawRecord
from fairlead.wire.topics import INPUT_TOPICS, OUTPUT_TOPICS
from tests.kit.recordings import write_recording

SETTINGS = DriverSettings(1_000, True, 600_000, 2, ("AVG", "MINE"))  # noqa: FBT003


def _row(
    offset: int, key: bytes | None, value: bytes | None, *, log_time: bool = True
) -> RawRecord:
    return RawRecord("t.heartbeats", 0, offset, 1_781_000_000_000, log_time, key, value)


ROWS = [
    _row(0, None, b'{"v":1,"kind":"tick","generation":1}'),
    _row(1, b"orders", 'größe \u2028 "x"\n'.encode()),
    _row(2, b"\xff\x00", b"\x80\x81"),
    _row(5, b"", b"", log_time=False),
    _row(6, b"orders", None),
]


def _recording(folder: Path) -> RecordingFolder:
    rows: dict[tuple[str, int], list[RawRecord]] = {
        (suffix, 0): [] for suffix in INPUT_TOPICS + OUTPUT_TOPICS
    }
    return write_recording(folder / "recording", {**rows, ("heartbeats", 0): ROWS}, SETTINGS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"offset-{row.offset}")
def test_any_bytes_come_back_from_a_line(row: RawRecord) -> None:
    """Any bytes come back from a line as they were, one line for a record."""
    line = line_of(row, [("trace", b"\xfe")])
    assert line.count(b"\n") == 1
    assert record_of(line, row.topic, row.partition) == row


def test_rows_and_manifest_are_read_back(tmp_path: Path) -> None:
    """Rows and manifest are read back as they were written, with their gaps."""
    recording = open_recording(_recording(tmp_path).folder)
    assert list(recording.rows("heartbeats", 0)) == ROWS
    assert list(recording.rows("releases", 0)) == []
    assert recording.manifest.settings == SETTINGS
    assert recording.manifest.partitions == (1, 1)
    part = recording.part("heartbeats", 0)
    assert (part.first, part.end, part.records, part.whole) == (0, 7, 5, False)
    assert recording.gaps() == ["t.heartbeats/0"]


def test_the_same_rows_make_the_same_files(tmp_path: Path) -> None:
    """The same rows make the same files, byte for byte."""
    one, other = _recording(tmp_path / "one"), _recording(tmp_path / "other")
    for path in sorted(one.folder.iterdir()):
        assert path.read_bytes() == (other.folder / path.name).read_bytes()


def _cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-12])


def _bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-6] ^= 1
    path.write_bytes(content)


def _rewrite(path: Path, edit: Callable[[list[bytes]], list[bytes]]) -> None:
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(edit(lines))))


@pytest.mark.parametrize(
    "damage, told",
    [
        (Path.unlink, "the file is missing"),
        (_cut_off, "the file is cut off"),
        (_bit, "the file is damaged"),
        (lambda path: path.write_bytes(b"plain text"), "the file is damaged"),
        (lambda path: _rewrite(path, lambda lines: lines[:-1]), "holds 4 records, and the manif"),
        (lambda path: _rewrite(path, lambda lines: [*lines, b"x\n"]), "line 6 is no record"),
        (
            lambda path: _rewrite(path, lambda lines: [*lines, lines[0]]),
            "has the offset 0 behind 6",
        ),
        (lambda path: _rewrite(path, lambda lines: [b"{}\n", *lines]), "line 1 is no record"),
    ],
)
def test_a_damaged_file_is_refused_and_named(
    tmp_path: Path, damage: Callable[[Path], object], told: str
) -> None:
    """A file that is missing, cut off, changed or too short is refused, and named."""
    recording = _recording(tmp_path)
    damage(recording.folder / "heartbeats-0.jsonl.gz")
    with pytest.raises(RecordingError, match=told) as raised:
        list(recording.rows("heartbeats", 0))
    assert "heartbeats-0.jsonl.gz" in str(raised.value)
    assert raised.value.remedy


@pytest.mark.parametrize(
    "content, told",
    [
        (None, "there is no manifest.json"),
        (b"{", "it is unreadable"),
        (b"[]", "it is no manifest"),
        (b'{"kind":"fairlead recording","v":2}', "it has version 2"),
        (b'{"kind":"fairlead recording","v":1}', "it is unreadable"),
    ],
)
def test_a_folder_without_a_manifest_is_refused(
    tmp_path: Path, content: bytes | None, told: str
) -> None:
    """A folder without a manifest that can be read is no recording."""
    recording = _recording(tmp_path)
    path = recording.folder / "manifest.json"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RecordingError, match=told):
        open_recording(recording.folder)


def test_a_manifest_without_a_topic_is_refused(tmp_path: Path) -> None:
    """A manifest that lacks a topic is refused with its name."""
    recording = _recording(tmp_path)
    path = recording.folder / "manifest.json"
    document = orjson.loads(path.read_bytes())
    del document["topics"]["releases"]
    path.write_bytes(orjson.dumps(document))
    with pytest.raises(RecordingError, match="no partitions of releases"):
        open_recording(recording.folder)


@pytest.mark.parametrize(
    "suffix, numbers, told",
    [
        ("assignments", ("0", "2"), "it has no partition 1 of assignments"),
        ("heartbeats", ("1",), "it has no partition 0 of heartbeats"),
        ("releases", ("0", "1"), "it has 1 partitions of heartbeats and 2 of releases"),
    ],
)
def test_a_manifest_without_a_partition_is_refused(
    tmp_path: Path, suffix: str, numbers: tuple[str, ...], told: str
) -> None:
    """A manifest that leaves a partition out, or shards that do not agree, are refused."""
    recording = _recording(tmp_path)
    path = recording.folder / "manifest.json"
    document = orjson.loads(path.read_bytes())
    (part,) = document["topics"][suffix].values()
    document["topics"][suffix] = dict.fromkeys(numbers, part)
    path.write_bytes(orjson.dumps(document))
    with pytest.raises(RecordingError, match=told) as raised:
        open_recording(recording.folder)
    assert "manifest.json" in str(raised.value)
    assert raised.value.remedy


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    """A file in the place of a folder is refused, and so is a folder that holds something."""
    path = tmp_path / "file"
    path.write_bytes(b"")
    with pytest.raises(RecordingError, match="it is no folder"):
        open_recording(path)
    with pytest.raises(UsageError, match="is not empty"):
        RecordingWriter(tmp_path)
    with pytest.raises(UsageError, match="is unusable"):
        RecordingWriter(path)
