"""A release that reached the successor alone, as its writer died, is no start before its time."""

from pathlib import Path

import orjson
import pytest

from fairlead.wire.raw import RawRecord
from tests.engine.topics import NAMES
from tests.verify.damages import body_of
from tests.verify.judged import judged, ruling_of
from tests.verify.lives import Life, Rows, rich_life

EARLY = "had let go of it"


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


def _copy(row: RawRecord, *, offset: int = 0, later_ms: int = 0) -> RawRecord:
    topic, append_ms = NAMES.name("handovers"), row.append_ms + later_ms
    return row._replace(topic=topic, offset=offset, append_ms=append_ms)


def _told(life: Life, rows: Rows, folder: Path) -> tuple[list[str], str]:
    """What S2 says of starts before their time, and for what it was not looked at."""
    ruling = ruling_of(judged(life.record(folder, rows)), "S2")
    return [each.text for each in ruling.findings if EARLY in each.text], ruling.reason


def test_a_lost_release(life: Life, tmp_path: Path) -> None:
    """Who started without it is accused, unless the copy shows that it was told."""
    rows = {place: list(log) for place, log in life.rows().items()}
    lost = _lose_a_release(rows)
    assert len(_told(life, rows, tmp_path / "lost")[0]) == 1
    rows["handovers", 0] = [_copy(lost)]
    assert _told(life, rows, tmp_path / "told")[0] == []


def test_a_copy_that_came_too_late(life: Life, tmp_path: Path) -> None:
    """A copy that was appended after the work began opened no gate."""
    rows = {place: list(log) for place, log in life.rows().items()}
    rows["handovers", 0] = [_copy(_lose_a_release(rows), later_ms=3_600_000)]
    assert len(_told(life, rows, tmp_path / "late")[0]) == 1


def test_copies_that_are_no_longer_kept(life: Life, tmp_path: Path) -> None:
    """Where the topic begins later nobody knows what it told, and that is said."""
    rows = {place: list(log) for place, log in life.rows().items()}
    lost = _lose_a_release(rows)
    rows["handovers", 0] = [_copy(lost, offset=7, later_ms=3_600_000)]
    found, excused = _told(life, rows, tmp_path / "trimmed")
    assert found == []
    assert "handovers" in excused


def test_nonsense_among_the_copies(life: Life, tmp_path: Path) -> None:
    """What is no release on that topic tells nothing, and breaks nothing."""
    rows = {place: list(log) for place, log in life.rows().items()}
    nonsense = _copy(_lose_a_release(rows))._replace(value=b'{"queue":[1]}')
    rows["handovers", 0] = [nonsense, nonsense._replace(offset=1, value=None)]
    assert len(_told(life, rows, tmp_path / "nonsense")[0]) == 1
