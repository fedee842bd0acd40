"""A release that reached the successor alone, as its writer died, is no start before its time."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from fairlead.wire.partition import partition_of_client, partition_of_group
from fairlead.wire.raw import RawRecord
from tests.kit.journaled_world import Body, Life, Rows, rich_life
from tests.kit.judgements import judged, ruling_of
from tests.kit.memory_topics import NAMES
from tests.verify.damages import body_of

EARLY = "had released it"


@pytest.fixture(scope="module")
def life() -> Life:
    """A life in which everything happens, and nothing wrong."""
    return rich_life()


def _lose_a_release(rows: Rows) -> RawRecord:
    """Let a release speak of another epoch, and return it as it was."""
    log = rows["releases", 0]
    for at, row in enumerate(log):
        body = body_of(row)
        if body.get("position") is not None and body["epoch"][1] > 3:
            body["epoch"][1] -= 1
            log[at] = row._replace(value=orjson.dumps(body))
            return row
    raise AssertionError("nobody released anything")


def _copy(row: RawRecord, **changes: Any) -> RawRecord:
    return row._replace(topic=NAMES.name("handovers"), partition=0, offset=0)._replace(**changes)


def _later(row: RawRecord) -> int:
    return row.append_ms + 3_600_000


def _told(life: Life, rows: Rows, folder: Path) -> tuple[int, str]:
    """How many starts before their time S2 finds, and what it says it has left out."""
    ruling = ruling_of(judged(life.record(folder, rows)), "S2")
    return sum(EARLY in each.text for each in ruling.findings), ruling.reason


@pytest.fixture
def rows(life: Life) -> Rows:
    """What stands in the topics, to be changed."""
    return {place: list(log) for place, log in life.rows().items()}


@pytest.fixture
def lost(rows: Rows) -> RawRecord:
    """A release that is not there any more."""
    return _lose_a_release(rows)


def test_a_start_without_the_release_is_accused(
    life: Life, rows: Rows, lost: RawRecord, tmp_path: Path
) -> None:
    """Who started without it is accused, unless the copy shows that it had the release."""
    assert _told(life, rows, tmp_path / "lost") == (1, "")
    rows["handovers", 0] = [_copy(lost)]
    assert _told(life, rows, tmp_path / "told") == (0, "")


def test_a_copy_that_came_too_late(life: Life, rows: Rows, lost: RawRecord, tmp_path: Path) -> None:
    """A copy that was appended after the work began opened no gate; one in time did, later too."""
    late = _copy(lost, append_ms=_later(lost))
    rows["handovers", 0] = [late]
    assert _told(life, rows, tmp_path / "late") == (1, "")
    rows["handovers", 0] = [late, _copy(lost, offset=1)]
    assert _told(life, rows, tmp_path / "both") == (0, "")


def test_a_time_that_its_writer_set(
    life: Life, rows: Rows, lost: RawRecord, tmp_path: Path
) -> None:
    """The clock of a client proves nothing against another."""
    rows["handovers", 0] = [_copy(lost, append_ms=_later(lost), append_time_is_log=False)]
    assert _told(life, rows, tmp_path / "told") == (0, "")


def test_copies_that_are_no_longer_kept(
    life: Life, rows: Rows, lost: RawRecord, tmp_path: Path
) -> None:
    """Where the copy may have been trimmed nobody knows what it told, and that is said."""
    unknown = "the handovers topic no longer holds that time"
    rows["decisions", 0] = [
        row._replace(append_ms=lost.append_ms - 1_000) for row in rows["decisions", 0]
    ]
    kept = _copy(lost, offset=7, value=b"{}")
    for name, row in (
        ("trimmed", kept._replace(append_ms=_later(lost))),
        ("just trimmed", kept._replace(append_ms=lost.append_ms + 1)),
    ):
        rows["handovers", 0] = [row]
        found, reason = _told(life, rows, tmp_path / name)
        assert (found, unknown in reason) == (0, True), name
    rows["handovers", 0] = [kept._replace(append_ms=0)]
    assert _told(life, rows, tmp_path / "kept") == (1, "")


def test_a_recording_without_copies(
    life: Life, rows: Rows, lost: RawRecord, tmp_path: Path
) -> None:
    """Of before they were recorded: nobody is accused, and that is said."""
    assert lost
    del rows["handovers", 0]
    found, reason = _told(life, rows, tmp_path / "older")
    assert (found, "handovers" in reason) == (0, True)


@pytest.mark.parametrize("elsewhere", ["whole", "trimmed"])
def test_a_copy_that_the_successor_does_not_read(
    life: Life, rows: Rows, lost: RawRecord, tmp_path: Path, elsewhere: str
) -> None:
    """What stands in another client's partition told it nothing, and its end means nothing."""
    early = _who_is_early(life, rows, tmp_path / "who")
    read = {partition_of_client("orders", early, 64), partition_of_group("orders", 64)}
    other = next(number for number in range(64) if number not in read)
    for number in range(64):
        rows["handovers", number] = []
    offset = 0 if elsewhere == "whole" else 9
    rows["handovers", other] = [_copy(lost, partition=other, offset=offset)]
    assert _told(life, rows, tmp_path / elsewhere) == (1, "")
    (mine,) = read - {partition_of_group("orders", 64)}
    rows["handovers", mine] = [_copy(lost, partition=mine)]
    assert _told(life, rows, tmp_path / f"{elsewhere} and told") == (0, "")


def _who_is_early(life: Life, rows: Rows, folder: Path) -> str:
    """The client that started without the release."""
    findings = ruling_of(judged(life.record(folder, rows)), "S2").findings
    (text,) = [each.text for each in findings if EARLY in each.text]
    return text.split()[0]


@pytest.mark.parametrize(
    "other",
    [{"incarnation": "somebody else's"}, {"epoch": [1, 999]}, {"kind": "leave"}, {"queue": [1]}],
    ids=lambda other: next(iter(other)),
)
def test_what_is_no_copy_of_that_release(
    life: Life, rows: Rows, lost: RawRecord, tmp_path: Path, other: Body
) -> None:
    """Another life's, another grant's, another kind's, and nonsense: all tell nothing of it."""
    value = orjson.dumps(body_of(lost) | other)
    rows["handovers", 0] = [_copy(lost, value=value), _copy(lost, offset=1, value=None)]
    assert _told(life, rows, tmp_path / "r") == (1, "")
