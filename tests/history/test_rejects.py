"""`fairlead rejects tail`: what was refused, with place and remedy; it steers no terminal."""

from base64 import b64decode
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.errors import UsageError
from fairlead.history.rejected import rejected_of
from fairlead.recording.folder import open_recording
from fairlead.wire.encode_reject import encode_reject
from fairlead.wire.errors import WireError
from fairlead.wire.raw import RawRecord
from fairlead.wire.reasons import ENGINE_REASONS, Reason
from tests.answers.schema import assert_command
from tests.kit.memory_topics import NAMES, START_MS, shard_of
from tests.kit.moving_world import GROUP, recorded, timed_rows
from tests.kit.world import World

ESCAPES = b'{"v":1,"kind":"leave","group":"orders","x":"\x1b[2J\xff"}'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording in which records of two groups and an unknown one were refused."""
    world = World()
    world.topics.tick(1)
    world.join("c1")
    world.topics.append("heartbeats", shard_of(GROUP), GROUP.encode(), ESCAPES)
    world.topics.append_of("releases", GROUP, {"kind": "release", "group": GROUP})
    world.topics.append_of("heartbeats", "payments", b"x" * 300)
    world.topics.append("heartbeats", 0, None, b'{"v":1, "kind":"leave", "group": "other"}')
    world.topics.append("heartbeats", 0, b"none", None)
    world.topics.rule(GROUP, "strategy", {"name": "NONE_SUCH"})
    world.pass_seconds(2)
    rows = timed_rows(world)
    rows["rejects", 0] = [
        row._replace(append_ms=START_MS + row.offset) for row in rows["rejects", 0]
    ]
    return recorded(world, tmp_path_factory.mktemp("run") / "refused", rows).folder


def _run(*words: str | Path) -> str:
    ended = CliRunner().invoke(app, ["rejects", "tail", *map(str, words)])
    if ended.exception is not None:
        raise ended.exception
    return ended.stdout


def _rows(*words: str | Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = orjson.loads(_run(*words, "-o", "json"))
    assert_command(["rejects", "tail"], found)
    return found


def test_a_reject_is_a_row_with_every_field(folder: Path) -> None:
    """Programs get every field, the group from the key or else from the excerpt."""
    rows = _rows("--dump", folder)
    told = {(row["group"], row["reason"]) for row in rows}
    assert told == {
        ("orders", "not_utf8"),
        ("orders", "missing_field"),
        ("orders", "unknown_strategy"),
        ("payments", "not_json"),
        ("other", "missing_field"),
        ("none", "null_value"),
    }
    cut = next(row for row in rows if row["group"] == "payments")
    assert (cut["size"], len(cut["excerpt"]), cut["excerpt_cut"]) == (300, 256, True)
    bytes_of = {row["reason"]: b64decode(row["excerpt_base64"] or "") for row in rows}
    assert bytes_of["not_utf8"] == ESCAPES
    rule = next(row for row in rows if row["reason"] == "unknown_strategy")
    assert rule["key"] == '["orders","strategy"]'
    assert rule["at"][0] == NAMES.name("control")
    control = open_recording(folder).rows("control", rule["at"][1])
    (written_ms,) = (each.append_ms for each in control if each.offset == rule["at"][2])
    assert rule["append_ms"] == written_ms != rule["reject_ms"]
    assert [row["reject_ms"] for row in rows] == [START_MS + n for n in range(len(rows))]
    null = next(row for row in rows if row["reason"] == "null_value")
    assert (null["size"], null["excerpt"], null["excerpt_cut"]) == (None, None, False)


def test_a_reject_is_printed_with_when_why_and_where(folder: Path) -> None:
    """A person reads when, why, where, what to do, and the begin of the record, all printable."""
    text = _run("--dump", folder)
    assert all(one.isprintable() or one == "\n" for one in text)
    assert '\\x1b[2J\\xff"}' in text
    assert "missing_field at " in text
    assert "300 bytes: xxx" in text
    assert "x …\n" in text
    assert "its value is null" in text


def test_the_newest_rejects_can_be_chosen(folder: Path) -> None:
    """The newest ones are shown, of some groups and for some reasons, or it is said: none."""
    everything = _rows("--dump", folder)
    assert _rows("--dump", folder, "-n", "2") == everything[-2:]
    assert _rows("--dump", folder, "-n", "0") == []
    chosen = _rows("--dump", folder, "--group", GROUP, "--reason", "not_utf8")
    assert [(row["group"], row["reason"]) for row in chosen] == [(GROUP, "not_utf8")]
    text = _run("--dump", folder, "--group", "nobody")
    assert text == f"no such record was refused in the recording {folder}\n"


def test_every_reason_of_the_page_may_be_asked_for(folder: Path) -> None:
    """The engine's own reasons are chosen like those of form; a word of neither is refused."""
    for reason in ENGINE_REASONS:
        text = _run("--dump", folder, "--group", "nobody", "--reason", reason)
        assert "no such record was refused" in text
    with pytest.raises(UsageError, match="there is no reason 'quota_grups'"):
        _run("--dump", folder, "--reason", "quota_grups")


def test_a_recording_cannot_be_followed(folder: Path) -> None:
    """A recording cannot be followed, and one JSON document cannot go on."""
    with pytest.raises(UsageError, match="a recording does not grow"):
        _run("--dump", folder, "--follow")
    with pytest.raises(UsageError, match="it never ends"):
        _run("--dump", folder, "--follow", "-o", "json")


@pytest.mark.parametrize(
    "suffix, key, wanted",
    [
        ("heartbeats", b"orders", "orders"),
        ("control", b'["orders","pin"]', "orders"),
        ("offsets", b'["a-topic","orders"]', "orders"),
        ("offsets", b'["a-topic"]', None),
        ("routes", b"a-topic", None),
        ("heartbeats", b"or\xffders", "or\\xffders"),
        ("control", b"[", None),
        ("control", None, None),
    ],
)
def test_the_key_of_each_topic_names_the_group(
    suffix: str, key: bytes | None, wanted: str | None
) -> None:
    """Each topic's key tells the group in its own way."""
    error = WireError(Reason.NOT_JSON, None, "what", "how")
    refused = RawRecord(NAMES.name(suffix), 0, 4, START_MS, True, key, b"{")  # noqa: FBT003
    written = encode_reject(error, refused, NAMES, "1")
    stamp = (0, START_MS, False)
    row = RawRecord(written.topic, 0, *stamp, written.key, written.value)
    found = rejected_of(row)
    assert found is not None
    assert found.group == wanted
    in_base64 = found.to_json(None)["key_base64"]
    assert (None if in_base64 is None else b64decode(in_base64)) == key


def test_what_is_no_reject_is_named() -> None:
    """The reader returns nothing for what is no record of rejects."""
    for value in (None, b"{", b"{}", b'{"kind":"decision"}', b"[]"):
        row = RawRecord(NAMES.name("rejects"), 0, 0, START_MS, False, None, value)  # noqa: FBT003
        assert rejected_of(row) is None
